// A TCP proxy between the service and PostgreSQL, to take the database away in all the ways a network can.
import { once } from 'node:events'
import { createServer, connect, type Socket } from 'node:net'
import { afterAll } from 'vitest'

export interface Proxy {
  /** The given database URL, by way of the proxy. */
  url: string
  /** Resets every connection that is open now. */
  cut: () => void
  /** From now on: let through, refuse new connections, or swallow what PostgreSQL answers. */
  behave: (mode: 'pass' | 'refuse' | 'swallow answers') => void
}

/** With a number of milliseconds, every answer of PostgreSQL takes so long on its way, as from another building. */
export async function startProxy(databaseUrl: string, answersAfterMs = 0): Promise<Proxy> {
  const target = new URL(databaseUrl)
  const open = new Set<Socket>()
  let mode: Parameters<Proxy['behave']>[0] = 'pass'

  const server = createServer((client) => {
    if (mode === 'refuse') {
      client.resetAndDestroy()
      return
    }
    const upstream = connect(Number(target.port), target.hostname)
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      open.add(from)
      from.on('data', (chunk) => {
        if (from === upstream && mode === 'swallow answers') return
        if (from === upstream && answersAfterMs > 0) setTimeout(() => to.write(chunk), answersAfterMs)
        else to.write(chunk)
      })
      from.on('error', () => {})
      from.on('close', () => {
        open.delete(from)
        to.destroy()
      })
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address() as { port: number }
  const cut = () => {
    for (const socket of open) socket.resetAndDestroy()
  }
  afterAll(() => {
    cut()
    server.close()
  })
  const url = new URL(databaseUrl)
  url.port = String(address.port)
  return {
    url: url.href,
    cut,
    behave: (next) => {
      mode = next
    },
  }
}
