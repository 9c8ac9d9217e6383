// Identical concurrent list requests are coalesced into one query. Requests that differ in any parameter are not, and those
// with different filters are not batched.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { queryKey } from '../../src/http/query-key.ts'
import { openPetTable } from '../../src/store/pets/table.ts'
import { startApp } from '../support/app.ts'
import type { TestResponse } from '../support/client.ts'
import { createTestDatabase, openTestDatabase } from '../support/database.ts'

interface Parameter {
  name: string
  in: string
}
const document = JSON.parse(readFileSync(join(import.meta.dirname, '../../openapi.json'), 'utf8')) as {
  paths: Record<string, Record<string, { parameters: Parameter[] }>>
}
const documented = document.paths['/pets']?.['get']?.parameters.filter(
  (parameter) => parameter.in === 'query',
)
const names = documented?.map(({ name }) => name) ?? []

const db = openTestDatabase(await createTestDatabase())
const petTable = openPetTable(db, true, 1, () => {})
let lists = 0
let released = Promise.resolve()
const petstore = await startApp(db, {
  petTable: {
    ...petTable,
    coalescePage: (key, work) => {
      lists += 1
      return petTable.coalescePage(key, async () => {
        await released
        return work()
      })
    },
  },
})

for (const pet of [
  { name: 'Biscuit', categoryId: 1, status: 'sold', profile: { reference: 'one' } },
  { name: 'Rex', categoryId: 2, profile: { reference: 'two' } },
  { name: 'Rexy', categoryId: 1 },
  { name: 'Ada', categoryId: 3, status: 'pending' },
]) {
  expect((await petstore.post('/pets', pet)).status).toBe(201)
}

async function cursorAfter(limit: number): Promise<string> {
  const { headers } = await petstore.get(`/pets?limit=${limit}`)
  return /cursor=([\w-]+)/.exec(headers.get('link') ?? '')?.[1] ?? ''
}

/** Two values for each parameter, if it has two. The responses to the first value, the second value and no value all differ. */
const SAMPLES: Record<string, [string, string?]> = {
  limit: ['1', '2'],
  status: ['available', 'sold'],
  categoryId: ['1', '2'],
  id: ['1', '2'],
  name: ['Rex', 'Biscuit'],
  word: ['Rexy', 'Biscuit'],
  sort: ['name'],
  include: ['profile', 'times'],
  reference: ['one', 'two'],
  cursor: [await cursorAfter(1), await cursorAfter(2)],
}

test('every documented query parameter of listPets has sample values in this file', () => {
  expect(Object.keys(SAMPLES).toSorted()).toEqual(names.toSorted())
})

const facts = ({ status, text, headers }: TestResponse) => ({ status, text, link: headers.get('link') })

test.each(names)('does not coalesce concurrent requests that differ in %s', async (name) => {
  const queries = ['', ...(SAMPLES[name] ?? []).map((value) => `?${name}=${value}`)]
  const alone = []
  for (const query of queries) alone.push(facts(await petstore.get(`/pets${query}`)))
  expect(new Set(alone.map((response) => JSON.stringify(response))).size).toBe(queries.length)

  // All requests wait until the last one has arrived, so that all with the same key are coalesced.
  const { promise, resolve: release } = Promise.withResolvers<void>()
  const before = lists
  released = promise
  const rounds = [queries, queries, queries].flat()
  const responses = rounds.map((query) => petstore.get(`/pets${query}`))
  const batched = rounds.filter((query) => !query.startsWith('?id=')).length
  await expect.poll(() => lists - before).toBe(batched)
  release()
  expect((await Promise.all(responses)).map(facts)).toEqual([alone, alone, alone].flat())
})

/** No parameter, each one, and each pair, with the first and with the second value of each. Some are rejected. */
const combinations: string[][] = [
  [],
  ...names.map((name) => [name]),
  ...names.flatMap((one, index) => names.slice(index + 1).map((other) => [one, other])),
]
const everyKind = new Set(
  [0, 1].flatMap((sample) =>
    combinations.map(
      (chosen) =>
        `?${chosen.map((name) => `${name}=${SAMPLES[name]?.[sample] ?? SAMPLES[name]?.[0]}`).join('&')}`,
    ),
  ),
)

test('lists of every kind that are requested at the same time return what each returns alone', async () => {
  const queries = [...everyKind]
  const before = lists
  const alone = []
  for (const query of queries) alone.push(facts(await petstore.get(`/pets${query}`)))
  expect(alone.filter(({ status }) => status >= 500)).toEqual([])
  const accepted = new Set(alone.filter(({ status }) => status === 200).map(({ text }) => text))
  expect(accepted.size).toBeGreaterThan(2 ** 3)

  // All wait until the last one has arrived, so that their pages are batched.
  const { promise, resolve: release } = Promise.withResolvers<void>()
  const batchable = lists - before
  released = promise
  const responses = queries.map((query) => petstore.get(`/pets${query}`))
  await expect.poll(() => lists - before).toBe(2 * batchable)
  release()
  expect((await Promise.all(responses)).map(facts)).toEqual(alone)
})

test('two requests are coalesced only if all their query parameters are equal', () => {
  const keyOf = queryKey({ properties: { a: {}, b: {}, c: {} } })
  const text = fc.string({ unit: fc.constantFrom('1', ':', '-', '[', ']', '\n'), maxLength: 4 })
  const value = fc.option(fc.oneof(text, fc.array(text, { maxLength: 2 })), { nil: undefined })
  const query = fc.record({ a: value, b: value, c: value })
  fc.assert(
    fc.property(query, query, (one, other) => {
      expect(keyOf(one) === keyOf(other)).toBe(JSON.stringify(one) === JSON.stringify(other))
    }),
    { numRuns: 2_000 },
  )
})
