// GET /v1/pets?word=…: search by the start of any word of the name.
import { expect, test } from 'vitest'
import { EXAMINED_MAX } from '../../src/store/pets/queries.ts'
import { cursorOf, openApiFixture, shareApiFixture, walkPages } from '../support/api-fixture.ts'
import { faultyFields, type Pet, rows, walk } from '../support/pets.ts'

const api = await openApiFixture()
const emptyApi = shareApiFixture()

const NAMES = [
  'Ruby (Whippet)',
  'whip',
  'Lavacalo (Maine Coon) 38001738',
  'Main Street Cooney',
  'Hermann’s',
  "O'Neill",
  'Luna+Rex/Max_Moritz',
  'ΝΙΚΟΣ ΣΟΦΟΣΑ',
  'Zoe\u0301 कुत्ता',
  '🐕Ω 🐈',
  "back\\slash 'quoted' :* & | ! <->",
  '小狗、大貓',
  'Q'.repeat(500),
  '🐕'.repeat(500),
]
for (const name of NAMES) await api.addPet({ name })

test.each([
  { typed: 'ruby', found: ['Ruby (Whippet)'] },
  { typed: 'WHIP', found: ['Ruby (Whippet)', 'whip'] },
  { typed: '(whippet)', found: ['Ruby (Whippet)'] },
  { typed: 'hippet', found: [] },
  { typed: '38001', found: ['Lavacalo (Maine Coon) 38001738'] },
  { typed: 'main', found: ['Lavacalo (Maine Coon) 38001738', 'Main Street Cooney'] },
  { typed: 'coon maine', found: ['Lavacalo (Maine Coon) 38001738'] },
  { typed: 'main coo', found: ['Lavacalo (Maine Coon) 38001738', 'Main Street Cooney'] },
  { typed: 'maine whippet', found: [] },
  { typed: 'hermann', found: ['Hermann’s'] },
  { typed: "hermann's", found: ['Hermann’s'] },
  { typed: 'neil', found: ["O'Neill"] },
  { typed: 'rex', found: ['Luna+Rex/Max_Moritz'] },
  { typed: 'mor', found: ['Luna+Rex/Max_Moritz'] },
  { typed: 'νικοσ', found: ['ΝΙΚΟΣ ΣΟΦΟΣΑ'] },
  { typed: 'ΣΟΦΟΣ', found: ['ΝΙΚΟΣ ΣΟΦΟΣΑ'] },
  { typed: 'zoe', found: ['Zoe\u0301 कुत्ता'] },
  { typed: 'कुत्', found: ['Zoe\u0301 कुत्ता'] },
  { typed: '🐈', found: ['🐕Ω 🐈'] },
  { typed: 'quot', found: ["back\\slash 'quoted' :* & | ! <->"] },
  { typed: 'back\\', found: ["back\\slash 'quoted' :* & | ! <->"] },
  { typed: '大', found: ['小狗、大貓'] },
  { typed: 'q', found: ["back\\slash 'quoted' :* & | ! <->", 'Q'.repeat(500)] },
  { typed: '🐕'.repeat(100), found: ['🐕'.repeat(500)] },
  { typed: '(', found: [] },
  { typed: ':*', found: [] },
  { typed: ' ', found: [] },
])('the word "$typed" finds $found', async ({ typed, found }) => {
  const { body } = await api.get(`/pets?word=${encodeURIComponent(typed)}`)
  const names = (body as Pet[]).map(({ name }) => name)
  expect(names).toEqual(found.toReversed())
})

test('looks at the first 80 characters of a name, whatever their size in bytes', async () => {
  const own = await emptyApi()
  const long = `Ruby ${'🐕'.repeat(70)} cat dog ${'x'.repeat(400)}`
  await own.addPet({ name: long })
  const find = async (word: string) => (await own.get(`/pets?word=${word}`)).body
  for (const word of ['ruby', 'cat', 'cat+rub']) expect(await find(word)).toMatchObject([{ name: long }])
  for (const word of ['dog', 'ruby+dog', 'xxx']) expect(await find(word)).toEqual([])
})

test('finds a pet by a new name, and no longer by the former name or after its deletion', async () => {
  const find = async (word: string) => (await api.get(`/pets?word=${word}`)).body
  const { id } = await api.addPet({ name: 'Old Before' })
  await api.patch(id, { name: 'New After' })
  expect(await find('before')).toEqual([])
  expect(await find('after')).toMatchObject([{ id }])
  await api.remove(`/pets/${id}`)
  expect(await find('after')).toEqual([])
})

