// Idempotency-Key of createPet: the tests that need the database. Tests that need only HTTP are in
// test/contract/idempotency.test.ts, and tests of placeOrder in order-retries.test.ts.
import { expect, test } from 'vitest'
import { purgeIdempotencyKeys } from '../../src/store/idempotency/idempotency.ts'
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
  await purgeIdempotencyKeys(db)
  const replayed = await petstore.post('/pets', body, headers)
  expect(replayed.headers.get('idempotency-replayed')).toBe('true')
  expect(replayed.body).toEqual(first.body)

  await age('24 hours 1 minute')
  await purgeIdempotencyKeys(db)
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
      text: `select pg_advisory_xact_lock(hashtextextended('held', id)) from api_keys`,
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
    const { id: apiKeyId } = await issueApiKey(db)
    const [lock] = await sql<{ id: number }>(databaseUrl, 'select hashtext($1) as id', [job])
    const key = findKeyWithHash(BigInt(lock?.id ?? 0), apiKeyId)
    const collides = 'select hashtextextended($1, $2) = hashtext($3) as same'
    expect(await sql(databaseUrl, collides, [key, apiKeyId, job])).toEqual([{ same: true }])
    await db.transaction(async (tx) => {
      expect(await lockIdempotencyKeys(tx, [{ apiKeyId, key }])).toEqual([true])
      // Another request with the same key does not get the lock, and the job gets its own.
      await db.transaction(async (other) => {
        expect(await lockIdempotencyKeys(other, [{ apiKeyId, key }])).toEqual([false])
      })
      const lockJob = 'select pg_try_advisory_xact_lock(hashtext($1)) as locked'
      expect(await sql(databaseUrl, lockJob, [job])).toEqual([{ locked: true }])
    })
  },
)

test('keys with other hashes have the same locks as in version 1.0.0, which may run at the same time', async () => {
  const { id: apiKeyId } = await issueApiKey(db)
  await db.transaction(async (tx) => {
    expect(await lockIdempotencyKeys(tx, [{ apiKeyId, key: 'ordinary' }])).toEqual([true])
    const former = 'select pg_try_advisory_xact_lock(hashtextextended($1, $2)) as locked'
    expect(await sql(databaseUrl, former, ['ordinary', apiKeyId])).toEqual([{ locked: false }])
  })
})
