// GET /v1/pets?name=…: search by name prefix.
import { describe, expect, test } from 'vitest'
import {
  cursorOf,
  openApiFixture,
  shareApiFixture,
  type ApiFixture,
  walkPages,
} from '../support/api-fixture.ts'
import { faultyFields, type Pet, rows } from '../support/pets.ts'

const api = await openApiFixture()
const search = (name: string, query = '', at: ApiFixture = api) =>
  at.get(`/pets?name=${encodeURIComponent(name)}${query}`)
const find = async (name: string, at: ApiFixture = api) =>
  ((await search(name, '&limit=100', at)).body as Pet[]).map((pet) => pet.name)

const emptyApi = shareApiFixture()

const NAMES = ['Äpfelchen', 'äpfelin', 'Apfel', 'ÉCLAIR', 'éclat', 'Eclair', 'ÖL', 'über', 'ЖУК', 'жучка']
const SIGNS = [
  '100%',
  '100x',
  'a_b',
  'axb',
  'back\\slash',
  'backslash',
  "O'Neill",
  '"quoted"',
  'a b',
  'a+b',
  '(x)',
]
const others = await openApiFixture()
for (const name of [...NAMES, ...SIGNS, 'Ω🐕 Rex', 'Ω🐈', 'Biscuit', 'a Biscuit', 'xBiscuit']) {
  await others.addPet({ name })
}

test.each([
  { typed: 'ä', found: ['Äpfelchen', 'äpfelin'] },
  { typed: 'Ä', found: ['Äpfelchen', 'äpfelin'] },
  { typed: 'ÄPFELI', found: ['äpfelin'] },
  { typed: 'écl', found: ['ÉCLAIR', 'éclat'] },
  { typed: 'ÉCLA', found: ['ÉCLAIR', 'éclat'] },
  { typed: 'ecl', found: ['Eclair'] },
  { typed: 'öl', found: ['ÖL'] },
  { typed: 'ÜBER', found: ['über'] },
  { typed: 'жу', found: ['ЖУК', 'жучка'] },
  { typed: 'ω🐕', found: ['Ω🐕 Rex'] },
  { typed: 'Ω', found: ['Ω🐈', 'Ω🐕 Rex'] },
  { typed: 'BISCUIT', found: ['Biscuit'] },
  { typed: 'iscuit', found: [] },
  { typed: 'biscuit ', found: [] },
  { typed: '100%', found: ['100%'] },
  { typed: '%', found: [] },
  { typed: 'A_', found: ['a_b'] },
  { typed: '_', found: [] },
  { typed: 'back\\', found: ['back\\slash'] },
  { typed: '\\', found: [] },
  { typed: "o'n", found: ["O'Neill"] },
  { typed: '"Q', found: ['"quoted"'] },
  { typed: 'a ', found: ['a b', 'a Biscuit'] },
  { typed: 'a+', found: ['a+b'] },
  { typed: '(', found: ['(x)'] },
  { typed: '.', found: [] },
])('the search text "$typed" finds $found', async ({ typed, found }) => {
  expect((await find(typed, others)).toSorted()).toEqual(found.toSorted())
})

test.each([
  { name: 'ΣΟΦΟΣΑ', typed: 'ΣΟΦΟΣ', why: 'a capital sigma at the end of the search text' },
  { name: 'ΝΙΚΟΣ', typed: 'νικοσ', why: 'a capital sigma at the end of the name' },
  { name: 'Last\u{10ffff}of all', typed: 'last', why: 'the last Unicode code point in the name' },
])('finds a pet despite $why', async ({ name, typed }) => {
  await api.addPet({ name })
  expect(await find(typed)).toEqual([name])
})

test('finds a name of 500 characters by its first character and by the whole name', async () => {
  for (const letter of ['Q', '🐕', 'İ']) {
    const name = letter.repeat(500)
    await api.addPet({ name })
    expect(await find(name)).toEqual([name])
    expect(await find(name.slice(0, letter.length))).toEqual([name])
  }
  expect(await find('q'.repeat(500))).toEqual(['Q'.repeat(500)])
})

