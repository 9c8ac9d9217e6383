// Commits that no standby confirms: writes have an unknown outcome, are limited in number, and do not block reads.
import { randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import { afterAll, expect, onTestFinished, test, vi } from 'vitest'
import { embeddedBinaries, freePort, startCluster } from '../../src/data/demo/cluster.ts'
import { STALLED_AFTER_MS } from '../../src/db/batch.ts'
import { writeSlots } from '../../src/db/connection/slots.ts'
import { sequenceEvents } from '../../src/events/feed/sequencer.ts'
import { trackHolds } from '../../src/store/holds/sweep.ts'
import { openLog } from '../../src/telemetry/log.ts'
import { openApiFixtureOn } from '../support/api-fixture.ts'
import { openTestDatabase, sql, TEST_TIMEOUTS } from '../support/database.ts'
import { auditFeed } from '../support/feed-audit.ts'
import { prepareDatabase } from '../support/roles.ts'
import { synchronousReplication } from '../support/synchronous-replication.ts'
import { until } from '../support/until.ts'

const dataFolder = `/var/tmp/petstore-test-${randomUUID()}`
const cluster = await startCluster({
  binaries: process.env['TEST_POSTGRES'] ?? embeddedBinaries(),
  dataFolder,
  port: await freePort(),
})
afterAll(async () => {
  await cluster.stop()
  rmSync(dataFolder, { recursive: true, force: true })
})
const databaseUrl = await prepareDatabase(cluster.url('postgres'))
const POOL_SIZE = 4
const db = openTestDatabase(databaseUrl, POOL_SIZE, {
  // Only the query timeout ends a request.
  connectionWaitMs: 2 * TEST_TIMEOUTS.queryTimeoutMs,
  // As in production, nothing is retried after the query timeout, although these tests do not wait for it.
  retryForMs: 0,
})
/** The clock of the sweeps: only a test moves it, so that no sweep is stale because the host is slow. */
let sweepClockMs = 0
const holds = trackHolds(db, openLog('silent'), () => sweepClockMs)
const petstore = await openApiFixtureOn(databaseUrl, db, { holds })

const { standby, waitingBackends, cancelWaiting } = synchronousReplication(databaseUrl)
const isWaiting = (count: number) => until(async () => (await waitingBackends()) === count)

/** Stops the clock of timeouts. Returns a function that ends everything in flight by its query timeout. */
function stopTimeouts(): () => void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  return () => {
    vi.advanceTimersByTime(TEST_TIMEOUTS.queryTimeoutMs)
    vi.useRealTimers()
  }
}

test('a create that is cancelled while it waits for a standby returns 503 outcome_unknown, although PostgreSQL reports success', async () => {
  expect((await petstore.post('/pets', { name: 'before', categoryId: 1 })).status).toBe(201)
  await standby('missing')
  const creating = petstore.post('/pets', { name: 'cancelled', categoryId: 1 })
  await cancelWaiting()
  const response = await creating
  expect(response.status).toBe(503)
  expect(response.body).toMatchObject({ code: 'outcome_unknown' })
  expect(await sql(databaseUrl, `select count(*)::int from pets where name = 'cancelled'`)).toEqual([
    { count: 1 },
  ])
})

test('a create without a standby returns 503 outcome_unknown; once commits no longer wait, its pet exists and creates succeed', async () => {
  const timeOut = stopTimeouts()
  const creating = petstore.post('/pets', { name: 'waiting', categoryId: 1 })
  await isWaiting(1)
  timeOut()
  const response = await creating
  expect(response.body).toMatchObject({ code: 'outcome_unknown' })
  expect(db.connections().unacknowledged).toBe(1)
  await standby('')
  await until(() => db.connections().unacknowledged === 0)
  expect(await sql(databaseUrl, `select from pets where name = 'waiting'`)).toHaveLength(1)
  expect((await petstore.post('/pets', { name: 'after', categoryId: 1 })).status).toBe(201)
})

test('without a standby, reads succeed and the number of unacknowledged writes is limited', async () => {
  const writesMax = writeSlots(POOL_SIZE)
  await standby('missing')
  const timeOut = stopTimeouts()
  // One more than the number of writes that may wait for a standby.
  const names = Array.from({ length: writesMax + 1 }, (_, index) => `stuck ${index}`)
  const writes = names.map((name, index) => petstore.put(`/categories/${index + 1}`, { name }))
  await isWaiting(writesMax)
  expect((await petstore.get('/pets')).status).toBe(200)

  timeOut()
  const codes = (await Promise.all(writes)).map(({ body }) => (body as { code: string }).code)
  expect(codes.filter((code) => code === 'outcome_unknown')).toHaveLength(writesMax)
  expect(codes.filter((code) => code === 'unavailable')).toHaveLength(1)

  for (let round = 0; round < 5; round += 1) {
    const rejected = await petstore.put('/categories/100', { name: 'rejected at once' })
    expect(rejected.body).toMatchObject({ code: 'unavailable' })
    expect((await petstore.get('/pets')).status).toBe(200)
  }
  expect(await waitingBackends()).toBe(writesMax)
  expect(db.connections().total).toBeLessThanOrEqual(POOL_SIZE)

  await standby('')
  await until(() => db.connections().unacknowledged === 0)
  expect((await petstore.put('/categories/100', { name: 'accepted' })).status).toBe(201)
})

