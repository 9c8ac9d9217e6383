// The database is unavailable, slow, full or read-only: the client gets the right error, and each write happens once.
import { randomUUID } from 'node:crypto'
import { Client } from 'pg'
import { afterAll, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { startProxy } from '../../lab/parts/tcp-proxy.ts'
import {
  CONNECT_TIMEOUT_MS,
  QUERY_TIMEOUT_MS,
  RESPONSE_TIMEOUT_MS,
  RETRY_FOR_MS,
} from '../../src/db/connection/deadlines.ts'
import { issueApiKey, startApp } from '../support/app.ts'
import { createTestDatabase, openTestDatabase, sql, TEST_TIMEOUTS } from '../support/database.ts'
import { asSuperuser } from '../support/roles.ts'
import { until } from '../support/until.ts'

const databaseUrl = await createTestDatabase()
const proxy = await startProxy(databaseUrl)
afterAll(() => proxy.close())
const POOL_SIZE = 3
const db = openTestDatabase(proxy.url, POOL_SIZE)
const petstore = await startApp(db)
// Only one test uses this key, so that it is not in the cache.
const { text: apiKey } = await issueApiKey(db)

const create = (name: string, headers: Record<string, string> = {}) =>
  petstore.post('/pets', { name, categoryId: 1 }, headers)
const rowsNamed = async (name: string) =>
  (await sql(databaseUrl, 'select id from pets where name = $1', [name])).length

/** Makes the next two creates fail with this SQLSTATE. The test must drop the trigger. */
const failTwice = (state: string) =>
  sql(
    databaseUrl,
    `create sequence if not exists tries;
    alter sequence tries restart;
    create or replace function fail_twice() returns trigger language plpgsql as
      $$ begin
        if nextval('tries') <= 2 then raise exception 'retry' using errcode = '${state}'; end if;
        return null;
      end $$;
    create trigger fail_twice before insert on pets execute function fail_twice()`,
  )

beforeEach(async () => {
  proxy.behave('pass')
  expect((await petstore.get('/pets')).status).toBe(200)
})

test('reads succeed after every connection is lost', async () => {
  for (let round = 0; round < 10; round += 1) {
    proxy.cut()
    expect((await petstore.get('/pets?limit=1')).status).toBe(200)
  }
})

test('returns 503, not 401, if the key cannot be checked because the database is unavailable', async () => {
  proxy.behave('reject')
  proxy.cut()
  // The response timeout of the tests is longer than the test, so it does not end this request.
  const response = await petstore.get('/pets', { apiKey })
  expect(response.status).toBe(503)
  expect(response.body).toMatchObject({ code: 'unavailable' })
})

test('the timeouts of the database end a request before its response timeout does', () => {
  const lastAttemptMs = CONNECT_TIMEOUT_MS + QUERY_TIMEOUT_MS
  expect(RETRY_FOR_MS + lastAttemptMs).toBeLessThan(RESPONSE_TIMEOUT_MS)
})

test('a create that was not sent is retried until the database is available, and adds one pet', async () => {
  const name = randomUUID()
  proxy.rejectNext(5)
  proxy.cut()
  const response = await create(name)
  expect(response.status).toBe(201)
  expect(await rowsNamed(name)).toBe(1)
})

test('a create whose response is lost returns 503 outcome_unknown and is not retried', async () => {
  const name = randomUUID()
  proxy.loseResponse('insert_pets', 'reset')
  const response = await create(name)
  expect(response.status).toBe(503)
  expect(response.body).toMatchObject({ code: 'outcome_unknown' })
  expect(await rowsNamed(name)).toBe(1)
})

test('a create with an Idempotency-Key whose response is lost adds one pet, even if the client retries', async () => {
  const name = randomUUID()
  const headers = { 'idempotency-key': randomUUID() }
  proxy.loseResponse('insert_pets', 'reset')
  const first = await create(name, headers)
  // The response was lost before the commit was sent: nothing was committed, and the service retried.
  expect(first.status).toBe(201)
  const second = await create(name, headers)
  expect(second.status).toBe(201)
  expect(await rowsNamed(name)).toBe(1)
})

test('a create without a response from the database returns outcome_unknown after the query timeout', async () => {
  const name = randomUUID()
  const losses = proxy.losses()
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  proxy.loseResponse('insert_pets', 'silence')
  const creating = create(name)
  await until(() => proxy.losses() === losses + 1)
  vi.advanceTimersByTime(TEST_TIMEOUTS.queryTimeoutMs)
  vi.useRealTimers()
  const response = await creating
  expect(response.body).toMatchObject({ code: 'outcome_unknown' })
})

test('a read that times out on every attempt returns 503, and the pool recovers', async () => {
  const impatient = await startApp(openTestDatabase(databaseUrl, 1, { lockTimeoutMs: 20, retryForMs: 100 }))
  const locker = new Client(asSuperuser(databaseUrl))
  await locker.connect()
  await locker.query('begin; lock table pets in access exclusive mode')
  const response = await impatient.get('/pets')
  expect(response.status).toBe(503)
  await locker.end()
  expect((await impatient.get('/pets')).status).toBe(200)
})

test('a read-only primary rejects a create with 503 unavailable, and accepts it once it is writable', async () => {
  const name = randomUUID()
  const database = new URL(databaseUrl).pathname.slice(1)
  await sql(databaseUrl, `alter database ${database} set default_transaction_read_only = on`)
  proxy.cut()
  const rejected = await create(name)
  expect(rejected.status).toBe(503)
  expect(rejected.body).toMatchObject({ code: 'unavailable' })
  expect(await rowsNamed(name)).toBe(0)
  const writable = `alter database ${database} set default_transaction_read_only = off`
  await sql(databaseUrl, `begin read write; ${writable}; commit`)
  const accepted = await create(name)
  expect(accepted.status).toBe(201)
})

test('a create during a failover is retried while the database is read-only, and adds one pet', async () => {
  const name = randomUUID()
  await failTwice('25006')
  const response = await create(name)
  await sql(databaseUrl, 'drop trigger fail_twice on pets')
  expect(response.status).toBe(201)
  expect(await rowsNamed(name)).toBe(1)
})

test.each([
  ['a full disk', '53100'],
  ['too little memory', '53200'],
  ['an I/O error', '58030'],
])(
  'a create stores nothing and returns 503 unavailable, without the reason, if PostgreSQL reports %s',
  async (_name, state) => {
    await sql(
      databaseUrl,
      `create or replace function fail() returns trigger language plpgsql as
      $$ begin raise exception 'could not extend file' using errcode = '${state}'; end $$;
    create or replace trigger fail before insert on pets execute function fail()`,
    )
    const name = randomUUID()
    const response = await create(name)
    await sql(databaseUrl, 'drop trigger fail on pets')
    expect(response.status).toBe(503)
    expect(response.body).toMatchObject({ code: 'unavailable' })
    expect(response.text).not.toContain('extend')
    expect(await rowsNamed(name)).toBe(0)
  },
)

test('the service retries a create after a serialization failure', async () => {
  await failTwice('40001')
  const name = randomUUID()
  const response = await create(name)
  await sql(databaseUrl, 'drop trigger fail_twice on pets')
  expect(response.status).toBe(201)
  expect(await rowsNamed(name)).toBe(1)
})

test('an internal error returns 500 without internal details', async () => {
  await sql(
    databaseUrl,
    `create function fail_oddly() returns trigger language plpgsql as
      $$ begin raise exception 'secret table layout' using errcode = '22P05'; end $$;
    create trigger fail_oddly before insert on pets execute function fail_oddly()`,
  )
  const response = await petstore
    .post('/pets', { name: 'Rex', categoryId: 1 })
    .catch((error: unknown) => error as Error)
  await sql(databaseUrl, 'drop trigger fail_oddly on pets')
  // The test client throws an error for every 500. Its message contains the response.
  expect(response).toBeInstanceOf(Error)
  expect((response as Error).message).toContain('internal_error')
  expect((response as Error).message).not.toContain('secret')
})

test('every connection is back in the pool after the tests above', async () => {
  expect((await petstore.get('/pets')).status).toBe(200)
  await expect
    .poll(() => {
      const { total, idle, waiting, unacknowledged } = db.connections()
      return { used: total - idle, waiting, unacknowledged }
    })
    .toEqual({ used: 0, waiting: 0, unacknowledged: 0 })
  expect(db.connections().total).toBeLessThanOrEqual(POOL_SIZE)
})