test('pages through names of the maximum length', async () => {
  const names = ['a', 'b', 'c'].map((last) => `${'🐈'.repeat(499)}${last}`)
  for (const name of names) await api.addPet({ name })
  const prefix = encodeURIComponent('🐈'.repeat(499))
  const pages = await walkPages<Pet>(api, `/pets?name=${prefix}&limit=1`)
  expect(pages.flat().map(({ name }) => name)).toEqual(names)
})

describe('search results', () => {
  test('are sorted by case-insensitive name, then by id, across pages of any size', async () => {
    const names = ['rex b', 'Rex', 'rex', 'REX A', 'Rex', 'rexa', 'rex', 'Rexine', 'Bello', 'Rex\u{1f415}']
    const own = await emptyApi()
    for (const name of names) await own.addPet({ name })
    const key = ({ name, id }: Pet) => `${name.toLowerCase()}\u0001${id}`
    const byBytes = (a: Pet, b: Pet) => Buffer.compare(Buffer.from(key(a)), Buffer.from(key(b)))
    const all = ((await own.get('/pets')).body as Pet[]).filter(({ name }) => /^rex/i.test(name))
    for (const limit of [1, 2, 3, 8, 9, 100]) {
      const pages = await walkPages<Pet>(own, `/pets?name=ReX&limit=${limit}`)
      expect(pages.flat()).toEqual(all.toSorted(byBytes))
      expect(pages.slice(0, -1).every((page) => page.length === limit)).toBe(true)
    }
  })

  test('contain each pet exactly once, even if many have the same name, on pages of 1 and of 7', async () => {
    const own = await emptyApi()
    const pets = await Promise.all(Array.from({ length: 25 }, () => own.addPet({ name: 'Twin' })))
    for (const limit of [1, 7]) {
      const pages = await walkPages<Pet>(own, `/pets?name=twin&limit=${limit}`)
      expect(pages.flat().map(({ id }) => id)).toEqual(pets.map(({ id }) => id).toSorted((a, b) => a - b))
    }
    expect((await own.get('/pets?name=twin')).body).toHaveLength(20)
  })

  test('reflect a new name and a deletion', async () => {
    const { id } = await api.addPet({ name: 'Before' })
    await api.patch(id, { name: 'Zafter' })
    expect(await find('before')).toEqual([])
    expect(await find('zaft')).toEqual(['Zafter'])
    await api.remove(`/pets/${id}`)
    expect(await find('zaft')).toEqual([])
  })

  test('do not contain the sort key', async () => {
    await api.addPet({ name: 'Keyless' })
    const [pet] = (await search('keyless')).body as Pet[]
    expect(Object.keys(pet ?? {}).toSorted()).toEqual(['categoryId', 'id', 'name', 'status'])
  })
})

describe('a search within a status', () => {
  test('returns only pets with the status, sorted by name across pages of any size', async () => {
    const own = await emptyApi()
    const statuses = ['available', 'pending', 'sold'] as const
    const names = ['Labrador', 'labradoodle', 'LAB', 'Lab', 'lab', 'Labrador', 'Beagle', 'Lab\u{10ffff}']
    for (const [index, name] of names.entries()) {
      for (const status of statuses.slice(index % 3)) await own.addPet({ name, status })
    }
    const [all = []] = await walkPages<Pet>(own, '/pets?name=lab&limit=100')
    expect(all).toHaveLength(14)
    for (const status of statuses) {
      for (const limit of [1, 2, 3, 100]) {
        const pages = await walkPages<Pet>(own, `/pets?name=lAb&status=${status}&limit=${limit}`)
        expect(pages.flat()).toEqual(all.filter((pet) => pet.status === status))
        expect(pages.slice(0, -1).every((page) => page.length === limit)).toBe(true)
      }
    }
  })

  test('returns no pet if all pets with the name have another status', async () => {
    const { id } = await api.addPet({ name: 'Xylo', status: 'sold' })
    expect((await search('xylo', '&status=available')).body).toEqual([])
    await api.patch(id, { status: 'available' })
    expect((await search('xylo', '&status=available')).body).toMatchObject([{ id }])
    expect((await search('xylo', '&status=sold')).body).toEqual([])
  })

  test('rejects a cursor of a search with another status, or without one (400)', async () => {
    for (const name of ['Mark 1', 'Mark 2', 'Mark 3']) await api.addPet({ name })
    const within = cursorOf(await search('mark', '&status=available&limit=1'), api)
    const without = cursorOf(await search('mark', '&limit=1'), api)
    for (const query of [
      `&cursor=${within}`,
      `&status=sold&cursor=${within}`,
      `&status=available&cursor=${without}`,
    ]) {
      expect(await search('mark', query)).toMatchObject({ status: 400, body: { code: 'invalid_cursor' } })
    }
    expect((await search('mark', `&status=available&limit=1&cursor=${within}`)).body).toMatchObject([
      { name: 'Mark 2' },
    ])
  })
})

