// A TCP proxy between the service and PostgreSQL that delays every response, like a distant or overloaded server.
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export interface SlowNetwork {
  port: number
  setDelay: (ms: number) => void
  close: () => Promise<void>
}

/** Delays nothing at first. */
export async function openSlowNetwork(targetPort: number): Promise<SlowNetwork> {
  const sockets = new Set<Socket>()
  let delayMs = 0
  const server = createServer((client) => {
    const upstream = connect(targetPort, '127.0.0.1')
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket)
      socket.setNoDelay(true).on('error', () => {})
      socket.on('close', () => {
        sockets.delete(socket)
        other.destroy()
      })
    }
    client.on('data', (chunk) => upstream.write(chunk))
    upstream.on('data', (chunk) => {
      if (delayMs === 0) client.write(chunk)
      else setTimeout(() => client.write(chunk), delayMs)
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    setDelay: (ms) => {
      delayMs = ms
    },
    close: async () => {
      server.close()
      for (const socket of sockets) socket.destroy()
      await once(server, 'close')
    },
  }
}
