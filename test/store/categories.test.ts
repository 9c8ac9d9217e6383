// /v1/categories: categories that have a name or pets, with exact counts.
import { describe, expect, test } from 'vitest'
import { foldAllCounts } from '../../src/store/inventory/inventory.ts'
import { deleteEmptyCounts } from '../../src/store/inventory/queries.ts'
import { issueApiKey } from '../support/app.ts'
import {
  cursorOf,
  NOT_IDS,
  openApiFixture,
  shareApiFixture,
  type ApiFixture,
  walkPages,
} from '../support/api-fixture.ts'
import { faultyFields } from '../support/pets.ts'

interface Category {
  id: number | bigint
  name?: string
  picture?: string
  counts: { available: number; pending: number; sold: number }
}

const NONE = { available: 0, pending: 0, sold: 0 }
const list = async (api: ApiFixture) => (await api.get('/categories')).body as Category[]
const countsOf = async (api: ApiFixture, id: number) =>
  (await list(api)).find((each) => each.id === id)?.counts

describe('naming a category', async () => {
  const api = await openApiFixture()

  test('returns 201 the first time and 200 afterwards, and stores the last name', async () => {
    const first = await api.put('/categories/7', { name: 'Katzen' })
    expect(first).toMatchObject({ status: 201, body: { id: 7, name: 'Katzen', counts: NONE } })
    const second = await api.put('/categories/7', { name: 'Cats 🐈' })
    expect(second).toMatchObject({ status: 200, body: { id: 7, name: 'Cats 🐈', counts: NONE } })
    expect((await api.put('/categories/7', { name: 'Cats 🐈' })).status).toBe(200)
    expect(await list(api)).toEqual([{ id: 7, name: 'Cats 🐈', counts: NONE }])
  })

  test('returns 201 and the counts for a category that had pets but no name', async () => {
    await api.addPet({ categoryId: 8 })
    await api.addPet({ categoryId: 8, status: 'sold' })
    const { status, body } = await api.put('/categories/8', { name: 'Dogs' })
    expect(status).toBe(201)
    expect(body).toEqual({ id: 8, name: 'Dogs', counts: { available: 1, pending: 0, sold: 1 } })
  })

  test('returns 201 to exactly one of 8 concurrent requests', async () => {
    const responses = await Promise.all(
      Array.from({ length: 8 }, (_, index) => api.put('/categories/9', { name: `N${index}` })),
    )
    expect(responses.filter(({ status }) => status === 201)).toHaveLength(1)
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(7)
  })

  test('with If-None-Match: *, names the category for one of 8 concurrent requests; the others return 412', async () => {
    const headers = { 'if-none-match': '*' }
    const responses = await Promise.all(
      Array.from({ length: 8 }, (_, index) => api.put('/categories/11', { name: `N${index}` }, headers)),
    )
    const [named, ...more] = responses.filter(({ status }) => status === 201)
    expect(more).toEqual([])
    expect(responses.filter(({ status }) => status === 412)).toHaveLength(7)
    const late = await api.put('/categories/11', { name: 'Late' }, headers)
    expect(late).toMatchObject({ status: 412, body: { code: 'category_exists' } })
    expect((await list(api)).find(({ id }) => id === 11)).toEqual(named?.body)
  })

  test.each(['x', 'n'.repeat(100), '🐕'.repeat(100), ' spaced '])('stores %j exactly', async (name) => {
    expect((await api.put('/categories/10', { name })).body).toMatchObject({ id: 10, name })
  })

  test('stores a picture, keeps it while only the name changes, and removes it with null', async () => {
    const put = async (body: object) => (await api.put('/categories/12', body)).body
    const stored = async () => (await list(api)).find(({ id }) => id === 12)
    expect(await put({ name: 'Dogs', picture: 'dog' })).toMatchObject({ name: 'Dogs', picture: 'dog' })
    expect(await put({ name: 'Puppies' })).toEqual({ id: 12, name: 'Puppies', picture: 'dog', counts: NONE })
    expect(await put({ name: 'Cats', picture: 'cat' })).toMatchObject({ picture: 'cat' })
    expect(await stored()).toMatchObject({ name: 'Cats', picture: 'cat' })
    expect(await put({ name: 'Cats', picture: null })).toEqual({ id: 12, name: 'Cats', counts: NONE })
    expect(await stored()).not.toHaveProperty('picture')
  })

  test('names a new category together with its picture, with If-None-Match: * too', async () => {
    const headers = { 'if-none-match': '*' }
    const body = { name: 'Fish', picture: 'fish' }
    expect(await api.put('/categories/13', body, headers)).toMatchObject({ status: 201, body })
    expect((await list(api)).find(({ id }) => id === 13)).toMatchObject(body)
  })

  test('only an administrator chooses a picture (403), and everything else stays possible', async () => {
    const { text: staff } = await issueApiKey(api.db, { scopes: ['pets:read', 'pets:write'] })
    const put = (body: object) => api.put('/categories/14', body, { authorization: `Bearer ${staff}` })
    for (const picture of ['bird', null]) {
      expect(await put({ name: 'Birds', picture })).toMatchObject({
        status: 403,
        body: { code: 'insufficient_scope' },
      })
    }
    expect(await countsOf(api, 14)).toBeUndefined()
    expect((await put({ name: 'Birds' })).status).toBe(201)
  })

  test.each(['', 'Dog', 'horse', 7])('rejects the picture %j (400) and names the field', async (picture) => {
    const response = await api.put('/categories/15', { name: 'Dogs', picture })
    expect(response).toMatchObject({ status: 400, body: { code: 'invalid_body' } })
    expect(faultyFields(response)).toEqual(['picture'])
  })

  test.each([
    { sent: {} },
    { sent: { name: '' } },
    { sent: { name: ' ' } },
    { sent: { name: 'n'.repeat(101) } },
    { sent: { name: '🐕'.repeat(101) } },
    { sent: { name: 'a\0' } },
    { sent: { name: null } },
    { sent: { name: 7 } },
  ])('rejects $sent (400) and names the field `name`', async ({ sent }) => {
    const response = await api.put('/categories/11', sent)
    expect(response).toMatchObject({ status: 400, body: { code: 'invalid_body' } })
    expect(faultyFields(response)).toEqual(['name'])
  })

  test.each([
    { body: undefined, code: 'missing_body' },
    { body: '{', code: 'invalid_json' },
  ])('rejects the body $body (400 $code)', async ({ body, code }) => {
    const response = await api.call('PUT', '/v1/categories/11', { body })
    expect(response).toMatchObject({ status: 400, body: { code } })
  })

  test.each(['1', '9007199254740993', '9223372036854775807'])('accepts the id %s', async (id) => {
    const { status, text } = await api.put(`/categories/${id}`, { name: 'Edge' })
    expect(status).toBe(201)
    expect(text).toContain(`"id":${id},`)
  })

  test.each(NOT_IDS)('returns 404 for the id %s', async (id) => {
    const response = await api.put(`/categories/${id}`, { name: 'Edge' })
    expect(response).toMatchObject({ status: 404, body: { code: 'route_not_found' } })
  })
})