describe('invalid searches', () => {
  const queries = [
    'name=a&categoryId=1',
    'name=a&status=none',
    'name=a&status=sold&categoryId=1',
    'name=a&id=1',
    'name=',
    'name=a&name=b',
    'name=a%00b',
    `name=${'a'.repeat(501)}`,
    'name=a&limit=0',
  ]

  test.each(rows(queries))('rejects ?$shown (400)', async ({ value }) => {
    const response = await api.get(`/pets?${value}`)
    expect(response).toMatchObject({ status: 400, body: { code: 'invalid_parameter' } })
    expect(faultyFields(response)).toHaveLength(1)
  })

  test('rejects a cursor with another name than it was made with, and with no name (400)', async () => {
    for (const name of ['Cursor 1', 'Cursor 2']) await api.addPet({ name })
    const cursor = cursorOf(await search('cursor', '&limit=1'), api)
    const plain = cursorOf(await api.get('/pets?limit=1'), api)
    for (const query of [`name=curso&cursor=${cursor}`, `cursor=${cursor}`, `name=cursor&cursor=${plain}`]) {
      expect(await api.get(`/pets?${query}`)).toMatchObject({
        status: 400,
        body: { code: 'invalid_cursor' },
      })
    }
    expect((await search('cursor', `&cursor=${cursor}`)).body).toMatchObject([{ name: 'Cursor 2' }])
  })
})

describe('sort=name', () => {
  const names = ['b', 'Ab', 'aa', 'B', 'a', 'Äb', '100']
  const sorted = ['100', 'a', 'aa', 'Ab', 'b', 'B', 'Äb']

  test('returns each pet of all statuses, or of one, once, by name and then by id', async () => {
    const own = await openApiFixture()
    const statuses = ['available', 'pending', 'sold'] as const
    for (const [index, name] of names.entries())
      await own.addPet({ name, status: statuses[index % 3] as string })
    for (const limit of [1, 2, 3, 7, 100]) {
      const pages = await walkPages<Pet>(own, `/pets?sort=name&limit=${limit}`)
      expect(pages.flat().map(({ name }) => name)).toEqual(sorted)
    }
    for (const status of statuses) {
      const pages = await walkPages<Pet>(own, `/pets?sort=name&limit=2&status=${status}`)
      const expected = sorted.filter((name) => statuses[names.indexOf(name) % 3] === status)
      expect(pages.flat().map(({ name }) => name)).toEqual(expected)
    }
  })

  test('rejects other fields, categoryId, id, and a cursor of another sort order (400)', async () => {
    for (const query of ['sort=id', 'sort=', 'sort=name&categoryId=1', 'sort=name&id=1']) {
      const response = await api.get(`/pets?${query}`)
      expect(response).toMatchObject({ status: 400, body: { code: 'invalid_parameter' } })
      expect(faultyFields(response)).toEqual(['sort'])
    }
    await Promise.all([api.addPet(), api.addPet()])
    const cursor = cursorOf(await api.get('/pets?limit=1'), api)
    const response = await api.get(`/pets?sort=name&cursor=${cursor}`)
    expect(response).toMatchObject({ status: 400, body: { code: 'invalid_cursor' } })
  })
})
