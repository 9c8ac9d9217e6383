// The clients of the load against a small HTTP server with scripted responses: each must detect a wrong response.
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { openMarket } from '../../lab/load/buyers.ts'
import { openClient } from '../../lab/load/client.ts'
import { type LoadContext, newContext, type Worker } from '../../lab/load/context.ts'
import { type AcknowledgedOrder, emptyHistory } from '../../lab/load/history.ts'
import { importerOf } from '../../lab/load/importer.ts'
import { reader } from '../../lab/load/readers.ts'
import { statusChanger } from '../../lab/load/status-changers.ts'
import { keyedWriter, unkeyedWriter } from '../../lab/load/writers.ts'
import { openActivity } from '../../lab/parts/activity.ts'
import { createRandom } from '../../lab/parts/random.ts'
import { collectViolations } from '../../lab/parts/violations.ts'

interface Scripted {
  status: number
  body?: unknown
  headers?: Record<string, string>
}

type Respond = (request: IncomingMessage, body: Record<string, string>, number: number) => Scripted

/** A context whose client calls a server with these responses. The clients stop after `stopAfter` requests, or after a method. */
async function openContext(respond: Respond, stopAfter: number | 'PATCH'): Promise<LoadContext> {
  let number = 0
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      number += 1
      if (number === stopAfter || request.method === stopAfter) context.stopping = true
      const sent = Buffer.concat(chunks).toString()
      const { status, body, headers } = respond(request, sent === '' ? {} : JSON.parse(sent), number)
      response.writeHead(status, { 'x-request-id': `r${number}`, ...headers })
      response.end(JSON.stringify(body))
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const violations = collectViolations(() => {})
  const { port } = server.address() as AddressInfo
  const client = openClient({ baseUrl: `http://127.0.0.1:${port}`, apiKey: 'key', violations })
  onTestFinished(() => {
    client.close()
    server.close()
  })
  const context = newContext({
    client,
    violations,
    history: emptyHistory('run-'),
    historyFile: { append: () => {}, close: async () => {} },
    activity: openActivity(),
    lag: { acknowledge: () => {} },
  })
  return context
}

const run = (worker: Worker, context: LoadContext, index = 0) => worker(context, createRandom(1), index)
const kinds = ({ violations }: LoadContext) =>
  violations
    .summary()
    .filter(({ count }) => count > 0)
    .map(({ kind }) => kind)

const UNKNOWN: Scripted = { status: 503, body: { code: 'outcome_unknown' }, headers: { 'retry-after': '0' } }
const UNAVAILABLE: Scripted = { status: 503, body: { code: 'unavailable' }, headers: { 'retry-after': '0' } }

test('a writer with a key retries until 201, and records the pet once', async () => {
  const keys = new Set<unknown>()
  const context = await openContext((request, { name }, number) => {
    keys.add(request.headers['idempotency-key'])
    return number < 4 ? UNKNOWN : { status: 201, body: { id: 1, name } }
  }, 4)
  await run(keyedWriter, context)
  expect(keys.size).toBe(1)
  expect([...context.history.pets]).toEqual([[1, 'run-k0.0']])
  expect(context.history.unknownPets.size).toBe(0)
  expect(kinds(context)).toEqual([])
})

test('a writer with a key reports a repeated request with another id', async () => {
  const context = await openContext(
    (_, { name }, number) => ({ status: 201, body: { id: number, name } }),
    100,
  )
  await run(keyedWriter, context)
  expect(kinds(context)).toEqual(['duplicated'])
})

test('a writer reports the loss of a pet whose id another pet gets', async () => {
  const context = await openContext((_, { name }) => ({ status: 201, body: { id: 7, name } }), 2)
  await run(unkeyedWriter, context)
  expect(kinds(context)).toEqual(['lost'])
})

test('a writer without a key distinguishes rejected requests from those with an unknown outcome', async () => {
  const replies: Scripted[] = [UNAVAILABLE, UNKNOWN, { status: 201, body: { id: 1 } }]
  const context = await openContext((_request, _body, number) => replies[number - 1] ?? UNKNOWN, 3)
  await run(unkeyedWriter, context)
  expect([...context.history.rejectedPets]).toEqual(['run-u0.0'])
  expect([...context.history.unknownPets]).toEqual(['run-u0.1'])
  expect([...context.history.pets.values()]).toEqual(['run-u0.2'])
})

