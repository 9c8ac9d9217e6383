// The database away, slow, full, read-only: what a client is told, and that nothing is lost or doubled.
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import { beforeEach, expect, test } from 'vitest'
import { RESPONSE_TIMEOUT_MS } from '../../src/deadlines.ts'
import { issueApiKey, startApp } from '../support/app.ts'
import { createTestDatabase, openTestDatabase, sql } from '../support/database.ts'
import { startProxy } from '../support/proxy.ts'
import { asSuperuser } from '../support/roles.ts'

const databaseUrl = await createTestDatabase()
const proxy = await startProxy(databaseUrl)
const POOL_SIZE = 3
/** The limits of the database end a request, not the one of the whole request: also on a busy host. */
const BEFORE_THE_LAST_LIMIT_MS = RESPONSE_TIMEOUT_MS - 1_000
const db = openTestDatabase(proxy.url, POOL_SIZE)
const petstore = await startApp(db)
// Two in one second would be answered by the cache of the first.
const { text: apiKey } = await issueApiKey(db)

const create = (name: string, headers: Record<string, string> = {}) =>
  petstore.post('/pets', { name, categoryId: 1 }, headers)
const rowsNamed = async (name: string) =>
  (await sql(databaseUrl, 'select id from pets where name = $1', [name])).length

beforeEach(async () => {
  proxy.behave('pass')
  expect((await petstore.get('/pets')).status).toBe(200)
})

test('reads survive the loss of every connection without anyone noticing', async () => {
  for (let round = 0; round < 10; round += 1) {
    proxy.cut()
    expect((await petstore.get('/pets?limit=1')).status).toBe(200)
  }
})

test('a key that cannot be checked because the database is away is 503, never 401', async () => {
  proxy.behave('refuse')
  proxy.cut()
  await sleep(1_000)
  const started = performance.now()
  const response = await petstore.get('/pets', { apiKey })
  expect(response.status).toBe(503)
  expect(response.body).toMatchObject({ code: 'unavailable' })
  expect(performance.now() - started).toBeLessThan(BEFORE_THE_LAST_LIMIT_MS)
})

test('a create that was never sent waits for the database to come back, and is done once', async () => {
  const name = randomUUID()
  proxy.behave('refuse')
  proxy.cut()
  setTimeout(() => proxy.behave('pass'), 700)
  const response = await create(name)
  expect(response.status).toBe(201)
  expect(await rowsNamed(name)).toBe(1)
})

test('a create whose answer is lost is 503 outcome_unknown, is not repeated, and may be there', async () => {
  const name = randomUUID()
  proxy.loseResponse('insert_pets', 'reset')
  const response = await create(name)
  expect(response.status).toBe(503)
  expect(response.body).toMatchObject({ code: 'outcome_unknown' })
  expect(await rowsNamed(name)).toBe(1)
})

test('repeated with its Idempotency-Key, it is answered and there is still one animal', async () => {
  const name = randomUUID()
  const headers = { 'idempotency-key': randomUUID() }
  proxy.loseResponse('insert_pets', 'reset')
  const first = await create(name, headers)
  // Swallowed before the commit was sent, it was surely not done and was done again by the service.
  expect(first.status).toBe(201)
  const second = await create(name, headers)
  expect(second.status).toBe(201)
  expect(await rowsNamed(name)).toBe(1)
})

test('a database that never answers ends a create with outcome_unknown once the query timeout has passed', async () => {
  const name = randomUUID()
  proxy.loseResponse('insert_pets', 'silence')
  const response = await create(name)
  expect(response.body).toMatchObject({ code: 'outcome_unknown' })
})

test('a read that is slow three times over ends with 503, and the pool is whole again', async () => {
  const locker = new Client(asSuperuser(databaseUrl))
  await locker.connect()
  await locker.query('begin; lock table pets in access exclusive mode')
  const response = await petstore.get('/pets')
  expect(response.status).toBe(503)
  await locker.end()
  expect((await petstore.get('/pets')).status).toBe(200)
})

test.each([
  [
    'a read-only primary',
    `set default_transaction_read_only = on`,
    `set default_transaction_read_only = off`,
  ],
])('%s refuses a create with 503 unavailable, and takes it once it may write', async (_name, on, off) => {
  const name = randomUUID()
  const database = new URL(databaseUrl).pathname.slice(1)
  await sql(databaseUrl, `alter database ${database} ${on}`)
  proxy.cut()
  const rejected = await create(name)
  expect(rejected.status).toBe(503)
  expect(rejected.body).toMatchObject({ code: 'unavailable' })
  expect(await rowsNamed(name)).toBe(0)
  await sql(databaseUrl, `begin read write; alter database ${database} ${off}; commit`)
  const accepted = await create(name)
  expect(accepted.status).toBe(201)
})

test('a failover in the midst of a create is waited for: read-only at first, then done once', async () => {
  const name = randomUUID()
  const database = new URL(databaseUrl).pathname.slice(1)
  await sql(databaseUrl, `alter database ${database} set default_transaction_read_only = on`)
  proxy.cut()
  setTimeout(() => {
    void sql(
      databaseUrl,
      `begin read write; alter database ${database} reset default_transaction_read_only; commit`,
    )
  }, 500)
  const response = await create(name)
  expect(response.status).toBe(201)
  expect(await rowsNamed(name)).toBe(1)
})

test.each([
  ['disk full', '53100'],
  ['out of memory', '53200'],
  ['an i/o error', '58030'],
])('%s is 503 unavailable, nothing is kept, and the log alone knows why', async (_name, state) => {
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
})

test('a deadlock or a lost race is repeated by the service, not by the client', async () => {
  await sql(
    databaseUrl,
    `create sequence tries;
    create function fail_twice() returns trigger language plpgsql as
      $$ begin
        if nextval('tries') <= 2 then raise exception 'again' using errcode = '40001'; end if;
        return null;
      end $$;
    create trigger fail_twice before insert on pets execute function fail_twice()`,
  )
  const name = randomUUID()
  const response = await create(name)
  await sql(databaseUrl, 'drop trigger fail_twice on pets')
  expect(response.status).toBe(201)
  expect(await rowsNamed(name)).toBe(1)
})

test('a fault of our own is 500 without a word of internals', async () => {
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
  // The client of every test refuses a 500; here it is what we want to see.
  expect(response).toBeInstanceOf(Error)
  expect((response as Error).message).toContain('internal_error')
  expect((response as Error).message).not.toContain('secret')
})

test('after all of this every connection is back in the pool', async () => {
  expect((await petstore.get('/pets')).status).toBe(200)
  await expect.poll(() => db.connections().unacknowledged, { timeout: 20_000 }).toBe(0)
  const { total, idle, waiting } = db.connections()
  expect(waiting).toBe(0)
  expect(idle).toBe(total)
  expect(total).toBeLessThanOrEqual(POOL_SIZE)
})