/** Two thirds of the ids are in other ranges of the index than their neighbours, with gaps of any size. */
const IDS = [1, 2, 32_767, 32_768, 32_769, 65_535, 65_536, 10_000_000, 2 ** 40, 2 ** 40 + 1, 2 ** 49]

test('returns each pet once, newest first, across the ranges of the index, gaps and pages of any size', async () => {
  const own = await emptyApi()
  const statuses = ['available', 'sold']
  for (const [index, id] of IDS.entries())
    await own.sql('insert into pets (id, name, category_id, status) values ($1, $2, $3, $4)', [
      id,
      index % 4 === 3 ? 'Rex (Poodle)' : `The Whippet ${index}`,
      1 + (index % 3),
      statuses[index % 2],
    ])
  const all = await walk(own, '/v1/pets?limit=100')
  expect(all.map(({ id }) => id)).toEqual(IDS.toReversed())
  const whippets = all.filter(({ name }) => name.includes('Whippet'))
  for (const limit of [1, 2, 3, 100]) {
    for (const query of ['', '&status=sold', '&categoryId=2', '&status=available&categoryId=1']) {
      const { searchParams: wanted } = new URL(`http://x/?${query}`)
      const expected = whippets.filter(
        ({ status, categoryId }) =>
          status === (wanted.get('status') ?? status) &&
          String(categoryId) === (wanted.get('categoryId') ?? String(categoryId)),
      )
      const pages = await walkPages<Pet>(own, `/pets?word=whip&limit=${limit}${query}`)
      expect(pages.flat()).toEqual(expected)
      expect(pages.slice(0, -1).every((page) => page.length === limit)).toBe(true)
    }
  }
})

test('a page examines a limited number of pets that have the word, and the next page continues there', async () => {
  const own = await emptyApi()
  const total = 2 * EXAMINED_MAX + 100
  // The pets of category 2 are the newest one, the last one and the first one that two pages examine, and the oldest one.
  const matching = [total, total - EXAMINED_MAX + 1, total - EXAMINED_MAX, 1]
  await own.sql(
    `insert into pets (id, name, category_id) select n, 'Rex (Poodle)', case when n = any($1) then 2 else 1 end
      from generate_series(1, $2::int) n`,
    [matching, total],
  )
  const idsOf = (pages: Pet[][]) => pages.map((page) => page.map(({ id }) => id))
  const search = (query: string) => walkPages<Pet>(own, `/pets?word=pood&${query}`)
  expect(idsOf(await search('categoryId=2'))).toEqual([matching.slice(0, 2), matching.slice(2, 3), [1]])
  expect(idsOf(await search('categoryId=2&limit=1'))).toEqual(matching.map((id) => [id]))
  expect(idsOf(await search('categoryId=3'))).toEqual([[], [], []])
  expect(idsOf(await search('status=sold'))).toEqual([[], [], []])
  // Two words: the index finds the longer one.
  expect((await walkPages<Pet>(own, '/pets?word=cat+poodle')).flat()).toEqual([])
  expect(await search('categoryId=1&limit=100')).toHaveLength(Math.ceil((total - matching.length) / 100))
})

test.each(
  rows(['word=a&name=b', 'word=a&id=1', 'word=', 'word=a&word=b', 'word=a%00b', `word=${'a'.repeat(101)}`]),
)('rejects ?$shown (400)', async ({ value }) => {
  const response = await api.get(`/pets?${value}`)
  expect(response).toMatchObject({ status: 400, body: { code: 'invalid_parameter' } })
  expect(faultyFields(response)).toHaveLength(1)
})

test('rejects a cursor with another word than it was made with, and with no word (400)', async () => {
  const cursor = cursorOf(await api.get('/pets?word=whip&limit=1'), api)
  for (const query of ['word=whi', 'name=whip', 'word=whip&status=sold', 'limit=1'])
    expect(await api.get(`/pets?${query}&cursor=${cursor}`)).toMatchObject({
      status: 400,
      body: { code: 'invalid_cursor' },
    })
  expect((await api.get(`/pets?word=whip&cursor=${cursor}`)).body).toMatchObject([{ name: 'Ruby (Whippet)' }])
})