test('a reader reports a list whose newest pet is older than an acknowledged one', async () => {
  const context = await openContext(() => ({ status: 200, body: [{ id: 4, name: 'run-k0.0' }] }), 1)
  context.newestPetId = 5
  await run(reader, context)
  expect(kinds(context)).toEqual(['staleRead'])
})

test.each([
  ['an acknowledged pet that a read does not find', [], 'staleRead'],
  ['an acknowledged pet with another name', [{ id: 9, name: 'other' }], 'changed'],
])('a reader reports %s', async (_, found, kind) => {
  const context = await openContext(
    (request) => ({ status: 200, body: request.url?.includes('id=') ? found : [{ id: 9 }] }),
    20,
  )
  context.recentPets.push(9)
  context.history.pets.set(9, 'run-k0.0')
  await run(reader, context)
  expect(kinds(context)).toEqual([kind])
})

test('a reader reports a list without a pet that another reader has seen', async () => {
  const context: LoadContext = await openContext((_request, _body, number) => {
    context.stopping = true
    return { status: 200, body: [{ id: number === 1 ? 5 : 4, name: 'run-k0.0' }] }
  }, 1)
  await run(reader, context, 0)
  expect(kinds(context)).toEqual([])
  context.stopping = false
  await run(reader, context, 1)
  expect(kinds(context)).toEqual(['staleRead'])
})

test.each([
  ['acknowledged', 3, 2, 2],
  ['seen by a reader', 1, 2, 1],
])(
  'a reader reports a version of a pet before the one that was %s',
  async (_, acknowledged, first, later) => {
    let version = first
    const context = await openContext((request) => {
      if (!request.url?.includes('id=')) return { status: 200, body: [{ id: 9 }] }
      const headers = { etag: `"${version}"` }
      version = later
      return { status: 200, body: [{ id: 9, name: 'run-s0.0' }], headers }
    }, 20)
    context.history.pets.set(9, 'run-s0.0')
    context.history.statuses.set(9, { version: acknowledged, status: 'available', possible: undefined })
    await run(reader, context)
    expect(kinds(context)).toEqual(['staleRead'])
  },
)

test.each<[string, AcknowledgedOrder['state'], Scripted, string[]]>([
  ['a missing order', 'placed', { status: 404, body: { code: 'order_not_found' } }, ['staleRead']],
  ['a completed order that is open', 'completed', { status: 200, body: { status: 'open' } }, ['staleRead']],
  [
    'a cancelled order that is completed',
    'cancelled',
    { status: 200, body: { status: 'completed' } },
    ['staleRead'],
  ],
  [
    'nothing about an order that is being completed',
    'completing',
    { status: 200, body: { status: 'open' } },
    [],
  ],
])('a reader reports %s', async (_, state, found, reported) => {
  const context = await openContext(
    (request) => (request.url?.includes('orders') ? found : { status: 200, body: [{ id: 9 }] }),
    20,
  )
  context.recentOrders.push(3)
  context.history.orders.set(3, { petId: 9, state })
  await run(reader, context)
  expect(kinds(context)).toEqual(reported)
})

test('buyers report a pet that is acknowledged to two of them', async () => {
  const context = await openContext(({ url = '' }, _, number) => {
    if (url === '/v1/store/orders') return { status: 201, body: { id: number } }
    return { status: 200, body: {} }
  }, 3)
  context.recentPets.push(1)
  context.history.pets.set(1, 'run-k0.0')
  const { auctioneer, buyer } = openMarket()
  await Promise.all([run(auctioneer, context), run(buyer, context, 0), run(buyer, context, 1)])
  expect(kinds(context)).toEqual(['soldTwice'])
})

test('a buyer reports the loss of an order whose id another order gets', async () => {
  const context = await openContext(() => ({ status: 201, body: { id: 1 } }), 4)
  context.recentPets.push(1, 2)
  const { auctioneer, buyer } = openMarket()
  await Promise.all([run(auctioneer, context), run(buyer, context)])
  expect(kinds(context)).toContain('orderUndone')
})

