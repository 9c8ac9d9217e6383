// Paging: cursors, and the Link header that contains them.
import { beforeAll, describe, expect, inject, test } from 'vitest'
import { openTestClient } from '../support/client.ts'
import {
  addPets,
  idsOf,
  linkTo,
  newCategoryId,
  newestFirst,
  type Pet,
  petsOf,
  rows,
  walk,
} from '../support/pets.ts'

const petstore = openTestClient(inject('contract'), { retriesBusy: true })
const categoryId = newCategoryId()
const INVALID_CURSORS = [
  ...'x 0 1 -1 null AAAA AQAAAAAAAAAA eyJpZCI6NDJ9 %20 %0d%0a %f0%9f%90%95 ..%2F.. %27or%201=1--'.split(' '),
  'A'.repeat(20),
  '_'.repeat(20),
  'A'.repeat(5_000),
]
let pets: Pet[]

beforeAll(async () => {
  pets = await addPets(petstore, 40, (index) => ({
    categoryId,
    status: index % 2 === 0 ? 'sold' : 'pending',
  }))
})

async function nextOf(path: string): Promise<string | undefined> {
  return linkTo('next', await petstore.call('GET', path), petstore.origin)
}

function cursorOf(path: string | undefined): string {
  return new URL(path ?? '', petstore.origin).searchParams.get('cursor') ?? ''
}

test.each([1, 3, 7, 20, 39, 40, 100])('pages of %d return every pet once, newest first', async (limit) => {
  const sizes: number[] = []
  const seen = await walk(petstore, `/v1/pets?categoryId=${categoryId}&limit=${limit}`, (page) => {
    sizes.push(page.length)
  })
  expect(idsOf(seen)).toEqual(newestFirst(idsOf(pets)))
  // Every page except the last is full, and the last is not empty.
  expect(sizes.slice(0, -1).every((size) => size === limit)).toBe(true)
  expect(sizes.at(-1)).toBe(40 % limit || Math.min(40, limit))
})

test('the link to the next page keeps the filters', async () => {
  const seen = await walk(petstore, `/v1/pets?status=sold&categoryId=${categoryId}&limit=6`)
  const sold = pets.filter((pet) => pet.status === 'sold')
  expect(idsOf(seen)).toEqual(newestFirst(idsOf(sold)))
})

test('every page has a link to the first one, with the same parameters', async () => {
  const path = `/v1/pets?limit=25&status=sold&categoryId=${categoryId}&include=times`
  const first = await petstore.call('GET', path)
  for (const from of [path, await nextOf(`/v1/pets?limit=6&categoryId=${categoryId}`)]) {
    const page = await petstore.call('GET', from ?? '')
    const target = linkTo('first', page, petstore.origin) ?? ''
    expect(target).not.toContain('cursor')
    expect([...new URL(target, petstore.origin).searchParams.keys()].length).toBeGreaterThan(1)
  }
  const target = linkTo('first', first, petstore.origin) ?? ''
  expect((await petstore.call('GET', target)).body).toEqual(first.body)
})

test('returns a Link to the next page only if there is one', async () => {
  expect(await nextOf(`/v1/pets?categoryId=${categoryId}&limit=39`)).toBeDefined()
  expect(await nextOf(`/v1/pets?categoryId=${categoryId}&limit=40`)).toBeUndefined()
  expect(await nextOf(`/v1/pets?categoryId=${categoryId}&limit=41`)).toBeUndefined()
  expect(await nextOf(`/v1/pets?categoryId=${categoryId}&status=sold&limit=19`)).toBeDefined()
  expect(await nextOf(`/v1/pets?categoryId=${categoryId}&status=sold`)).toBeUndefined()
  expect(await nextOf(`/v1/pets?categoryId=${categoryId}`)).toBeDefined()
})

test('the next page has the same limit, 20 by default', async () => {
  const withLimit = await nextOf(`/v1/pets?categoryId=${categoryId}&limit=3`)
  expect(petsOf(await petstore.call('GET', withLimit ?? ''))).toHaveLength(3)
  const without = await nextOf(`/v1/pets?categoryId=${categoryId}`)
  expect(petsOf(await petstore.call('GET', without ?? ''))).toHaveLength(20)
})

test('accepts another limit for the next page', async () => {
  const seen: number[] = []
  let cursor = ''
  for (const limit of [1, 5, 2, 30, 100]) {
    const page = await petstore.get(`/pets?categoryId=${categoryId}&limit=${limit}${cursor}`)
    seen.push(...idsOf(petsOf(page)))
    cursor = `&cursor=${cursorOf(linkTo('next', page, petstore.origin))}`
  }
  expect(seen).toEqual(newestFirst(idsOf(pets)))
})

