// Reads GET /v1/events/stream as a client would: connects, parses Server-Sent Events and remembers the last position.
import { get, type IncomingMessage } from 'node:http'
import { expect, onTestFinished, type TestContext } from 'vitest'
import { parseExactly } from './client.ts'

export interface StreamedEvent {
  position: string
  type: string
  petId: number | bigint
  pet?: { name: string }
  actor?: string
  requestId?: string
}

export interface StreamOptions {
  origin: string
  apiKey: string
  /** The query string, such as `after=latest`. */
  query?: string
  lastEventId?: string | undefined
  headers?: Record<string, string>
  /** The test that the stream ends with. A concurrent test must pass it: vitest would take the test that started last. */
  context?: Pick<TestContext, 'onTestFinished'>
}

export interface TestStream {
  status: number
  headers: IncomingMessage['headers']
  events: StreamedEvent[]
  /** Everything that was received. */
  text: () => string
  /** The last `id`, as an EventSource remembers it. */
  lastEventId: () => string | undefined
  /** The last `retry`. */
  retryMs: () => number | undefined
  /** Resolves when the stream has ended, with the time of the end; `isClean` is false if the connection was reset. */
  ended: Promise<{ at: number; isClean: boolean }>
  pause: () => void
  resume: () => void
  close: () => void
}

/** Opens a stream and waits for the headers of the response. */
export function openStream(options: StreamOptions): Promise<TestStream> {
  const { origin, apiKey, query = '', lastEventId, headers = {}, context = { onTestFinished } } = options
  const { promise, resolve, reject } = Promise.withResolvers<TestStream>()
  const request = get(`${origin}/v1/events/stream?${query}`, {
    agent: false,
    headers: {
      authorization: `Bearer ${apiKey}`,
      ...(lastEventId !== undefined && { 'last-event-id': lastEventId }),
      ...headers,
    },
  })
  context.onTestFinished(() => void request.destroy())
  request.on('error', reject)
  request.on('response', (response) => resolve(follow(response, () => request.destroy())))
  return promise
}

function follow(response: IncomingMessage, close: () => void): TestStream {
  const events: StreamedEvent[] = []
  const received: string[] = []
  let [rest, id, retryMs] = ['', undefined as string | undefined, undefined as number | undefined]
  response.setEncoding('utf8')
  response.on('data', (chunk: string) => {
    received.push(chunk)
    const blocks = (rest + chunk).split('\n\n')
    rest = blocks.pop() as string
    for (const block of blocks) {
      const fields = new Map(block.split('\n').map((line) => line.split(/: ?(.*)/s) as [string, string]))
      id = fields.get('id') ?? id
      if (fields.has('retry')) retryMs = Number(fields.get('retry'))
      const data = fields.get('data')
      if (data === undefined) continue
      const event = parseExactly(data) as StreamedEvent
      expect([fields.get('id'), fields.get('event')]).toEqual([event.position, event.type])
      events.push(event)
    }
  })
  response.on('error', () => {})
  const ended = new Promise<{ at: number; isClean: boolean }>((resolve) => {
    response.once('close', () => resolve({ at: performance.now(), isClean: response.complete }))
  })
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    events,
    text: () => received.join(''),
    lastEventId: () => id,
    retryMs: () => retryMs,
    ended,
    pause: () => response.pause(),
    resume: () => response.resume(),
    close,
  }
}
