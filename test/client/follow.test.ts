// store.events.follow on a server that breaks the stream: each position exactly once, in order.
import { getEventListeners } from 'node:events'
import type { ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, expect, test, vi } from 'vitest'
import type { StoreEvent } from '@petstore/client'
import { errorOf } from '../support/client-fixture.ts'
import {
  eventsText,
  eventText,
  numberOf,
  openInMemory,
  positionOf,
  startEventServer,
  startStream,
  take,
} from './event-server.ts'

const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1)

/** Stops the test if the client does not end an iteration. */
async function readAll(events: AsyncIterable<StoreEvent>): Promise<void> {
  for await (const event of events) void event
}

/** Lets the test move the clock, with `advance`. */
function useFakeTimers(): (ms: number) => Promise<unknown> {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  return (ms) => vi.advanceTimersByTimeAsync(ms)
}
afterEach(() => void vi.useRealTimers())

/** The longest wait before the first attempt to reconnect. */
const BACKOFF_FIRST_MS = 200

test('keeps every character and digit wherever the chunks end', async () => {
  const bytes = Buffer.from(`\ufeff: hi\n\n${eventsText(1, 2)}`)
  const { store } = await startEventServer(() => {})
  for (let at = 1; at < bytes.length; at += 1) {
    const fetch = async () => {
      const body = new ReadableStream({
        start(controller) {
          controller.enqueue(bytes.subarray(0, at))
          controller.enqueue(bytes.subarray(at))
        },
      })
      return new Response(body, { headers: { 'content-type': 'text/event-stream; charset=utf-8' } })
    }
    const events = await take(store({ fetch }).events.follow(), 2)
    expect(events.map((event) => event.pet?.name)).toEqual(['Zoë 🐶 1', 'Zoë 🐶 2'])
    expect(events[1]).toMatchObject({ petId: '2', pet: { id: '2', categoryId: '9223372036854775807' } })
  }
})

test.each(['reset', 'end'] as const)(
  'resumes after the last event that it yielded if the connection breaks at any byte (%s)',
  async (ending) => {
    const length = Buffer.byteLength(eventText(1))
    let cut = 0
    // Each connection delivers one more byte than the one before it. A third of them end after their first event.
    const server = await startEventServer((response, after) => {
      startStream(response)
      const bytes = Buffer.from(eventsText(after + 1, after + 2)).subarray(0, cut)
      cut += 3
      response.write(bytes, () => {
        if (ending === 'end') response.end()
        else setTimeout(() => response.socket?.resetAndDestroy(), 1)
      })
    })
    const count = Math.floor((length / 3) * 0.3)
    const random = Math.random
    Math.random = () => 0
    try {
      const events = await take(server.store().events.follow(), count)
      expect(events.map(numberOf)).toEqual(upTo(count))
    } finally {
      Math.random = random
    }
    expect(server.requests.length).toBeGreaterThan(length / 3)
  },
)

test('a slow consumer gets every event, and the server is not read ahead without limit', async () => {
  const total = 500
  const long = 'x'.repeat(30_000)
  /** The number of events that were written to each connection. */
  const written: number[] = []
  const server = await startEventServer((response, after) => {
    startStream(response)
    const connection = written.push(0) - 1
    let next = after + 1
    const write = () => {
      while (next <= total) {
        written[connection] = next
        next += 1
        if (!response.write(eventText(next - 1, long))) break
      }
    }
    response.on('drain', write)
    write()
  })
  const numbers: number[] = []
  for await (const event of server.store().events.follow()) {
    numbers.push(numberOf(event))
    if (numbers.length === 10) {
      // In the meantime, another consumer gets the whole stream.
      expect(await take(server.store().events.follow(), total)).toHaveLength(total)
      // The buffers of the sockets hold a few MB; the whole stream has more.
      expect(written[1]).toBe(total)
      expect(written[0]).toBeLessThan(total * 0.7)
    }
    if (numbers.length === total) break
  }
  expect(numbers).toEqual(upTo(total))
})

