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
  /** Swallows the next answer to the statement of this name; then resets every connection, or this one falls silent. */
  loseResponse: (statement: string, effect: 'reset' | 'silence') => void
  /** How many connections of the service are open. */
  clients: () => number
  /** Resolves when both sides of every connection that is over are closed: PostgreSQL has done all that it will do. */
  settled: () => Promise<void>
}

/** One connection of the service, and the one to PostgreSQL that belongs to it. */
export interface Link {
  client: Socket
  upstream: Socket
  /** Nothing will pass any more. */
  isOver: boolean
  /** How long PostgreSQL does not hear that its client is gone. */
  unheardMs: number
}

/** Sees every byte of one connection, and decides what becomes of it. */
export interface Relay {
  fromClient: (chunk: Buffer) => void
  fromServer: (chunk: Buffer) => void
}

const passOn = ({ client, upstream }: Link): Relay => ({
  fromClient: (chunk) => upstream.write(chunk),
  fromServer: (chunk) => client.write(chunk),
})

/** Every answer of PostgreSQL takes so long on its way, as from another building. */
export const responsesAfter =
  (ms: number) =>
  ({ client, upstream }: Link): Relay => ({
    fromClient: (chunk) => upstream.write(chunk),
    fromServer: (chunk) => setTimeout(() => client.write(chunk), ms),
  })

export async function startProxy(
  databaseUrl: string,
  openRelay: (link: Link) => Relay = passOn,
): Promise<Proxy> {
  const target = new URL(databaseUrl)
  const clients = new Set<Socket>()
  const links = new Set<Link>()
  let mode: Parameters<Proxy['behave']>[0] = 'pass'
  let loss: { statement: string; effect: 'reset' | 'silence' } | undefined

  const server = createServer((client) => {
    if (mode === 'refuse') {
      client.resetAndDestroy()
      return
    }
    const upstream = connect(Number(target.port), target.hostname)
    const link: Link = { client, upstream, isOver: false, unheardMs: 0 }
    const relay = openRelay(link)
    clients.add(client)
    links.add(link)
    let isSilent = false
    client.on('data', (chunk: Buffer) => {
      if (loss !== undefined && chunk.includes(loss.statement)) isSilent = true
      relay.fromClient(chunk)
    })
    upstream.on('data', (chunk: Buffer) => {
      if (isSilent) {
        if (loss?.effect === 'reset') cut()
        loss = undefined
      } else if (mode !== 'swallow answers') relay.fromServer(chunk)
    })
    for (const socket of [client, upstream]) socket.setNoDelay(true).on('error', () => {})
    const forget = () => {
      if (client.closed && upstream.closed) links.delete(link)
    }
    client.on('close', () => {
      clients.delete(client)
      forget()
      link.isOver = true
      // An orderly end, behind everything that was sent: PostgreSQL does that first, and then closes its side.
      if (link.unheardMs === 0) upstream.end()
      else setTimeout(() => upstream.end(), link.unheardMs)
    })
    upstream.on('close', () => {
      forget()
      // Where it is over the relay ends it, in its own way.
      if (!link.isOver) client.destroy()
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address() as { port: number }
  const cut = () => {
    for (const { client, upstream } of links) {
      client.resetAndDestroy()
      upstream.resetAndDestroy()
    }
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
    loseResponse: (statement, effect) => {
      loss = { statement, effect }
    },
    clients: () => clients.size,
    settled: async () => {
      const over = [...links]
        .filter(({ isOver }) => isOver)
        .flatMap(({ client, upstream }) => [client, upstream])
      const open = over.filter((socket) => !socket.closed)
      // Not by once() of node:events, which takes an error on the way for the end of it.
      await Promise.all(open.map((socket) => new Promise((resolve) => socket.once('close', resolve))))
    },
  }
}