const emptyApi = shareApiFixture()

test('lists every category that has a name or pets, sorted by id, without `name` if it has none', async () => {
  const api = await emptyApi()
  expect(await list(api)).toEqual([])
  await api.put('/categories/30', { name: 'Birds' })
  await api.addPet({ categoryId: 20 })
  await api.post('/pets', '{"name": "Rex", "categoryId": 9223372036854775807}')
  expect(await list(api)).toEqual([
    { id: 20, counts: { ...NONE, available: 1 } },
    { id: 30, name: 'Birds', counts: NONE },
    { id: 9223372036854775807n, counts: { ...NONE, available: 1 } },
  ])
})

describe.each([
  { when: 'with unfolded counts', settle: async () => {} },
  { when: 'with counts folded after each step', settle: (api: ApiFixture) => foldAllCounts(api.db) },
])('$when', ({ settle }) => {
  test('counts are exact after every create, change, hold, sale and deletion', async () => {
    const api = await emptyApi()
    const expectCounts = async (one: Category['counts'] | undefined, two?: Category['counts']) => {
      await settle(api)
      expect([await countsOf(api, 1), await countsOf(api, 2)]).toEqual([one, two])
    }
    await expectCounts(undefined)
    const { id } = await api.addPet()
    await expectCounts({ ...NONE, available: 1 })
    const sold = await api.addPet({ status: 'sold' })
    await expectCounts({ ...NONE, available: 1, sold: 1 })
    const order = await api.hold({ petId: id })
    await expectCounts({ ...NONE, pending: 1, sold: 1 })
    await api.patch(id, { categoryId: 2, name: 'Rex' })
    await expectCounts({ ...NONE, sold: 1 }, { ...NONE, pending: 1 })
    await api.end('complete', order.id)
    await expectCounts({ ...NONE, sold: 1 }, { ...NONE, sold: 1 })
    await api.remove(`/pets/${sold.id}`)
    await expectCounts(undefined, { ...NONE, sold: 1 })
    await api.put('/categories/1', { name: 'Dogs' })
    await api.patch(id, { status: 'available', categoryId: 1 })
    await expectCounts({ ...NONE, available: 1 })
    await deleteEmptyCounts(api.db)
    await expectCounts({ ...NONE, available: 1 })
  })

  test('pages of any size return each category once and skip unnamed ones without pets', async () => {
    const api = await emptyApi()
    const kept: number[] = []
    for (let id = 1; id <= 24; id += 1) {
      if (id % 4 === 0) await api.put(`/categories/${id}`, { name: `Named ${id}` })
      const pets = [
        await api.addPet({ categoryId: id }),
        await api.addPet({ categoryId: id, status: 'sold' }),
      ]
      await settle(api)
      // Many empty categories in a row between those in use.
      const isEmpty = id % 8 > 2
      if (isEmpty) for (const pet of pets) await api.remove(`/pets/${pet.id}`)
      if (!isEmpty || id % 4 === 0) kept.push(id)
    }
    await settle(api)
    for (const limit of [1, 2, 3, kept.length - 1, kept.length, 100]) {
      const pages = await walkPages<Category>(api, `/categories?limit=${limit}`)
      expect(pages.flat().map(({ id }) => id)).toEqual(kept)
      expect(pages.slice(0, -1).every((page) => page.length === limit)).toBe(true)
      expect(pages.at(-1)).not.toEqual([])
    }
  })
})

test('returns 100 categories by default, and rejects invalid limits and cursors (400)', async () => {
  const api = await emptyApi()
  await api.sql(`insert into categories select id, 'C' || id from generate_series(1, 101) as id`)
  const response = await api.get('/categories')
  expect(response.body).toHaveLength(100)
  const rest = await api.get(`/categories?cursor=${cursorOf(response, api)}`)
  expect(rest.body).toMatchObject([{ id: 101 }])
  const pets = await api.sql(`insert into pets (name, category_id) values ('a', 1), ('b', 1) returning id`)
  expect(pets).toHaveLength(2)
  const other = cursorOf(await api.get('/pets?limit=1'), api)
  for (const query of ['limit=0', 'limit=101', 'limit=x', 'cursor=']) {
    const { status, body } = await api.get(`/categories?${query}`)
    expect({ status, body }).toMatchObject({ status: 400, body: { code: 'invalid_parameter' } })
  }
  for (const cursor of ['x', other]) {
    const { status, body } = await api.get(`/categories?cursor=${cursor}`)
    expect({ status, body }).toMatchObject({ status: 400, body: { code: 'invalid_cursor' } })
  }
})