test('resumes after the last event that a slow consumer got, not after the last one that arrived', async () => {
  let current: ServerResponse | undefined
  const server = await startEventServer((response, after) => {
    startStream(response)
    current = response
    // Each event is a chunk of its own: chunks that were not read are lost with the connection.
    for (let number = after + 1; number <= after + 5; number += 1) response.write(eventText(number))
  })
  const numbers: number[] = []
  for await (const event of server.store().events.follow()) {
    numbers.push(numberOf(event))
    if (numbers.length % 2 === 0) {
      current?.socket?.resetAndDestroy()
      await expect.poll(server.open).toBe(0)
    }
    if (numbers.length === 20) break
  }
  expect(numbers).toEqual(upTo(20))
})

test('reconnects if no byte arrives within the timeout; keep-alive comments count as bytes', async () => {
  const advance = useFakeTimers()
  const { store, connections } = openInMemory()
  const errors: string[] = []
  const options = { timeoutMs: 600, onReconnect: ({ code }: { code: string }) => errors.push(code) }
  const taking = take(store.events.follow(options), 2)
  await advance(0)
  connections[0]?.write(eventText(1))
  for (let count = 0; count < 10; count += 1) {
    await advance(500)
    connections[0]?.write(': keep-alive\n\n')
  }
  await advance(599)
  expect([errors, connections[0]?.isClosed()]).toEqual([[], false])
  await advance(1)
  expect([errors, connections[0]?.isClosed()]).toEqual([['timeout'], true])
  await advance(BACKOFF_FIRST_MS)
  expect(connections.map(({ after }) => after)).toEqual([null, positionOf(1)])
  connections[1]?.write(eventText(2))
  expect((await taking).map(numberOf)).toEqual([1, 2])
})

test('the time that the consumer needs does not count as silence of the server', async () => {
  const advance = useFakeTimers()
  const { store, connections } = openInMemory()
  const numbers: number[] = []
  const read = async () => {
    for await (const event of store.events.follow({ timeoutMs: 500 })) {
      numbers.push(numberOf(event))
      if (numbers.length === 2) break
      await advance(1_000)
      connections[0]?.write(eventText(2))
    }
  }
  const reading = read()
  await advance(0)
  connections[0]?.write(eventText(1))
  await reading
  expect(numbers).toEqual([1, 2])
  expect(connections).toHaveLength(1)
})

test('waits as long as `retry` and Retry-After ask', async () => {
  const times: number[] = []
  const server = await startEventServer((response) => {
    times.push(performance.now())
    if (times.length === 1) {
      startStream(response, 400)
      response.end()
    } else if (times.length === 2) {
      response.writeHead(503, { 'retry-after': '1' }).end('{"code":"overloaded","message":"","status":503}')
    } else {
      startStream(response)
      response.write(eventText(1))
    }
  })
  await take(server.store().events.follow(), 1)
  const [first = 0, second = 0, third = 0] = times
  expect(second - first).toBeGreaterThanOrEqual(399)
  expect(third - second).toBeGreaterThanOrEqual(999)
})

test('`latest` is resolved to a position first, so that no event is missed if the first connection breaks', async () => {
  const server = await startEventServer((response, after) => {
    startStream(response)
    if (server.requests.length < 3) response.socket?.resetAndDestroy()
    else response.write(eventText(after + 1))
  })
  const positions: string[] = []
  const options = { after: 'latest', onPosition: (position: string) => void positions.push(position) }
  expect((await take(server.store().events.follow(options), 1)).map(numberOf)).toEqual([1])
  expect(server.requests).toEqual([positionOf(0), positionOf(0), positionOf(0)])
  expect(positions).toEqual([positionOf(0)])
})

test('an id without an event moves the position, and onPosition reports every position that is done', async () => {
  const server = await startEventServer((response, after) => {
    startStream(response)
    if (after === 0) response.end(`${eventText(1)}id: ${positionOf(1)}\n\nid: ${positionOf(7)}\n\n`)
    else response.write(eventsText(8, 9))
  })
  const log: string[] = []
  const onPosition = async (position: string) => {
    await sleep(1)
    log.push(`done ${position}`)
  }
  for await (const event of server.store().events.follow({ onPosition })) {
    log.push(event.position)
    if (numberOf(event) === 9) break
  }
  expect(server.requests).toEqual([null, positionOf(7)])
  expect(log).toEqual([
    positionOf(1),
    `done ${positionOf(1)}`,
    `done ${positionOf(7)}`,
    positionOf(8),
    `done ${positionOf(8)}`,
    positionOf(9),
  ])
})

