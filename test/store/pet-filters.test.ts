// Filters without an index: a page examines a limited number of pets, and the next page continues there. No such filter exists
// yet, so the filters with an index are used in lists whose index does not cover them.
import { expect, test } from 'vitest'
import { COUNTED_MAX, EXAMINED_MAX, findMatchingPets, petsInRange } from '../../src/store/pets/queries.ts'
import {
  filterCondition,
  filterValues,
  type PetFilter,
  type PetFilters,
} from '../../src/store/pets/filters.ts'
import { openPetTable } from '../../src/store/pets/table.ts'
import { readPets } from '../../src/store/pets/pets.ts'
import { openApiFixture } from '../support/api-fixture.ts'

const { db, sql } = await openApiFixture()
const petTable = openPetTable(db, true, 1, () => {})
const TOTAL = 2 * EXAMINED_MAX + 100
/** The newest pet, the last one and the first one that two pages examine, and the oldest one. */
const WANTED = [TOTAL, TOTAL - EXAMINED_MAX + 1, TOTAL - EXAMINED_MAX, 1].map(BigInt)
// Newest first is the order by name too.
await sql(
  `insert into pets (id, name, category_id, status)
    select n, 'Rex ' || lpad(($2 - n)::text, 5, '0'), case when n = any($1) then 2 else 1 end,
      case when n = any($1) then 'sold' else 'available' end::pet_status
    from generate_series(1, $2::int) n`,
  [WANTED, TOTAL],
)

test.each([
  { range: {}, filters: { status: 'sold' } },
  { range: {}, filters: { categoryId: 2n } },
  { range: { status: 'sold' }, filters: { categoryId: 2n } },
  { range: { categoryId: 2n }, filters: { status: 'sold' } },
] as { range: PetFilters; filters: PetFilters }[])(
  'finds the pets of $range that match $filters, also across pages',
  async ({ range, filters }) => {
    const found: bigint[] = []
    let before: bigint | undefined
    for (;;) {
      const [pet] = await findMatchingPets(db, petsInRange(range, before), { ...range, ...filters }, 1)
      if (pet === undefined) break
      if (pet.isMatch) found.push(pet.id)
      before = pet.id
    }
    expect(found).toEqual(WANTED)
  },
)

test.each([
  ['2026-11-15T00:00:00Z', ['2026-11-15T00:00:00Z', '2026-11-15T00:00:00.000001Z']],
  ['2026-11-15T00:59:59.999999+01:00', ['2026-11-15T00:00:00Z', '2026-11-15T00:00:00.000001Z']],
  ['2026-11-15T00:00:00.000001Z', ['2026-11-15T00:00:00.000001Z']],
  ['0000-01-01T00:00:00Z', ['2026-11-15T00:00:00Z', '2026-11-15T00:00:00.000001Z']],
  ['9999-12-31T23:59:59.999999Z', []],
])('a filter by time compares microseconds: %s', async (from, found) => {
  const entry: PetFilter = {
    schema: { type: 'string', format: 'date-time' },
    text: 'from this time',
    example: '2026-11-15T00:00:00Z',
    option: '--from <time>',
    sqlType: 'timestamptz',
    matches: (value) => `at >= ${value}`,
    hasIndex: false,
  }
  const rows = await sql(
    `select text from unnest($1::text[]) as text, lateral (select text::timestamptz as at) as times
      where ${filterCondition(1, [['from', entry]])}`,
    [['2026-11-15T00:00:00Z', '2026-11-15T00:00:00.000001Z'], ...filterValues({ from }, [['from', entry]])],
  )
  expect(rows.map(({ text }) => text)).toEqual(found)
})

test('a count is exact up to 10,000, and then says that more match, or can', async () => {
  const own = await openApiFixture()
  const count = async (query: string) => (await own.get(`/pet-count${query}`)).body
  await own.sql(
    `insert into pets (name, category_id, status)
      select 'Rex ' || n, 1, case when n = 1 then 'sold' else 'available' end::pet_status
      from generate_series(1, $1::int) n`,
    [COUNTED_MAX],
  )
  const exact = { count: COUNTED_MAX, more: false }
  for (const query of ['', '?categoryId=1', '?name=rex', '?word=rex'])
    expect(await count(query)).toEqual(exact)
  expect(await count('?word=rex&status=sold')).toEqual({ count: 1, more: false })
  await own.sql(`insert into pets (name, category_id) values ('Rex', 1)`)
  for (const query of ['', '?categoryId=1', '?name=rex', '?word=rex'])
    expect(await count(query)).toEqual({ ...exact, more: true })
  expect(await count('?status=sold')).toEqual({ count: 1, more: false })
  // Of the newest 10,001 pets, the sold one is the last. One more, and it is not examined.
  expect(await count('?word=rex&status=sold')).toEqual({ count: 1, more: true })
  await own.sql(`insert into pets (name, category_id) values ('Rex', 1)`)
  expect(await count('?word=rex&status=sold')).toEqual({ count: 0, more: true })
})

test('a list by name examines a limited number of pets for a page, and the next page continues there', async () => {
  const pages: bigint[][] = []
  let after: Awaited<ReturnType<typeof readPets>>['next']
  do {
    const { json, next } = await readPets(petTable, { name: 'rex', categoryId: 2n }, { after, limit: 20 })
    pages.push((JSON.parse(json) as { id: number }[]).map(({ id }) => BigInt(id)))
    after = next
  } while (after !== undefined)
  expect(pages).toEqual([WANTED.slice(0, 2), WANTED.slice(2, 3), WANTED.slice(3)])
})
