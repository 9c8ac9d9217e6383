// A TCP proxy in front of PostgreSQL that makes it slow or unreachable, as a faulty network can.
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'

/** One connection of the client, and the connection to the server that belongs to it. */
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

/** Resolves on the event. `socket.closed` is true before it, when the other side of a reset does not know of it yet. */
function closeOf(socket: Socket): Promise<void> {
  return new Promise((resolve) => socket.once('close', () => resolve()))
}

/** Node.js cannot reset a socket that is ending: it would emit an error, but never 'close'. */
export function reset(socket: Socket): void {
  if (socket.writableEnded) socket.destroy()
  else socket.resetAndDestroy()
}

/** @param targetUrl The URL of a database or of an HTTP server. */
export async function startProxy(
  targetUrl: string,
  openRelay: (link: Link) => Relay = passOn,
): Promise<TcpProxy> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  return new TcpProxy(server, new URL(targetUrl), openRelay)
}

export class TcpProxy {
  readonly port: number
  /** The given URL, through the proxy. */
  readonly url: string
  readonly #server: Server
  readonly #target: URL
  readonly #openRelay: (link: Link) => Relay
  readonly #clients = new Set<Socket>()
  /** Each connection, with the promise that both of its sides have closed. */
  readonly #links = new Map<Link, Promise<unknown>>()
  /** How many new connections to reject. */
  #rejections = 0
  #delayMs = 0
  #losses = 0
  #loss: { statement: string; effect: 'reset' | 'silence' } | undefined

  constructor(server: Server, target: URL, openRelay: (link: Link) => Relay) {
    this.#server = server.on('connection', (client) => this.#accept(client))
    this.#target = target
    this.#openRelay = openRelay
    this.port = (server.address() as AddressInfo).port
    this.url = Object.assign(new URL(target), { port: String(this.port) }).href
  }

  /** Passes everything from now on, or rejects new connections. */
  behave(mode: 'pass' | 'reject'): void {
    this.#rejections = mode === 'reject' ? Number.POSITIVE_INFINITY : 0
  }

  /** Rejects this many new connections, and then passes everything. */
  rejectNext(connections: number): void {
    this.#rejections = connections
  }

  /** Delays every response from now on, like a distant or overloaded server. */
  delayResponses(ms: number): void {
    this.#delayMs = ms
  }

  /** Drops the next response to the statement of this name; then resets every connection, or keeps this one silent. */
  loseResponse(statement: string, effect: 'reset' | 'silence'): void {
    this.#loss = { statement, effect }
  }

  /** The number of responses that were dropped. */
  losses(): number {
    return this.#losses
  }

  /** The number of open connections of clients. */
  clients(): number {
    return this.#clients.size
  }

  /** Resets every open connection. */
  cut(): void {
    for (const { client, upstream } of this.#links.keys()) {
      reset(client)
      reset(upstream)
    }
  }

  /** Resolves when both sides of every ended connection are closed: PostgreSQL has then finished its work. */
  async settled(): Promise<void> {
    const ended = [...this.#links].filter(([{ isOver }]) => isOver)
    await Promise.all(ended.map(([, closed]) => closed))
  }

  async close(): Promise<void> {
    const closed = once(this.#server, 'close')
    this.#server.close()
    this.cut()
    await closed
  }

  #accept(client: Socket): void {
    if (this.#rejections > 0) {
      this.#rejections -= 1
      reset(client)
      return
    }
    const upstream = connect(Number(this.#target.port), this.#target.hostname)
    const link: Link = { client, upstream, isOver: false, unnoticedMs: 0 }
    this.#clients.add(client)
    const closed = Promise.all([closeOf(client), closeOf(upstream)])
    this.#links.set(link, closed)
    void closed.then(() => this.#links.delete(link))
    for (const socket of [client, upstream]) socket.setNoDelay(true).on('error', () => {})
    this.#forward(link)
    this.#endTogether(link)
  }

  #forward(link: Link): void {
    const relay = this.#openRelay(link)
    let isSilent = false
    link.client.on('data', (chunk: Buffer) => {
      if (this.#loss !== undefined && chunk.includes(this.#loss.statement)) isSilent = true
      relay.fromClient(chunk)
    })
    link.upstream.on('data', (chunk: Buffer) => {
      if (isSilent) this.#lose()
      else if (this.#delayMs === 0) relay.fromServer(chunk)
      else setTimeout(() => relay.fromServer(chunk), this.#delayMs)
    })
  }

  #lose(): void {
    if (this.#loss === undefined) return
    if (this.#loss.effect === 'reset') this.cut()
    this.#losses += 1
    this.#loss = undefined
  }

  /** When one side of the connection ends, ends the other one. */
  #endTogether(link: Link): void {
    const { client, upstream } = link
    client.on('close', () => {
      this.#clients.delete(client)
      link.isOver = true
      // Close in an orderly way: PostgreSQL executes everything that was sent, and then closes its side.
      if (link.unnoticedMs === 0) upstream.end()
      else setTimeout(() => upstream.end(), link.unnoticedMs)
    })
    upstream.on('close', () => {
      // Otherwise the relay closes the client connection itself.
      if (!link.isOver) client.destroy()
    })
  }
}