test('a buyer reports an acknowledged order that cannot be completed', async () => {
  const context = await openContext(({ url = '' }) => {
    if (url === '/v1/store/orders') return { status: 201, body: { id: 1 } }
    return { status: 404, body: { code: 'order_not_found' } }
  }, 2)
  context.recentPets.push(1)
  const { auctioneer, buyer } = openMarket()
  await Promise.all([run(auctioneer, context), run(buyer, context)])
  expect(kinds(context)).toEqual(['orderUndone'])
})

/** Responds to the first 20 creates, then to updates with `updates`, and to reads with the version and status. */
function statusScript(updates: Scripted[], read: { version: number; status: string }): Respond {
  let creates = 0
  return ({ method }) => {
    if (method === 'POST') {
      creates += 1
      return { status: 201, body: { id: creates } }
    }
    if (method === 'PATCH') return updates.shift() ?? UNKNOWN
    return { status: 200, body: [{ status: read.status }], headers: { etag: `"${read.version}"` } }
  }
}
const CONFLICT: Scripted = { status: 412, body: { code: 'precondition_failed' } }

test('a change whose outcome was unknown is confirmed by 412 and a read', async () => {
  const script = statusScript([UNKNOWN, UNAVAILABLE, CONFLICT], { version: 2, status: 'pending' })
  const context = await openContext(distinctIds(script), 'PATCH')
  await run(statusChanger, context)
  expect(kinds(context)).toEqual([])
  const changed = [...context.history.statuses.values()].filter(({ version }) => version === 2)
  expect(changed).toEqual([{ version: 2, status: 'pending', possible: undefined }])
})

test.each([
  ['412 without an earlier attempt', [CONFLICT], { version: 1, status: 'available' }],
  ['another state after an unknown outcome', [UNKNOWN, CONFLICT], { version: 3, status: 'available' }],
  ['a missing pet', [{ status: 404, body: { code: 'pet_not_found' } }], { version: 1, status: 'available' }],
])('a client that changes statuses reports %s', async (_, updates, read) => {
  const context = await openContext(distinctIds(statusScript(updates, read)), 'PATCH')
  await run(statusChanger, context)
  expect(kinds(context)).toEqual(['statusUndone'])
})

/** A repeated create gets the id of the first one. */
function distinctIds(respond: Respond): Respond {
  const byKey = new Map<unknown, Scripted>()
  return (request, body, number) => {
    const key = request.headers['idempotency-key']
    const kept = key === undefined ? undefined : byKey.get(key)
    const reply = kept ?? respond(request, body, number)
    if (key !== undefined) byKey.set(key, reply)
    return reply
  }
}

test('the importer imports a file again after a failure', async () => {
  const context = await openContext(() => UNKNOWN, 1)
  const calls: string[][] = []
  const inputs = new Set<string | undefined>()
  const runCommand = async (args: string[], input?: string) => {
    calls.push(args)
    inputs.add(input)
    context.stopping = calls.length === 2
    return { exitCode: calls.length === 2 ? 0 : 1, stdout: '', stderr: '' }
  }
  await run(importerOf({ runCommand }, '/folder'), context)
  expect(calls[1]).toEqual(calls[0])
  expect(inputs.size).toBe(1)
  expect(context.history.imports).toEqual([{ name: 'run-i0', rows: 500, finished: true }])
})

test('reports undocumented responses, also those of the load balancer', async () => {
  const replies: Scripted[] = [
    { status: 500, body: { code: 'internal_error' } },
    { status: 503, body: { code: 'unavailable' } },
  ]
  const context = await openContext((_request, _body, number) => replies[number - 1] ?? UNKNOWN, 2)
  await run(unkeyedWriter, context)
  expect(context.violations.summary().find(({ kind }) => kind === 'undocumented')?.count).toBe(2)

  const server = createServer((_, response) => response.writeHead(503).end('<html>')).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  const violations = collectViolations(() => {})
  const client = openClient({ baseUrl: `http://127.0.0.1:${port}`, apiKey: 'key', violations })
  const reply = await client.send('createPet', { method: 'POST', path: '/pets', body: {} })
  expect(reply).toMatchObject({ result: '503 undefined', outcome: 'unknown' })
  expect(violations.count()).toBe(1)
  expect(client.takeCounts()).toEqual({ 'createPet 503 undefined': 1 })
  client.close()
})
