// createPet: the tests that need the database or a setting. Tests that need only HTTP are in test/contract/create-pet.test.ts.
import { expect, test } from 'vitest'
import { upsertCategories } from '../../src/store/categories/queries.ts'
import { startApp } from '../support/app.ts'
import { createTestDatabase, openTestDatabase, sql } from '../support/database.ts'

const databaseUrl = await createTestDatabase()
const db = openTestDatabase(databaseUrl)
const petstore = await startApp(db)

test('CATEGORIES=strict accepts a named category and rejects any other (400)', async () => {
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

test('stores the API key, the time and the request id with which a pet was created', async () => {
  const { body, headers } = await petstore.post('/pets', { name: 'Milo', categoryId: 1 })
  const [row] = await sql(
    databaseUrl,
    `select api_keys.name, request_id, now() - pets.created_at < '1 minute' as recent
      from pets join api_keys on api_keys.id = created_by where pets.id = $1`,
    [(body as { id: number }).id],
  )
  expect(row).toEqual({ name: 'test', request_id: headers.get('x-request-id'), recent: true })
})
