// PostgreSQL builds the JSON of list pages. It must be the text that JSON.stringify builds from the same pets.
import { expect, test } from 'vitest'
import { findPetPages } from '../../src/store/pets/queries.ts'
import { INT64_MAX } from '../../src/values/int64.ts'
import { createTestDatabase, openTestDatabase, sql } from '../support/database.ts'

const CODE_POINTS = 0x110000
const NAME_LENGTH = 500

/** All characters that a name can contain, in names of 500. NUL and surrogates cannot be stored. */
function* names(): Generator<string> {
  let name = ''
  let length = 0
  for (let point = 1; point < CODE_POINTS; point += 1) {
    if (point >= 0xd800 && point <= 0xdfff) continue
    name += String.fromCodePoint(point)
    length += 1
    if (length < NAME_LENGTH) continue
    yield name
    name = ''
    length = 0
  }
  if (name !== '') yield name
}

test('every character, and the largest ids, have the same JSON as with JSON.stringify', async () => {
  const databaseUrl = await createTestDatabase()
  const db = openTestDatabase(databaseUrl)
  const pets = [...names()].map((name, index) => ({
    id: INT64_MAX - 1n - BigInt(index),
    name,
    categoryId: index % 2 === 0 ? INT64_MAX : 1n,
    status: (['available', 'pending', 'sold'] as const)[index % 3] as string,
  }))
  await sql(
    databaseUrl,
    `insert into pets (id, name, category_id, status) select * from unnest($1::bigint[], $2::text[], $3::bigint[], $4::pet_status[])`,
    [
      pets.map(({ id }) => id),
      pets.map(({ name }) => name),
      pets.map(({ categoryId }) => categoryId),
      pets.map(({ status }) => status),
    ],
  )
  const toJson = ({ id, name, categoryId, status }: (typeof pets)[number]) =>
    `{"id":${id},"name":${JSON.stringify(name)},"categoryId":${categoryId},"status":${JSON.stringify(status)}}`
  let compared = 0
  for (let at = 0; at < pets.length; at += 100) {
    const expected = pets.slice(at, at + 100)
    const beforeId = (expected[0]?.id ?? 0n) + 1n
    const [page] = await findPetPages(db, '', [{ filters: {}, beforeId, max: 100 }])
    const isLast = at + 100 >= pets.length
    const lastId = isLast ? null : expected.at(-1)?.id
    expect(page).toEqual({ json: `[${expected.map(toJson).join(',')}]`, lastId })
    compared += expected.length
  }
  expect(compared).toBe(Math.ceil((CODE_POINTS - 1 - 2_048) / NAME_LENGTH))
})
