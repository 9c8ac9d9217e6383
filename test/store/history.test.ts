// GET /v1/pets/{petId}/history: every change to a pet, with its time, API key, request and reason.
import { expect, test } from 'vitest'
import {
  cursorOf,
  type HistoryEntry,
  NOT_IDS,
  openApiFixture,
  UNKNOWN_ID,
  walkPages,
} from '../support/api-fixture.ts'
import { issueApiKey } from '../support/app.ts'

const api = await openApiFixture()
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** Adds a pet and causes every kind of event. EVENTS has the expected entries, newest first. */
async function addPetWithEveryEvent() {
  const { id: petId } = await api.addPet()
  await api.patch(petId, { name: 'Rex', reason: 'mistyped' })
  await api.end('cancel', (await api.hold({ petId })).id)
  await api.makeOverdue((await api.hold({ petId })).id)
  await api.end('complete', (await api.hold({ petId })).id)
  await api.patch(petId, { status: 'available', categoryId: 2 })
  return petId
}

const available = { status: 'available' }
const pending = { status: 'pending' }
const sold = { status: 'sold' }
const EVENTS = [
  { event: 'updated', from: { ...sold, categoryId: 1 }, to: { ...available, categoryId: 2 } },
  { event: 'order_completed', from: pending, to: sold },
  { event: 'order_placed', from: available, to: pending },
  { event: 'order_expired', from: pending, to: available },
  { event: 'order_placed', from: available, to: pending },
  { event: 'order_cancelled', from: pending, to: available },
  { event: 'order_placed', from: available, to: pending },
  { event: 'updated', from: { name: 'Biscuit' }, to: { name: 'Rex' }, reason: 'mistyped' },
  { event: 'created' },
]

test('returns every event, newest first, with its API key, request id and reason', async () => {
  const history = await api.history(await addPetWithEveryEvent())
  const facts = EVENTS.map((entry) => ({
    ...entry,
    at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    actor: entry.event === 'order_expired' ? 'petstore' : 'staff',
    requestId: expect.stringMatching(UUID),
  }))
  expect(history).toEqual(facts)
  const times = history.map(({ at }) => at)
  expect(times).toEqual(times.toSorted().toReversed())
})

test('a page of large profiles ends early, and its link leads to every entry once', async () => {
  const { id: petId } = await api.addPet()
  // The text is larger than the stored profile, which PostgreSQL compresses.
  await api.sql(
    `insert into pet_history (pet_id, event, request_id, reason, from_profile, to_profile)
      select $1, 'updated', 'x', n, profile, profile from generate_series(1, 90) as n,
        jsonb_build_object('description', repeat('𠀀', 2000)) as profile`,
    [petId],
  )
  const pages = await walkPages<HistoryEntry>(api, `/pets/${petId}/history?limit=100`)
  expect(pages.map((page) => page.length)).toEqual([65, 26])
  const entries = pages.flat().map(({ event, reason }) => reason ?? event)
  expect(entries).toEqual([...Array.from({ length: 90 }, (_, index) => String(90 - index)), 'created'])
})

test('each entry starts with the status that the previous one ended with, even after concurrent changes', async () => {
  for (let round = 0; round < 30; round += 1) {
    const { id: petId } = await api.addPet()
    await Promise.all([
      api.patch(petId, { status: 'pending' }),
      api.post('/store/orders', { petId }),
      api.patch(petId, { status: 'available' }),
      api.post('/store/orders', { petId }),
    ])
    const steps = (await api.history(petId)).toReversed().slice(1)
    let status = 'available'
    for (const { from, to } of steps) {
      expect(from?.status, JSON.stringify(steps)).toBe(status)
      status = to?.status ?? ''
    }
    expect(await api.findPet(petId)).toMatchObject({ status })
  }
})

test('is sorted by time, newest first, after 16 concurrent changes', async () => {
  const { id } = await api.addPet()
  for (let round = 0; round < 3; round += 1) {
    await Promise.all(Array.from({ length: 16 }, (_, index) => api.patch(id, { name: `${round} ${index}` })))
  }
  const times = (await api.history(id)).map(({ at }) => at)
  expect(times).toEqual(times.toSorted().toReversed())
})

test('returns only `created` for an unchanged pet, and no next page even if limit=1', async () => {
  const { id } = await api.addPet({ status: 'sold' })
  const response = await api.get(`/pets/${id}/history?limit=1`)
  expect(response.body).toMatchObject([{ event: 'created' }])
  expect(response.headers.get('link')).not.toContain('rel="next"')
})

