// Idempotency-Key of createPet: the tests that need the database. Tests that need only HTTP are in
// test/contract/idempotency.test.ts, and tests of placeOrder in orders-retries.test.ts.
import { expect, test } from 'vitest'
import { AppError } from '../../src/contract/errors.ts'
import type { Db } from '../../src/db/database.ts'
import { runIdempotentBatch, doOnce, purgeIdempotencyKeys } from '../../src/store/idempotency/idempotency.ts'
import { lockIdempotencyKeys } from '../../src/store/idempotency/queries.ts'
import { issueApiKey, startApp } from '../support/app.ts'
import { createTestDatabase, openTestDatabase, sql } from '../support/database.ts'
import { findKeyWithHash } from '../support/key-with-hash.ts'

const databaseUrl = await createTestDatabase()
const db = openTestDatabase(databaseUrl)
const petstore = await startApp(db)

test('an Idempotency-Key belongs to one API key', async () => {
  const other = (await issueApiKey(db)).text
  const headers = { 'idempotency-key': 'shared' }
  const body = { name: 'Otis', categoryId: 1 }
  const first = await petstore.post('/pets', body, headers)
  const second = await petstore.call('POST', '/v1/pets', { body, headers, apiKey: other })
  expect(second.status).toBe(201)
  expect(second.headers.get('idempotency-replayed')).toBeNull()
  expect(second.body).not.toEqual(first.body)
})

/** More batches than any purge of these tests needs. */
const BATCHES_MAX = 10

/** Purges stored responses. Returns the number of batches, and fails if it does not end. */
async function purge(): Promise<number> {
  let batches = 0
  const write: Db['write'] = (statement) => {
    batches += 1
    if (batches > BATCHES_MAX) throw new Error(`the purge does not end after ${BATCHES_MAX} batches`)
    return db.write(statement)
  }
  await purgeIdempotencyKeys({ ...db, write })
  return batches
}

test('a purge ends with the first batch that is not full', async () => {
  const store = (count: number) =>
    sql(
      databaseUrl,
      `insert into idempotency_keys (actor_id, key, fingerprint, response, created_at)
        select 1, 'many ' || n, '', '', now() - interval '2 days' from generate_series(1, $1::int) n`,
      [count],
    )
  expect(await purge()).toBe(1)
  await store(2_001)
  expect(await purge()).toBe(3)
  expect(await sql(databaseUrl, `select from idempotency_keys where key like 'many %'`)).toEqual([])
  await store(1_000)
  expect(await purge()).toBe(2)
})

test('of two requests of one batch with the same new key, only the first is done, and the second is rejected', async () => {
  const requestOf = (key: string) => ({ actorId: 1n, key, operation: 'test', values: [key] })
  const done: number[][] = []
  const outcomes = await runIdempotentBatch(db, ['a', 'b', 'a'].map(requestOf), async (_tx, indexes) => {
    done.push(indexes)
    return indexes.map(String)
  })
  expect(done).toEqual([[0, 1]])
  expect(outcomes).toEqual([
    { response: '0', replayed: false },
    { response: '1', replayed: false },
    { rejection: expect.objectContaining({ code: 'idempotency_key_in_use' }) },
  ])
})

test('the lock of a key ends with its transaction, also if the work is rejected', async () => {
  const request = (key: string) => ({ actorId: 1n, key, operation: 'test', values: [] })
  await doOnce(db, request('done'), async () => 'done')
  const rejected = doOnce(db, request('rejected'), () => Promise.reject(new AppError('pet_not_found')))
  await expect(rejected).rejects.toMatchObject({ code: 'pet_not_found' })
  const locks = `select from pg_locks where locktype = 'advisory'
    and database = (select oid from pg_database where datname = current_database())`
  expect(await sql(databaseUrl, locks)).toEqual([])
})

test('an Idempotency-Key is stored for 24 hours, then purged', async () => {
  const headers = { 'idempotency-key': 'old' }
  const body = { name: 'Nala', categoryId: 1 }
  const first = await petstore.post('/pets', body, headers)
  const age = (interval: string) =>
    sql(
      databaseUrl,
      `update idempotency_keys set created_at = now() - interval '${interval}' where key = 'old'`,
    )

  await age('23 hours 59 minutes')
  await purge()
  const replayed = await petstore.post('/pets', body, headers)
  expect(replayed.headers.get('idempotency-replayed')).toBe('true')
  expect(replayed.body).toEqual(first.body)

  await age('24 hours 1 minute')
  await purge()
  const retried = await petstore.post('/pets', body, headers)
  expect(retried.headers.get('idempotency-replayed')).toBeNull()
  expect(retried.body).not.toEqual(first.body)
})

test('returns 409 without waiting while a create with the same Idempotency-Key is in flight', async () => {
  const body = { name: 'Freya', categoryId: 1 }
  const headers = { 'idempotency-key': 'held' }
  await db.transaction(async (tx) => {
    await tx.read({
      name: 'hold',
      text: `select pg_advisory_xact_lock(hashtextextended('held', id)) from actors`,
      values: [],
    })
    // The lock is released only after this response, so a create that waits for the lock would hang.
    const response = await petstore.post('/pets', body, headers)
    expect(response).toMatchObject({ status: 409, body: { code: 'idempotency_key_in_use' } })
  })
  expect((await petstore.post('/pets', body, headers)).status).toBe(201)
})

test.each(['petstore sequence events', 'petstore fold counts', 'petstore create webhook'])(
  'an Idempotency-Key cannot take the lock of %s, whatever its hash is',
  async (job) => {
    const { actorId } = await issueApiKey(db)
    const [lock] = await sql<{ id: number }>(databaseUrl, 'select hashtext($1) as id', [job])
    const key = findKeyWithHash(BigInt(lock?.id ?? 0), actorId)
    const collides = 'select hashtextextended($1, $2) = hashtext($3) as same'
    expect(await sql(databaseUrl, collides, [key, actorId, job])).toEqual([{ same: true }])
    await db.transaction(async (tx) => {
      expect(await lockIdempotencyKeys(tx, [{ actorId, key }])).toEqual([true])
      // Another request with the same key does not get the lock, and the job gets its own.
      await db.transaction(async (other) => {
        expect(await lockIdempotencyKeys(other, [{ actorId, key }])).toEqual([false])
      })
      const lockJob = 'select pg_try_advisory_xact_lock(hashtext($1)) as locked'
      expect(await sql(databaseUrl, lockJob, [job])).toEqual([{ locked: true }])
    })
  },
)
