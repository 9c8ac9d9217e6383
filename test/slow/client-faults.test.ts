// The client sends thousands of creates and orders through a proxy that rejects, resets, hangs, truncates and delays. Each
// create makes exactly one pet, and each order exactly one hold.
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test, type TestContext } from 'vitest'
import { Petstore, type VersionedPet } from '@petstore/client'
import { createTestDatabase, sql } from '../support/database.ts'
import {
  FAULTS,
  type Fault,
  type FaultInjector,
  type SeenRequest,
  startFaultInjector,
} from '../support/fault-injector.ts'
import { auditFeed } from '../support/feed-audit.ts'
import { petstore, startService } from '../support/service.ts'
import { auditStore } from '../support/store-audit.ts'
import { volume } from '../support/volume.ts'

const CREATES = volume(250, 5_000)
const ORDERS = volume(40, 500)
const AT_ONCE = 50
/** How many of ten requests get a fault. */
const FAULTS_IN_TEN = 4
/** Long enough for AT_ONCE requests on a busy host: otherwise, every attempt would time out. */
const TIMEOUT_MS = 3_000
const LATE_MS = 3_500
const SEED = Number(process.env['TEST_SEED'])

const kinds = (Object.keys(FAULTS) as Fault[]).filter((fault) => fault !== 'none')

/** A number that depends on the seed, the call and the attempt, but not on concurrent calls. */
function pick(call: string, attempt: number): number {
  let hash = SEED
  for (const character of `${call} ${attempt}`) {
    hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x5bd1e995)
    hash ^= hash >>> 15
  }
  return hash >>> 0
}

/** Chooses a fault by the request and its attempt number, and counts the choices. */
function chooser(counts: Map<Fault, number>) {
  const attempts = new Map<string, number>()
  return ({ method, path, body }: SeenRequest): Fault => {
    const call = `${method} ${path} ${body}`
    const attempt = (attempts.get(call) ?? 0) + 1
    attempts.set(call, attempt)
    const number = pick(call, attempt)
    const fault =
      number % 10 < FAULTS_IN_TEN ? (kinds[Math.floor(number / 10) % kinds.length] ?? 'none') : 'none'
    counts.set(fault, (counts.get(fault) ?? 0) + 1)
    return fault
  }
}

async function openFixture({ onTestFinished }: TestContext) {
  const DATABASE_URL = await createTestDatabase()
  const environment = { DATABASE_URL, LOG_LEVEL: 'error' }
  const scopes = 'pets:read,pets:write,orders:read,orders:write'
  const made = await petstore(['api-keys', 'create', '--name', 'client', '--scopes', scopes], environment)
  const service = await startService(environment)
  // Kill the service even if the test fails. A signal to an ended process does nothing.
  onTestFinished(() => service.kill('SIGKILL'))
  const counts = new Map<Fault, number>()
  const injector = await startFaultInjector(service.origin, { choose: chooser(counts), lateMs: LATE_MS })
  const store = new Petstore({
    baseUrl: `${injector.origin}/v1`,
    apiKey: made.stdout.trim(),
    timeoutMs: TIMEOUT_MS,
    deadlineMs: 600_000,
  })
  // Whatever the seed, each fault occurs at least once.
  injector.next(...kinds)
  return { databaseUrl: DATABASE_URL, service, injector, store, counts }
}

/** Runs the work for every index, AT_ONCE at a time. */
async function forEach(count: number, work: (index: number) => Promise<void>): Promise<void> {
  let next = 0
  const worker = async () => {
    while (next < count) await work(next++)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
}

/** Waits for delayed requests, which arrive after the last call has ended. */
async function settle(injector: FaultInjector): Promise<void> {
  while (injector.forwarded().inFlight > 0) await sleep(50)
}

// Both tests wait for timeouts and retries most of the time, each with a service of its own.
test.concurrent(`${CREATES} creates through a faulty proxy make exactly ${CREATES} pets`, async (context) => {
  const { databaseUrl, service, injector, store, counts } = await openFixture(context)
  const created: VersionedPet[] = []
  await forEach(CREATES, async (index) => {
    created[index] = await store.pets.create({ name: `Pet ${index}`, categoryId: 1 + (index % 7) })
  })
  await settle(injector)
  const rows = await sql<{ id: string; name: string; category_id: string }>(
    databaseUrl,
    'select id::text, name, category_id::text from pets',
  )
  const inSql = rows.map(({ id, name, category_id }) => `${id} ${name} ${category_id}`).sort()
  const accepted = created.map(({ id, name, categoryId }) => `${id} ${name} ${categoryId}`).sort()
  const { total } = injector.forwarded()
  console.log(
    `${rows.length} pets from ${injector.seen.length} requests, ${total} of which reached the service`,
  )
  console.log(Object.fromEntries(counts))
  expect(inSql).toEqual(accepted)
  expect(rows).toHaveLength(CREATES)
  // Guards the test itself: many creates reached the service more than once.
  expect(total).toBeGreaterThan(CREATES * 1.1)
  expect(await service.stop()).toBe(0)
  expect(await auditFeed(databaseUrl)).toEqual([])
})

test.concurrent(`${ORDERS} orders through a faulty proxy hold their pets once and close once`, async (context) => {
  const { databaseUrl, service, injector, store, counts } = await openFixture(context)
  await sql(
    databaseUrl,
    `insert into pets (name, category_id) select 'Pet ' || n, 1 from generate_series(1, $1::int) as n`,
    [ORDERS],
  )
  await forEach(ORDERS, async (index) => {
    const { id } = await store.orders.place({ petId: index + 1 })
    const ended = await (index % 4 === 3 ? store.orders.cancel(id) : store.orders.complete(id))
    expect(ended.id).toBe(id)
  })
  await settle(injector)
  console.log(`${injector.seen.length} requests`, Object.fromEntries(counts))
  const orders = await sql(
    databaseUrl,
    'select status, count(*)::int from orders group by status order by status',
  )
  expect(orders).toEqual([
    { status: 'completed', count: (ORDERS * 3) / 4 },
    { status: 'cancelled', count: ORDERS / 4 },
  ])
  expect(await service.stop()).toBe(0)
  expect(await auditStore(databaseUrl)).toEqual([])
  expect(await auditFeed(databaseUrl)).toEqual([])
})