test.each([1, 2, 3, 4, 8, 9, 10, 100])('pages of %i return every entry exactly once', async (limit) => {
  const petId = await addPetWithEveryEvent()
  const whole = await api.history(petId)
  const pages = await walkPages<HistoryEntry>(api, `/pets/${petId}/history?limit=${limit}`)
  expect(pages.flat()).toEqual(whole)
  expect(pages.slice(0, -1).every((page) => page.length === limit)).toBe(true)
  expect(pages.at(-1)).not.toEqual([])
})

test('returns 20 entries by default', async () => {
  const { id } = await api.addPet()
  for (let count = 0; count < 21; count += 1) await api.patch(id, { name: `Name ${count}` })
  const response = await api.get(`/pets/${id}/history`)
  expect(response.body).toHaveLength(20)
  expect(response.headers.get('link')).toContain('rel="next"')
})

test('changes between two page requests do not shift the pages', async () => {
  const petId = await addPetWithEveryEvent()
  const whole = await api.history(petId)
  const first = await api.get(`/pets/${petId}/history?limit=3`)
  await api.patch(petId, { name: 'Later' })
  const rest = await walkPages(api, `/pets/${petId}/history?limit=100&cursor=${cursorOf(first, api)}`)
  expect([...(first.body as HistoryEntry[]), ...rest.flat()]).toEqual(whole)
})

test('an entry has the API key and the id of the request that caused it', async () => {
  const apiKey = (await issueApiKey(api.db, { name: 'partner' })).text
  const headers = { 'x-request-id': 'partner-7' }
  const body = { name: 'Luna', categoryId: 1 }
  const created = await api.call('POST', '/v1/pets', { apiKey, body, headers })
  const { id } = created.body as { id: number }
  await api.patch(id, { name: 'Rex', reason: 'Zoë asked 🐕' }, { 'x-request-id': 'staff-8' })
  expect(await api.history(id)).toMatchObject([
    { event: 'updated', actor: 'staff', requestId: 'staff-8', reason: 'Zoë asked 🐕' },
    { event: 'created', actor: 'partner', requestId: 'partner-7' },
  ])
})

test('a pet inserted by SQL has a `created` entry', async () => {
  const [row] = await api.sql(`insert into pets (name, category_id) values ('Hand', 1) returning id`)
  expect(await api.history(Number(row?.['id']))).toEqual([
    { at: expect.any(String), event: 'created', actor: 'petstore', requestId: expect.any(String) },
  ])
})

test('keeps every digit of category ids', async () => {
  const created = await api.post('/pets', '{"name": "Rex", "categoryId": 9223372036854775807}')
  const { id } = created.body as { id: number }
  await api.patch(id, '{"categoryId": 9223372036854775806}')
  await api.patch(id, '{"categoryId": 9007199254740993}')
  expect(await api.history(id)).toMatchObject([
    { from: { categoryId: 9223372036854775806n }, to: { categoryId: 9007199254740993n } },
    { from: { categoryId: 9223372036854775807n }, to: { categoryId: 9223372036854775806n } },
    { event: 'created' },
  ])
})

test.each([UNKNOWN_ID, ...NOT_IDS])('returns 404 for the pet id %s', async (petId) => {
  const response = await api.get(`/pets/${petId}/history`)
  expect(response).toMatchObject({ status: 404, body: { code: 'pet_not_found' } })
})

test.each(['limit=0', 'limit=101', 'limit=1.5', 'limit=', 'limit=1&limit=2', 'cursor='])(
  'rejects ?%s (400)',
  async (query) => {
    const { id } = await api.addPet()
    const response = await api.get(`/pets/${id}/history?${query}`)
    expect(response).toMatchObject({ status: 400, body: { code: 'invalid_parameter' } })
  },
)

test('rejects a cursor made for another pet or another list (400)', async () => {
  const [one, two] = await Promise.all([addPetWithEveryEvent(), addPetWithEveryEvent()])
  const cursor = cursorOf(await api.get(`/pets/${one}/history?limit=1`), api)
  const pets = cursorOf(await api.get('/pets?limit=1'), api)
  for (const path of [`${two}/history?cursor=${cursor}`, `${one}/history?cursor=${pets}`]) {
    expect(await api.get(`/pets/${path}`)).toMatchObject({ status: 400, body: { code: 'invalid_cursor' } })
  }
  expect((await api.get(`/pets/${one}/history?cursor=${cursor}`)).status).toBe(200)
})