test('a create that waits for a standby does not hold up the next create, and a retry of it returns 409 with Retry-After', async () => {
  await standby('missing')
  const create = (key: string) =>
    petstore.post('/pets', { name: key, categoryId: 1 }, { 'idempotency-key': key })
  const timeOut = stopTimeouts()
  let isSettled = false
  const first = create('first').finally(() => (isSettled = true))
  await isWaiting(1)
  // A batch that has stalled no longer holds up the next one.
  vi.advanceTimersByTime(STALLED_AFTER_MS)
  const second = create('second')
  await isWaiting(2)
  vi.advanceTimersByTime(STALLED_AFTER_MS)
  const retry = await create('first')
  expect(retry).toMatchObject({ status: 409, body: { code: 'idempotency_key_in_use' } })
  expect(retry.headers.get('retry-after')).toBe('1')
  expect(isSettled).toBe(false)

  timeOut()
  for (const { body } of await Promise.all([first, second])) {
    expect(body).toMatchObject({ code: 'outcome_unknown' })
  }
  await standby('')
  await until(() => db.connections().unacknowledged === 0)
  const retried = await Promise.all([create('first'), create('second')])
  expect(retried.map(({ status }) => status)).toEqual([201, 201])
  expect(retried.map(({ headers }) => headers.get('idempotency-replayed'))).toEqual(['true', 'true'])
})

test('a hold that expires while no standby confirms writes does not block reads, and is swept afterwards', async () => {
  const { id, petId } = await petstore.hold()
  await standby('missing')
  await sql(
    databaseUrl,
    `set synchronous_commit = local;
    update orders set created_at = now() - interval '1 day', expires_at = now() - interval '1 hour' where id = ${id}`,
  )
  // The sweep of an earlier test is stale.
  sweepClockMs += 3_600_000
  const timeOut = stopTimeouts()
  const read = async () => (await petstore.findPet(petId))?.status
  // The read returns without waiting for the sweep, so the pet is still pending.
  expect(await read()).toBe('pending')
  expect(db.connections().unacknowledged).toBe(0)
  await isWaiting(1)
  timeOut()
  await until(() => db.connections().unacknowledged === 1)
  expect(await read()).toBe('pending')
  expect(await waitingBackends()).toBe(1)
  await standby('')
  await until(async () => (await read()) === 'available')
  expect(await auditFeed(databaseUrl)).toEqual([])
})

test('an unrelated PostgreSQL warning does not make the outcome unknown', async () => {
  await sql(
    databaseUrl,
    `create function warn() returns trigger language plpgsql as
      $$ begin raise warning 'a newer version of a collation'; return null; end $$;
    create trigger warn before insert on pets execute function warn()`,
  )
  expect((await petstore.post('/pets', { name: 'warned of', categoryId: 1 })).status).toBe(201)
  await sql(databaseUrl, 'drop trigger warn on pets')
})

test('the feed shows no event that no standby has, although its commit is visible', async () => {
  await standby('')
  await until(() => db.connections().unacknowledged === 0)
  await sequenceEvents(db)
  const before = await petstore.get('/events?after=latest')
  const next = /events\?[^>]+/.exec(before.headers.get('link') ?? '')?.[0] ?? ''
  await standby('missing')
  await sql(
    databaseUrl,
    `set synchronous_commit = local; insert into pets (name, category_id) values ('unprotected', 1)`,
  )
  const sequencing = sequenceEvents(db).catch(() => {})
  await cancelWaiting()
  await sequencing
  expect((await petstore.get('/pets?name=unprotected')).body).toHaveLength(1)
  for (const [waiting, path] of [`/${next}`, '/events?after=latest'].entries()) {
    const timeOut = stopTimeouts()
    const reading = petstore.get(path)
    await isWaiting(waiting + 1)
    timeOut()
    expect((await reading).body).toMatchObject({ code: 'unavailable' })
  }
  await standby('')
  await until(() => db.connections().unacknowledged === 0)
  expect((await petstore.get(`/${next}`)).body).toMatchObject([{ pet: { name: 'unprotected' } }])
})
