// A request gets a response even if its work never completes.
import { expect, test } from 'vitest'
import { openPetTable } from '../../src/store/pets/table.ts'
import { startApp } from '../support/app.ts'
import { createTestDatabase, openTestDatabase } from '../support/database.ts'

const db = openTestDatabase(await createTestDatabase())
const never = () => new Promise<never>(() => {})
const petstore = await startApp(db, {
  petTable: { ...openPetTable(db, true, 1, () => {}), findPet: never, insertPet: never },
  responseTimeoutMs: 200,
})

test('a read that exceeds the response timeout returns 503 unavailable', async () => {
  const response = await petstore.get('/pets/1')
  expect([response.status, response.body]).toMatchObject([503, { code: 'unavailable' }])
  expect(response.headers.get('retry-after')).toBe('1')
})

test('a write that exceeds the response timeout returns 503 outcome_unknown, because it may still be committed', async () => {
  const response = await petstore.post('/pets', { name: 'Rex', categoryId: 1 })
  expect([response.status, response.body]).toMatchObject([503, { code: 'outcome_unknown' }])
})

test('the timeout does not affect requests that complete in time', async () => {
  // Poll, because the first requests may exceed the timeout on a busy host.
  const status = async () => (await petstore.get('/pets?limit=1')).status
  await expect.poll(status).toBe(200)
  // The check that ends this request has also seen the ones above.
  expect((await petstore.get('/pets/1')).status).toBe(503)
  await expect.poll(status).toBe(200)
})
