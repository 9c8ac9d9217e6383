import { expect, test } from 'vitest'
import { upsertCategories } from '../../src/categories/queries.ts'
import { purgeIdempotencyKeys } from '../../src/idempotency/idempotency.ts'
import { issueApiKey, startApp } from '../support/app.ts'
import { createTestDatabase, openTestDatabase, sql } from '../support/database.ts'

const databaseUrl = await createTestDatabase()
const db = openTestDatabase(databaseUrl)
const petstore = await startApp(db)

test('CATEGORIES=strict accepts a named category and refuses any other with 400', async () => {
  const strict = await startApp(db, { categoryPolicy: 'strict' })
  await upsertCategories(db, [{ id: 7n, name: 'Cats' }])
  const known = await strict.post('/pets', { name: 'Luna', categoryId: 7 })
  expect(known.status).toBe(201)
  const unknown = await strict.post('/pets', { name: 'Luna', categoryId: 8 })
  expect(unknown.status).toBe(400)
  expect(unknown.body).toMatchObject({ code: 'unknown_category', details: [{ field: 'categoryId' }] })
  const retried = await strict.post('/pets', { name: 'Luna', categoryId: 8 }, { 'idempotency-key': 'strict' })
  expect(retried.status).toBe(400)
})

test('an animal remembers who added it, when, and by which request', async () => {
  const { body, headers } = await petstore.post('/pets', { name: 'Milo', categoryId: 1 })
  const [row] = await sql(
    databaseUrl,
    `select api_keys.name, request_id, now() - pets.created_at < '1 minute' as recent
      from pets join api_keys on api_keys.id = created_by where pets.id = $1`,
    [(body as { id: number }).id],
  )
  expect(row).toEqual({ name: 'test', request_id: headers.get('x-request-id'), recent: true })
})

test('two API keys may use the same Idempotency-Key without meeting each other', async () => {
  const other = (await issueApiKey(db)).text
  const headers = { 'idempotency-key': 'shared' }
  const body = { name: 'Otis', categoryId: 1 }
  const first = await petstore.post('/pets', body, headers)
  const second = await petstore.call('POST', '/v1/pets', { body, headers, apiKey: other })
  expect(second.status).toBe(201)
  expect(second.headers.get('idempotency-replayed')).toBeNull()
  expect(second.body).not.toEqual(first.body)
})

test('an Idempotency-Key is kept for 24 hours and purged after', async () => {
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
  const again = await petstore.post('/pets', body, headers)
  expect(again.headers.get('idempotency-replayed')).toBeNull()
  expect(again.body).not.toEqual(first.body)
})

test('a create that still runs under the same Idempotency-Key answers 409 at once', async () => {
  const body = { name: 'Freya', categoryId: 1 }
  const headers = { 'idempotency-key': 'held' }
  const timed = async (key: string) => {
    const startedAt = performance.now()
    const response = await petstore.post('/pets', body, { 'idempotency-key': key })
    return { response, ms: performance.now() - startedAt }
  }
  // How long the host takes for a create that nothing holds up.
  const free = await timed('free')
  await db.transaction(async (tx) => {
    await tx.read({
      name: 'hold',
      text: `select pg_advisory_xact_lock(hashtextextended('held', id)) from api_keys`,
      values: [],
    })
    const { response, ms } = await timed('held')
    expect(response.status).toBe(409)
    expect(response.body).toMatchObject({ code: 'idempotency_key_in_use' })
    expect(ms).toBeLessThan(1_000 + 10 * free.ms)
  })
  const after = await petstore.post('/pets', body, headers)
  expect(after.status).toBe(201)
})