test('accepts a cursor if the parameters are in another order', async () => {
  const cursor = cursorOf(await nextOf(`/v1/pets?status=sold&categoryId=${categoryId}&limit=10`))
  const page = await petstore.get(`/pets?cursor=${cursor}&categoryId=${categoryId}&limit=10&status=sold`)
  expect(petsOf(page)).toHaveLength(10)
})

test('returns the same page for the same cursor', async () => {
  const next = (await nextOf(`/v1/pets?categoryId=${categoryId}&limit=4`)) ?? ''
  const first = await petstore.call('GET', next)
  expect((await petstore.call('GET', next)).text).toBe(first.text)
})

test('pets created while paging do not shift the pages', async () => {
  const ownCategory = newCategoryId()
  const before = await addPets(petstore, 12, () => ({ categoryId: ownCategory }))
  const seen = await walk(petstore, `/v1/pets?categoryId=${ownCategory}&limit=5`, () =>
    addPets(petstore, 3, () => ({ categoryId: ownCategory })),
  )
  expect(idsOf(seen)).toEqual(newestFirst(idsOf(before)))
})

describe('a cursor', () => {
  test('needs no encoding in a URL', async () => {
    const cursor = cursorOf(await nextOf(`/v1/pets?categoryId=${categoryId}&limit=1`))
    expect(cursor).toMatch(/^[A-Za-z0-9._~-]+$/)
  })

  test.each([
    { made: 'status=sold&categoryId=C', used: '' },
    { made: 'status=sold&categoryId=C', used: 'status=sold' },
    { made: 'status=sold&categoryId=C', used: 'categoryId=C' },
    { made: 'status=sold&categoryId=C', used: 'status=pending&categoryId=C' },
    { made: 'status=sold&categoryId=C', used: `status=sold&categoryId=${newCategoryId()}` },
    { made: 'categoryId=C', used: '' },
    { made: 'categoryId=C', used: 'status=sold&categoryId=C' },
    { made: 'categoryId=C', used: `categoryId=${newCategoryId()}` },
    { made: 'status=sold', used: '' },
    { made: 'status=sold', used: 'status=available' },
    { made: '', used: 'status=sold' },
    { made: '', used: 'categoryId=C' },
  ])('made with the query "$made" is rejected with "$used" (400)', async ({ made, used }) => {
    const fill = (query: string) => query.replace('C', String(categoryId))
    const cursor = cursorOf(await nextOf(`/v1/pets?${fill(made)}&limit=1`))
    expect(cursor).not.toBe('')
    const response = await petstore.get(`/pets?${fill(used)}&cursor=${cursor}`)
    expect(response).toMatchObject({ status: 400, body: { code: 'invalid_cursor' } })
  })

  test.each(rows(INVALID_CURSORS))(
    'that the service did not make is rejected (400): $shown',
    async ({ value }) => {
      const response = await petstore.get(`/pets?cursor=${value}`)
      expect(response).toMatchObject({ status: 400, body: { code: 'invalid_cursor' } })
    },
  )

  test('with an invalid percent-encoding is rejected (400 invalid_parameter)', async () => {
    const response = await petstore.get('/pets?cursor=%zz')
    expect(response).toMatchObject({ status: 400, body: { code: 'invalid_parameter' } })
  })

  test('that was shortened, extended, padded or changed is rejected (400)', async () => {
    const cursor = cursorOf(await nextOf('/v1/pets?limit=1'))
    const last = cursor.at(-1) === 'A' ? 'B' : 'A'
    const changed = [
      cursor.slice(0, -1),
      cursor.slice(1),
      `${cursor}A`,
      `${cursor}AAAA`,
      `${cursor}%3D`,
      `${cursor}%20`,
      `%2B${cursor}`,
      cursor.slice(0, -1) + last,
      cursor.toUpperCase() === cursor ? cursor.toLowerCase() : cursor.toUpperCase(),
    ]
    for (const text of changed) {
      const response = await petstore.get(`/pets?cursor=${text}`)
      expect(response, text).toMatchObject({ status: 400, body: { code: 'invalid_cursor' } })
    }
  })

  test.each(['cursor=', 'cursor', 'cursor=%00', 'cursor=x&cursor=x'])(
    'in the query "%s" is rejected (400)',
    async (query) => {
      const response = await petstore.get(`/pets?${query}`)
      expect(response.status).toBe(400)
      expect(response.body).toMatchObject({ code: expect.stringMatching(/^invalid_(parameter|cursor)$/) })
    },
  )
})
