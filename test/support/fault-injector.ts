// What may stand between a client and the service: an HTTP proxy that does to each request what a test tells it.
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll } from 'vitest'

export interface SeenRequest {
  method: string
  path: string
  headers: IncomingMessage['headers']
  body: string
}

interface Exchange {
  /** Lets the service do the work; answers what it said. */
  forward: () => Promise<{ status: number; headers: Headers; body: string }>
  response: ServerResponse
  /** Longer than the client waits. */
  lateMs: number
}

function error({ response }: Exchange, status: number, code: string, headers: Record<string, string> = {}) {
  response.writeHead(status, { 'content-type': 'application/json', ...headers })
  response.end(JSON.stringify({ code, message: 'The middle says so.', status }))
}

function reset({ response }: Exchange): void {
  response.socket?.resetAndDestroy()
}

async function pass({ forward, response }: Exchange): Promise<void> {
  const { status, headers, body } = await forward()
  response.writeHead(status, Object.fromEntries(headers)).end(body)
}

/** Each in a word or two: what goes wrong, and whether before or after the service has done the work. */
export const FAULTS = {
  none: pass,
  unavailable: async (exchange) => error(exchange, 503, 'unavailable', { 'retry-after': '0' }),
  overloaded: async (exchange) => error(exchange, 503, 'overloaded', { 'retry-after': '0' }),
  'rate limited': async (exchange) => error(exchange, 429, 'rate_limited', { 'retry-after': '1' }),
  'outcome unknown before': async (exchange) => error(exchange, 503, 'outcome_unknown'),
  'outcome unknown after': async (exchange) => {
    await exchange.forward()
    error(exchange, 503, 'outcome_unknown')
  },
  'bad gateway after': async ({ forward, response }) => {
    await forward()
    response.writeHead(502, { 'content-type': 'text/html' }).end('<h1>502 Bad Gateway</h1>')
  },
  'reset before': async (exchange) => reset(exchange),
  'reset after': async (exchange) => {
    await exchange.forward()
    reset(exchange)
  },
  'cut answer': async (exchange) => {
    const { status, headers, body } = await exchange.forward()
    exchange.response.writeHead(status, Object.fromEntries(headers))
    exchange.response.write(body.slice(0, body.length / 2), () => reset(exchange))
  },
  'hang before': async () => {},
  'hang after': async ({ forward }) => {
    await forward()
  },
  'late answer': async (exchange) => {
    await sleep(exchange.lateMs)
    await pass(exchange)
  },
  /** The client has long repeated the request when its first copy arrives. */
  'late request': async ({ forward, response, lateMs }) => {
    await once(response, 'close')
    await sleep(lateMs)
    await forward()
  },
} satisfies Record<string, (exchange: Exchange) => Promise<void>>

export type Fault = keyof typeof FAULTS

export interface FaultInjector {
  origin: string
  /** Every request that came, in their sequence. */
  seen: SeenRequest[]
  /** What happens to the next requests; after those, nothing does. */
  next: (...faults: Fault[]) => void
  /** How many requests the service was given, and how many of those are still on their way. */
  forwarded: () => { total: number; inFlight: number }
}

export interface FaultInjectorOptions {
  /** Chooses for every request, where `next` says nothing. */
  choose?: (request: SeenRequest) => Fault
  lateMs?: number
}

export async function startFaultInjector(
  target: string,
  { choose = () => 'none', lateMs = 1_000 }: FaultInjectorOptions = {},
): Promise<FaultInjector> {
  const seen: SeenRequest[] = []
  const planned: Fault[] = []
  const forwarded = { total: 0, inFlight: 0 }

  async function forward({ method, path, headers, body }: SeenRequest) {
    const { host: _host, connection: _connection, 'content-length': _length, ...rest } = headers
    forwarded.total += 1
    forwarded.inFlight += 1
    try {
      const response = await fetch(target + path, {
        method,
        headers: rest as Record<string, string>,
        body: body === '' ? null : body,
      })
      const kept = new Headers(response.headers)
      // Those are between the service and the middle.
      for (const name of ['connection', 'keep-alive', 'transfer-encoding']) kept.delete(name)
      return { status: response.status, headers: kept, body: await response.text() }
    } finally {
      forwarded.inFlight -= 1
    }
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url: path = '', headers } = request
    const one = { method, path, headers, body: await text(request) }
    seen.push(one)
    const fault = planned.shift() ?? choose(one)
    await FAULTS[fault]({ forward: () => forward(one), response, lateMs })
  }

  const server = createServer((request, response) => {
    // Whoever went away in the middle, or a service that did: the other side is told by a closed connection.
    handle(request, response).catch(() => response.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  afterAll(() => {
    server.closeAllConnections()
    server.close()
  })
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    next: (...faults) => planned.push(...faults),
    forwarded: () => forwarded,
  }
}
