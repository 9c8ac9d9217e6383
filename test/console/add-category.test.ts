// Adding a category in the console, while other people add categories too.
import { Petstore } from '@petstore/client'
import { beforeEach, expect, test } from 'vitest'
import { addCategory } from '../../console/src/pets/add-category.ts'
import { issueApiKey, startApp } from '../support/app.ts'
import { createTestDatabase, openTestDatabase, sql } from '../support/database.ts'

const databaseUrl = await createTestDatabase()
const db = openTestDatabase(databaseUrl)
const { origin } = await startApp(db)
const { text: apiKey } = await issueApiKey(db)
const store = new Petstore({ baseUrl: `${origin}/v1`, apiKey })

const all = () => Array.fromAsync(store.categories.list())
const names = async () => (await all()).map(({ id, name }) => `${id} ${name}`)

beforeEach(async () => {
  await sql(databaseUrl, 'delete from categories')
})

test('people who add categories at the same moment get different ids', async () => {
  await store.categories.put(7, { name: 'Dogs' })
  const before = await all()
  // The first read of each person is of the same moment.
  const stale = () => {
    let reads = 0
    return async () => (reads++ === 0 ? before : all())
  }
  const ids = await Promise.all(['Cats', 'Fish', 'Birds'].map((name) => addCategory(store, name, stale())))
  expect(ids.sort()).toEqual(['10', '8', '9'])
  expect((await names()).map((line) => line.replace(/^\d+ /, '')).sort()).toEqual([
    'Birds',
    'Cats',
    'Dogs',
    'Fish',
  ])
})

test('a name that exists is not added again', async () => {
  const ids = await Promise.all(['Cats', 'Cats'].map((name) => addCategory(store, name, all)))
  expect(new Set(ids).size).toBe(1)
  expect(await names()).toEqual(['1 Cats'])
})

test('skips an id that the page does not know', async () => {
  await store.categories.put(1, { name: 'Dogs' })
  expect(await addCategory(store, 'Cats', async () => [])).toBe('2')
  expect(await names()).toEqual(['1 Dogs', '2 Cats'])
})
