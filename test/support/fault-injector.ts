// An HTTP proxy between a client and the service that injects a chosen fault into each request.
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll } from 'vitest'
import { openLocalServer } from '../../lab/parts/local-server.ts'

export interface SeenRequest {
  method: string
  path: string
  headers: IncomingMessage['headers']
  body: string
}

interface Exchange {
  /** Sends the request to the service, and returns its response. */
  forward: () => Promise<{ status: number; headers: Headers; body: string }>
  response: ServerResponse
  /** Longer than the timeout of the client. */
  lateMs: number
}

function error({ response }: Exchange, status: number, code: string, headers: Record<string, string> = {}) {
  response.writeHead(status, { 'content-type': 'application/json', ...headers })
  response.end(JSON.stringify({ code, message: 'Injected fault.', status }))
}

function reset({ response }: Exchange): void {
  response.socket?.resetAndDestroy()
}

async function pass({ forward, response }: Exchange): Promise<void> {
  const { status, headers, body } = await forward()
  response.writeHead(status, Object.fromEntries(headers)).end(body)
}

/** The faults. `before` and `after` say whether the fault occurs before or after the service handles the request. */
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
  'truncated response': async (exchange) => {
    const { status, headers, body } = await exchange.forward()
    exchange.response.writeHead(status, Object.fromEntries(headers))
    exchange.response.write(body.slice(0, body.length / 2), () => reset(exchange))
  },
  'hang before': async () => {},
  'hang after': async ({ forward }) => {
    await forward()
  },
  'late response': async (exchange) => {
    await sleep(exchange.lateMs)
    await pass(exchange)
  },
  /** The request arrives long after the client has retried it. */
  'late request': async ({ forward, response, lateMs }) => {
    if (!response.closed) await once(response, 'close')
    await sleep(lateMs)
    await forward()
  },
} satisfies Record<string, (exchange: Exchange) => Promise<void>>

export type Fault = keyof typeof FAULTS

export interface FaultInjector {
  origin: string
  /** Every request received, in order. */
  seen: SeenRequest[]
  /** The faults of the next requests; after those, `choose` decides. */
  next: (...faults: Fault[]) => void
  /** How many requests were forwarded in total, and how many requests, including delayed ones, are in flight. */
  forwarded: () => { total: number; inFlight: number }
}

export interface FaultInjectorOptions {
  /** Chooses the fault of every request that `next` does not cover. */
  choose?: (request: SeenRequest) => Fault
  lateMs?: number
  /** Sends requests to the service. */
  fetch?: typeof fetch
}

export async function startFaultInjector(
  target: string,
  { choose = () => 'none', lateMs = 1_000, fetch = globalThis.fetch }: FaultInjectorOptions = {},
): Promise<FaultInjector> {
  const seen: SeenRequest[] = []
  const planned: Fault[] = []
  const forwarded = { total: 0, inFlight: 0 }

  async function forward({ method, path, headers, body }: SeenRequest) {
    const { host: _host, connection: _connection, 'content-length': _length, ...rest } = headers
    forwarded.total += 1
    const response = await fetch(target + path, {
      method,
      headers: rest as Record<string, string>,
      body: body === '' ? null : body,
    })
    const kept = new Headers(response.headers)
    // These headers belong to the connection between proxy and service.
    for (const name of ['connection', 'keep-alive', 'transfer-encoding']) kept.delete(name)
    return { status: response.status, headers: kept, body: await response.text() }
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url: path = '', headers } = request
    const one = { method, path, headers, body: await text(request) }
    seen.push(one)
    const fault = planned.shift() ?? choose(one)
    await FAULTS[fault]({ forward: () => forward(one), response, lateMs })
  }

  const { origin, close } = await openLocalServer((request, response) => {
    forwarded.inFlight += 1
    handle(request, response)
      // If the client or the service closed its connection, close the other one.
      .catch(() => response.destroy())
      .finally(() => {
        forwarded.inFlight -= 1
      })
  })
  afterAll(close)
  return {
    origin,
    seen,
    next: (...faults) => planned.push(...faults),
    forwarded: () => forwarded,
  }
}
