// The bytes of large responses that clients have not accepted yet are limited. Beyond the limit, requests get 503 overloaded.
import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import fastify from 'fastify'
import { expect, onTestFinished, test } from 'vitest'
import { openByteBudget } from '../../src/contract/byte-budget.ts'
import { durableEvents } from '../../src/events/feed/durable.ts'
import { EVENT_TYPES } from '../../src/events/feed/schema.ts'
import { sequenceEvents } from '../../src/events/feed/sequencer.ts'
import { LARGE_RESPONSE_BYTES, limitResponseBytes } from '../../src/http/response-bytes.ts'
import { openApiFixture } from '../support/api-fixture.ts'
import { linkTo } from '../support/pets.ts'
import { until } from '../support/until.ts'

const MAX_BYTES = 300_000
/** More than the kernel buffers for client and server. */
const HUGE_BYTES = 16 * 1_048_576

let taken = 0
const budget = openByteBudget(MAX_BYTES, (bytes) => {
  taken = bytes
})
const api = await openApiFixture({ responseBytes: budget })
// A page of 100 pets has 200 kB.
await api.sql(`insert into pets (name, category_id) select repeat('🐕', 500), 1 from generate_series(1, 101)`)

/** Takes so much that less than a page is left. */
function fill(): () => void {
  const release = budget.take(MAX_BYTES / 2) as () => void
  onTestFinished(release)
  return release
}

test('rejects a large page that does not fit (503), without its link, and accepts small ones', async () => {
  const release = fill()
  const rejected = await api.get('/pets?limit=100')
  expect(rejected).toMatchObject({ status: 503, body: { code: 'overloaded' } })
  expect(rejected.headers.get('retry-after')).toBe('1')
  expect(linkTo('next', rejected, api.origin)).toBeUndefined()
  expect(await api.get('/pets?limit=1')).toMatchObject({ status: 200, body: { length: 1 } })
  expect(taken).toBe(MAX_BYTES / 2)
  release()
  const page = await api.get('/pets?limit=100')
  expect(page).toMatchObject({ status: 200, body: { length: 100 } })
  expect(linkTo('next', page, api.origin)).toBeDefined()
  await until(() => taken === 0)
})

test('rejects many changes before their commit if their results do not fit (503), and a retry makes them', async () => {
  const ids = (await api.sql('select id from pets order by id limit 100')).map(({ id }) => Number(id))
  const change = () =>
    api.post(
      '/pet-changes',
      { changes: ids.map((petId) => ({ update: { petId, status: 'sold' } })) },
      { 'idempotency-key': 'sell' },
    )
  const sold = async () => (await api.sql(`select id from pets where status = 'sold'`)).length
  const release = fill()
  expect(await change()).toMatchObject({ status: 503, body: { code: 'overloaded' } })
  expect(await sold()).toBe(0)
  release()
  const made = await change()
  expect([made.status, made.headers.get('idempotency-replayed'), await sold()]).toEqual([200, null, 100])
  fill()
  expect(await change()).toMatchObject({ status: 503, body: { code: 'overloaded' } })
})

test('counts a response until its client has read it', async () => {
  const app = fastify()
  onTestFinished(() => app.close())
  let open = 0
  limitResponseBytes(
    app,
    openByteBudget(2 * HUGE_BYTES, (bytes) => {
      open = bytes
    }),
  )
  app.get('/huge', (_request, reply) => reply.send(Buffer.alloc(HUGE_BYTES)))
  app.get('/small', (_request, reply) => reply.send('x'.repeat(LARGE_RESPONSE_BYTES)))
  await app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.server.address() as AddressInfo
  const clients = [connect(port, '127.0.0.1'), connect(port, '127.0.0.1')] as const
  for (const client of clients) {
    onTestFinished(() => void client.destroy())
    client.write('GET /huge HTTP/1.1\r\nHost: x\r\n\r\n')
    await once(client, 'readable')
  }
  expect((await app.inject('/small')).statusCode).toBe(200)
  expect(open).toBe(2 * HUGE_BYTES)
  expect((await app.inject('/huge')).statusCode).toBe(503)
  clients[0].resume()
  await until(() => open === HUGE_BYTES)
  // A client that goes away leaves nothing behind.
  clients[1].destroy()
  await until(() => open === 0)
})

test('counts a page of events that waits for the standbys', async () => {
  await sequenceEvents(api.db)
  const waiting = Promise.withResolvers<never>()
  const find = durableEvents(
    {
      ...api.db,
      // As on a primary whose synchronous standby does not respond.
      read: async (statement) =>
        (await api.db.read<Record<string, unknown>>(statement)).map((row) => ({ ...row, server: 'a' })),
      write: () => waiting.promise,
    } as typeof api.db,
    undefined,
    budget,
  )
  const read = () => find(EVENT_TYPES, 0n, 1_000, 100_000)
  const results = [read(), read(), read()].map((page) => page.catch((error: unknown) => error))
  expect(await Promise.race(results)).toMatchObject({ code: 'overloaded' })
  waiting.reject(new Error('the standby does not respond'))
  const codes = (await Promise.all(results)).map((error) => (error as { code: string }).code)
  expect(codes.toSorted()).toEqual(['overloaded', 'unavailable', 'unavailable'])
  expect(taken).toBe(0)
})
