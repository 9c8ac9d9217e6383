// A server that speaks the protocol of the event stream, for faults that a test cannot provoke in the service: chunks
// that end anywhere, connections that break within an event, and a server that hangs.
import type { ServerResponse } from 'node:http'
import { Petstore, type PetstoreOptions, type StoreEvent } from '@petstore/client'
import { afterAll } from 'vitest'
import { openLocalServer } from '../../lab/parts/local-server.ts'

export interface EventServer {
  /** The `after` of every request for the stream, in order. */
  requests: (string | null)[]
  /** The number of open connections of readers. */
  open: () => number
  /** A client of this server. */
  store: (choices?: Partial<PetstoreOptions>) => Petstore
}

const API_KEY = 'petstore_test_x'

/** Handles the next request for the stream. `after` is the number in the position of the reader. */
export type Handler = (response: ServerResponse, after: number) => void

export const positionOf = (number: number) => `0123456789ab-${number}`
export const numberOf = ({ position }: StoreEvent) => Number(position.split('-')[1])

/** The event with this number, as the service writes it. */
export function eventText(number: number, suffix = ''): string {
  const position = positionOf(number)
  const pet = `{"id":${number},"name":"Zoë 🐶 ${number}${suffix}","categoryId":9223372036854775807,"status":"available"}`
  const data = `{"position":"${position}","type":"pet.created","occurredAt":"2026-11-15T10:00:00.000Z","petId":${number},"pet":${pet}}`
  return `id: ${position}\nevent: pet.created\ndata: ${data}\n\n`
}

export function eventsText(from: number, to: number): string {
  return Array.from({ length: to - from + 1 }, (_, index) => eventText(from + index)).join('')
}

/** Starts the stream. The short `retry` keeps the tests fast. */
export function startStream(response: ServerResponse, retryMs = 1): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' }).write(`retry: ${retryMs}\n\n`)
}

export async function startEventServer(handle: Handler): Promise<EventServer> {
  const requests: (string | null)[] = []
  const open = new Set<ServerResponse>()
  const { origin, close } = await openLocalServer((request, response) => {
    const url = new URL(request.url ?? '', 'http://localhost')
    if (url.pathname === '/v1/events') {
      response.setHeader('link', `</v1/events?after=${positionOf(0)}>; rel="next"`)
      response.end('[]')
      return
    }
    const after = url.searchParams.get('after')
    requests.push(after)
    open.add(response)
    response.on('close', () => open.delete(response))
    handle(response, Number(after?.split('-')[1] ?? 0))
  })
  afterAll(close)
  const baseUrl = `${origin}/v1`
  return {
    requests,
    open: () => open.size,
    // Without a timeout, because the connections of a slow host are slow.
    store: (choices = {}) =>
      new Petstore({ baseUrl, apiKey: API_KEY, timeoutMs: Infinity, deadlineMs: Infinity, ...choices }),
  }
}

export interface MemoryConnection {
  /** The position of the reader. */
  after: string | null
  write: (text: string) => void
  /** Whether the client has closed the connection. */
  isClosed: () => boolean
}

/** A client with connections in memory, for tests that move the clock: no timer can overtake their bytes. */
export function openInMemory(): { store: Petstore; connections: MemoryConnection[] } {
  const connections: MemoryConnection[] = []
  const fetch = async (url: unknown, { signal }: RequestInit = {}) => {
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
    const writer = writable.getWriter()
    signal?.addEventListener('abort', () => void writer.abort(signal.reason).catch(() => {}))
    connections.push({
      after: new URL(String(url)).searchParams.get('after'),
      write: (text) => void writer.write(new TextEncoder().encode(text)).catch(() => {}),
      isClosed: () => signal?.aborted ?? false,
    })
    return new Response(readable, { headers: { 'content-type': 'text/event-stream' } })
  }
  return { store: new Petstore({ baseUrl: 'http://localhost/v1', apiKey: API_KEY, fetch }), connections }
}

/** Reads this many events, then ends the iteration. */
export async function take(events: AsyncIterable<StoreEvent>, count: number): Promise<StoreEvent[]> {
  const taken: StoreEvent[] = []
  for await (const event of events) {
    taken.push(event)
    if (taken.length === count) break
  }
  return taken
}
