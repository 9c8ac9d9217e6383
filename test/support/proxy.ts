// A TCP proxy between the service and PostgreSQL that makes the database unreachable, as a faulty network can.
import { once } from 'node:events'
import { createServer, connect, type Socket } from 'node:net'
import { afterAll } from 'vitest'

export interface Proxy {
  /** The given database URL, through the proxy. */
  url: string
  /** Resets every open connection. */
  cut: () => void
  /** Passes everything from now on, or rejects new connections. */
  behave: (mode: 'pass' | 'reject') => void
  /** Rejects this many new connections, and then passes everything. */
  rejectNext: (connections: number) => void
  /** Drops the next response to the statement of this name; then resets every connection, or keeps this one silent. */
  loseResponse: (statement: string, effect: 'reset' | 'silence') => void
  /** The number of responses that were dropped. */
  losses: () => number
  /** The number of open connections of the service. */
  clients: () => number
  /** Resolves when both sides of every ended connection are closed: PostgreSQL has then finished its work. */
  settled: () => Promise<void>
}

/** One connection of the service, and the connection to PostgreSQL that belongs to it. */
export interface Link {
  client: Socket
  upstream: Socket
  /** Whether the proxy has stopped forwarding bytes. */
  isOver: boolean
  /** How long it takes until PostgreSQL notices that its client has disconnected. */
  unnoticedMs: number
}

/** Receives every byte of one connection, and decides what to pass on. */
export interface Relay {
  fromClient: (chunk: Buffer) => void
  fromServer: (chunk: Buffer) => void
}

const passOn = ({ client, upstream }: Link): Relay => ({
  fromClient: (chunk) => upstream.write(chunk),
  fromServer: (chunk) => client.write(chunk),
})

/** Delays every response of PostgreSQL, like a distant server. */
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
  /** How many new connections to reject. */
  let rejections = 0
  let losses = 0
  let loss: { statement: string; effect: 'reset' | 'silence' } | undefined

  const server = createServer((client) => {
    if (rejections > 0) {
      rejections -= 1
      client.resetAndDestroy()
      return
    }
    const upstream = connect(Number(target.port), target.hostname)
    const link: Link = { client, upstream, isOver: false, unnoticedMs: 0 }
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
        if (loss !== undefined) losses += 1
        loss = undefined
      } else relay.fromServer(chunk)
    })
    for (const socket of [client, upstream]) socket.setNoDelay(true).on('error', () => {})
    const forget = () => {
      if (client.closed && upstream.closed) links.delete(link)
    }
    client.on('close', () => {
      clients.delete(client)
      forget()
      link.isOver = true
      // Close in an orderly way: PostgreSQL executes everything that was sent, and then closes its side.
      if (link.unnoticedMs === 0) upstream.end()
      else setTimeout(() => upstream.end(), link.unnoticedMs)
    })
    upstream.on('close', () => {
      forget()
      // Otherwise the relay closes the client connection itself.
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
      rejections = next === 'reject' ? Number.POSITIVE_INFINITY : 0
    },
    rejectNext: (connections) => {
      rejections = connections
    },
    loseResponse: (statement, effect) => {
      loss = { statement, effect }
    },
    losses: () => losses,
    clients: () => clients.size,
    settled: async () => {
      const over = [...links]
        .filter(({ isOver }) => isOver)
        .flatMap(({ client, upstream }) => [client, upstream])
      const open = over.filter((socket) => !socket.closed)
      // Do not use once() of node:events: it rejects on an error, which comes before the end of the socket.
      await Promise.all(open.map((socket) => new Promise((resolve) => socket.once('close', resolve))))
    },
  }
}