test.each([
  { status: 401, code: 'invalid_api_key' },
  { status: 403, code: 'insufficient_scope' },
  { status: 410, code: 'events_expired' },
  { status: 400, code: 'invalid_parameter' },
])('ends with $code ($status), also when it reconnects', async ({ status, code }) => {
  const server = await startEventServer((response, after) => {
    if (after > 0) {
      response.writeHead(status).end(JSON.stringify({ code, message: 'No.', status }))
      return
    }
    startStream(response)
    response.end(eventText(1))
  })
  const error = await errorOf(readAll(server.store().events.follow()))
  expect(error).toMatchObject({ code, status, outcomeUnknown: false })
  expect(server.requests).toEqual([null, positionOf(1)])
})

test('ends with unexpected_answer if another server responds, or sends data that is no event', async () => {
  const page = await startEventServer((response) => void response.end('<h1>Log in</h1>'))
  expect(await errorOf(readAll(page.store().events.follow()))).toMatchObject({ code: 'unexpected_answer' })
  const json = await startEventServer((response) => void response.end('[]'))
  expect(await errorOf(readAll(json.store().events.follow()))).toMatchObject({ code: 'unexpected_answer' })
  for (const data of ['hello', '{"position":5}', 'null']) {
    const server = await startEventServer((response) => {
      startStream(response)
      response.write(`data: ${data}\n\n`)
    })
    const error = await errorOf(readAll(server.store().events.follow()))
    expect(error).toMatchObject({ code: 'unexpected_answer' })
    await expect.poll(server.open).toBe(0)
  }
})

test('the first connection has a deadline', async () => {
  const advance = useFakeTimers()
  const { store } = await startEventServer(() => {})
  let attempts = 0
  const fetch = async () => {
    attempts += 1
    return new Response('{"code":"unavailable","message":"","status":503}', { status: 503 })
  }
  const ended = vi.fn()
  const reading = errorOf(readAll(store({ fetch }).events.follow({ deadlineMs: 500 }))).finally(ended)
  await advance(500)
  expect(ended).toHaveBeenCalled()
  expect(await reading).toMatchObject({ code: 'unavailable' })
  expect(attempts).toBeGreaterThan(1)
})

test('break, return and the signal close the connection at once and leave no listener', async () => {
  const server = await startEventServer((response) => {
    startStream(response)
    response.write(eventText(1))
  })
  const { events } = server.store()
  await take(events.follow(), 1)
  await expect.poll(server.open).toBe(0)

  const iterator = events.follow()[Symbol.asyncIterator]()
  await iterator.next()
  const waiting = iterator.next()
  expect(await iterator.return?.()).toEqual({ done: true, value: undefined })
  expect(await waiting).toEqual({ done: true, value: undefined })
  await expect.poll(server.open).toBe(0)

  const controller = new AbortController()
  const reason = new Error('the user closed the page')
  const reading = errorOf(readAll(events.follow({ signal: controller.signal })))
  await expect.poll(server.open).toBe(1)
  controller.abort(reason)
  expect(await reading).toMatchObject({ code: 'aborted', cause: reason })
  await expect.poll(server.open).toBe(0)
  expect(getEventListeners(controller.signal, 'abort')).toEqual([])
  expect(await errorOf(readAll(events.follow({ signal: controller.signal })))).toMatchObject({
    code: 'aborted',
  })
})

test('yields no further event after the signal was aborted', async () => {
  const server = await startEventServer((response) => {
    startStream(response)
    response.write(eventsText(1, 5))
  })
  const controller = new AbortController()
  const numbers: number[] = []
  const read = async () => {
    for await (const event of server.store().events.follow({ signal: controller.signal })) {
      numbers.push(numberOf(event))
      controller.abort()
    }
  }
  expect(await errorOf(read())).toMatchObject({ code: 'aborted' })
  expect(numbers).toEqual([1])
})

test('yields events of types that this version does not know', async () => {
  const server = await startEventServer((response) => {
    startStream(response)
    response.write(`event: pet.fed\ndata: {"position":"p","type":"pet.fed","petId":1,"occurredAt":""}\n\n`)
  })
  expect(await take(server.store().events.follow(), 1)).toMatchObject([{ type: 'pet.fed', petId: '1' }])
})
