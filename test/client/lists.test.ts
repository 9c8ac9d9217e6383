// Lists that request their pages automatically.
import { expect, test } from 'vitest'
import { behindFaultInjector, collect, errorOf, openClientFixture } from '../support/client-fixture.ts'

const PETS = 250
const client = await openClientFixture()
const { store, api } = client
const CATEGORY = 4711
await api.sql(
  `insert into pets (name, category_id, status)
    select 'Pet ' || n, $1, (case when n % 5 = 0 then 'sold' else 'available' end)::pet_status
    from generate_series(1, $2::int) as n`,
  [CATEGORY, PETS],
)
const expected = (
  await api.sql('select id::text from pets where category_id = $1 order by pets.id desc', [CATEGORY])
).map(({ id }) => id)

test('iterates over each pet once, newest first, with the fewest possible requests', async () => {
  const { store: behind, injector } = await behindFaultInjector(client)
  const listed = await collect(behind.pets.list({ categoryId: CATEGORY }))
  expect(listed.map(({ id }) => id)).toEqual(expected)
  expect(injector.seen).toHaveLength(Math.ceil(PETS / 100))
})

test('applies the filters to every page', async () => {
  const sold = await collect(store.pets.list({ categoryId: CATEGORY, status: 'sold', limit: 7 }))
  expect(sold).toHaveLength(PETS / 5)
  expect(new Set(sold.map(({ status }) => status))).toEqual(new Set(['sold']))
})

test('page() returns the cursor of the next page, and none for the last page', async () => {
  const seen: string[] = []
  let cursor: string | undefined
  for (let pages = 1; ; pages += 1) {
    const page = await store.pets.list({ categoryId: CATEGORY, limit: 60, cursor }).page()
    seen.push(...page.items.map(({ id }) => id))
    cursor = page.nextCursor
    if (cursor !== undefined) continue
    expect(pages).toBe(5)
    break
  }
  expect(seen).toEqual(expected)
})

test('pages() requests each page only when it is needed', async () => {
  const { store: behind, injector } = await behindFaultInjector(client)
  const sizes: number[] = []
  for await (const { items } of behind.pets.list({ categoryId: CATEGORY, limit: 100 }).pages()) {
    sizes.push(items.length)
    expect(injector.seen).toHaveLength(sizes.length)
  }
  expect(sizes).toEqual([100, 100, 50])
})

test('requests no further page after a break, and can be iterated a second time', async () => {
  const { store: behind, injector } = await behindFaultInjector(client)
  const list = behind.pets.list({ categoryId: CATEGORY, limit: 10 })
  for await (const pet of list) if (pet.id === expected[12]) break
  expect(injector.seen).toHaveLength(2)
  expect((await collect(list)).map(({ id }) => id)).toEqual(expected)
})

test('an empty list of ids returns no pet instead of every pet', async () => {
  const { store: behind, injector } = await behindFaultInjector(client)
  expect(await collect(behind.pets.list({ id: [] }))).toEqual([])
  expect((await behind.pets.list({ id: [] }).page()).items).toEqual([])
  expect(injector.seen).toEqual([])
  const [first = '', second = ''] = expected as string[]
  expect(await collect(behind.pets.list({ id: [second, first, 2n ** 62n] }))).toHaveLength(2)
})

test('sends the API key only to baseUrl, whatever host a Link header names', async () => {
  const elsewhere = await openClientFixture({ publicUrl: 'http://elsewhere.invalid' })
  for (const name of ['a', 'b', 'c']) await elsewhere.store.pets.create({ name, categoryId: 1 })
  const { store: behind, injector } = await behindFaultInjector(elsewhere)
  expect(await collect(behind.pets.list({ limit: 1 }))).toHaveLength(3)
  expect(injector.seen).toHaveLength(3)
})

test('searches by name prefix across pages', async () => {
  const found = await collect(store.pets.list({ name: 'pet 24', limit: 3 }))
  expect(found.map(({ name }) => name)).toEqual([
    'Pet 24',
    ...Array.from({ length: 10 }, (_, n) => `Pet 24${n}`),
  ])
})

test('lists orders, history, categories and API keys across pages', async () => {
  const pet = await store.pets.create({ name: 'Often held', categoryId: 8 })
  for (let n = 0; n < 3; n += 1) {
    await store.orders.cancel((await store.orders.place({ petId: pet.id })).id)
    await store.apiKeys.create({ name: `key ${n}` })
    await store.categories.put(9_000 + n, { name: `Kind ${n}` })
  }
  expect(await collect(store.orders.list({ petId: pet.id, limit: 2 }))).toHaveLength(3)
  expect(await collect(store.pets.history(pet.id, { limit: 2 }))).toHaveLength(7)
  const kinds = (await collect(store.categories.list({ limit: 2 }))).map(({ name }) => name)
  expect(kinds).toEqual(expect.arrayContaining(['Kind 0', 'Kind 1', 'Kind 2']))
  const keys = (await collect(store.apiKeys.list({ limit: 2 }))).map(({ name }) => name)
  expect(keys).toEqual(expect.arrayContaining(['key 0', 'key 1', 'key 2', 'client']))
})

test('rejects a cursor made with other filters (400)', async () => {
  const { nextCursor: cursor } = await store.pets.list({ categoryId: CATEGORY, limit: 5 }).page()
  const error = await errorOf(store.pets.list({ status: 'sold', cursor }).page())
  expect(error).toMatchObject({ code: 'invalid_cursor', status: 400 })
})

test('a next link without a cursor is an error, not the end of the list', async () => {
  const broken = client.open({
    fetch: async () => new Response('[]', { headers: { link: '</v1/pets?limit=5>; rel="next"' } }),
  })
  expect(await errorOf(collect(broken.pets.list()))).toMatchObject({ code: 'unexpected_answer' })
})
