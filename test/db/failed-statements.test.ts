// A fault at one statement of a request: the response matches what was committed.
import { randomUUID } from 'node:crypto'
import { afterAll, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { startProxy } from '../../lab/parts/tcp-proxy.ts'
import { trackHolds } from '../../src/store/holds/sweep.ts'
import { openLog } from '../../src/telemetry/log.ts'
import { apiFixtureAt } from '../support/api-fixture.ts'
import { issueApiKey, startApp } from '../support/app.ts'
import { createTestDatabase, openTestDatabase, TEST_TIMEOUTS } from '../support/database.ts'
import { until } from '../support/until.ts'
import { type Fault, faultyRelay } from '../support/wire-faults.ts'

const databaseUrl = await createTestDatabase()
let fault: (Fault & { statement: string }) | undefined
let injected = 0
const proxy = await startProxy(databaseUrl, (link) =>
  faultyRelay(link, {
    // Inject each fault once.
    decide: (statement) => (statement === fault?.statement && injected === 0 ? fault : undefined),
    onInjected: () => {
      injected += 1
    },
  }),
)
afterAll(() => proxy.close())
const db = openTestDatabase(proxy.url)
// Every request sweeps, because this clock advances by a minute each time.
let minutes = 0
const holds = trackHolds(db, openLog('silent'), () => (minutes += 1) * 60_000)
const { origin } = await startApp(db, { holds })
const { text: apiKey } = await issueApiKey(db)
const api = apiFixtureAt({ origin, apiKey }, databaseUrl, db)

beforeEach(() => {
  fault = undefined
  injected = 0
})

test.each(['end', 'reset'] as const)(
  'a list succeeds even if its sweep loses the connection (%s) after PostgreSQL has executed the sweep',
  async (kind) => {
    fault = { statement: 'expire_orders', moment: 'executed, no response yet', kind }
    expect((await api.get('/pets')).status).toBe(200)
    expect(injected).toBe(1)
  },
)

test('putCategory returns 503 unavailable and stores nothing if it cannot read the counts', async () => {
  // In production, the query timeout is longer than the time in which a retry starts.
  const impatient = openTestDatabase(proxy.url, 2, { retryForMs: 0 })
  const client = await startApp(impatient)
  const name = randomUUID()
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  fault = { statement: 'find_categories_after', moment: 'executed, no response yet', kind: 'silence' }
  const putting = client.call('PUT', '/v1/categories/7', { body: { name } })
  await until(() => injected === 1)
  vi.advanceTimersByTime(TEST_TIMEOUTS.queryTimeoutMs)
  const response = await putting
  expect(response.body).toMatchObject({ code: 'unavailable' })
  await proxy.settled()
  expect(await api.sql('select from categories where name = $1', [name])).toEqual([])
  expect(injected).toBe(1)
})

const putCategory = (name = randomUUID()) => api.put(`/categories/${1_000 + minutes}`, { name })
const UNKNOWN = { body: { code: 'outcome_unknown' } }

test.each([
  ['find_pet_pages', () => api.get('/pets'), { status: 200 }],
  ['begin', putCategory, { status: 201 }],
  ['upsert_category', putCategory, { status: 201 }],
  ['commit', putCategory, UNKNOWN],
  ['insert_pets', () => api.post('/pets', { name: randomUUID(), categoryId: 1 }), UNKNOWN],
])(
  'the warning that a standby may lack the data, at %s, makes the outcome unknown only if this statement commits',
  async (statement, send, expected) => {
    fault = { statement, moment: 'before the end of the response', kind: 'warning' }
    expect(await send()).toMatchObject(expected)
    expect(injected).toBe(1)
  },
)

test.each(['upsert_category', 'find_categories_after', 'commit'])(
  'the service retries a transaction that PostgreSQL ended, because it was idle too long, before %s',
  async (statement) => {
    const name = randomUUID()
    fault = { statement, moment: 'before sending', kind: 'idle timeout' }
    expect((await putCategory(name)).status).toBe(201)
    expect(await api.sql('select from categories where name = $1', [name])).toHaveLength(1)
    expect(injected).toBe(1)
  },
)

test('the service retries a create with an Idempotency-Key (201, not 409) before PostgreSQL notices the lost connection', async () => {
  const name = randomUUID()
  fault = { statement: 'insert_pets', moment: 'executed, no response yet', kind: 'reset on one side' }
  const response = await api.post('/pets', { name, categoryId: 1 }, { 'idempotency-key': name })
  expect(response.status).toBe(201)
  expect(await api.sql('select from pets where name = $1', [name])).toHaveLength(1)
  expect(injected).toBe(1)
})
