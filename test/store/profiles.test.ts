// Profiles: what their changes leave in the history and in the feed, and the currency of the store.
import { beforeEach, describe, expect, test } from 'vitest'
import { sequenceEvents } from '../../src/events/feed/sequencer.ts'
import { openApiFixture, openApiFixtureOn } from '../support/api-fixture.ts'
import { issueApiKey } from '../support/app.ts'
import { type FeedEvent, positionOf } from '../support/event-fixture.ts'
import { FULL_PROFILE } from '../support/profile.ts'
import { shopIn } from '../support/settings.ts'

const api = await openApiFixture()
const inYen = await openApiFixtureOn(api.databaseUrl, api.db, { settings: shopIn('JPY') })

const put = (petId: number, body: object, headers: Record<string, string> = {}) =>
  api.put(`/pets/${petId}/profile`, body, headers)

let start = ''
beforeEach(async () => {
  await sequenceEvents(api.db)
  start = positionOf(await api.get('/events?after=latest'))
})

/** The events of profiles since the start of the test. */
async function profileEvents(): Promise<FeedEvent[]> {
  await sequenceEvents(api.db)
  const { body } = await api.get(`/events?after=${start}&limit=1000&type=pet.profile_updated`)
  return body as FeedEvent[]
}

describe('the history', () => {
  test('has the changed fields of each change, with its API key and request', async () => {
    const { id } = await api.addPet()
    await put(id, { price: '129.00', breed: 'Beagle', sex: 'male' }, { 'x-request-id': 'first' })
    await put(id, { price: '99.00', breed: 'Beagle', bornOn: '2025-05-31', chipNumber: 'a1' })
    await put(id, {
      price: '99.00',
      breed: 'Beagle',
      bornOn: '2025-05-31',
      chipNumber: 'a1',
      description: 'x',
    })
    await put(id, {})
    const entries = await api.history(id)
    expect(entries.map(({ event, from, to }) => ({ event, from, to }))).toEqual([
      {
        event: 'updated',
        from: {
          price: '99.00',
          currency: 'EUR',
          breed: 'Beagle',
          bornOn: '2025-05-31',
          chipNumber: 'a1',
          description: 'x',
        },
      },
      { event: 'updated', to: { description: 'x' } },
      {
        event: 'updated',
        from: { price: '129.00', currency: 'EUR', sex: 'male' },
        to: { price: '99.00', currency: 'EUR', bornOn: '2025-05-31', chipNumber: 'a1' },
      },
      { event: 'updated', to: { price: '129.00', currency: 'EUR', breed: 'Beagle', sex: 'male' } },
      { event: 'created' },
    ])
    expect(entries.at(-2)).toMatchObject({ actor: 'staff', requestId: 'first' })
  })

  test('has the end of an expired hold before a change of the profile', async () => {
    const unswept = await openApiFixtureOn(api.databaseUrl, api.db, {
      holds: { waitUntilFresh: () => undefined },
    })
    const { id } = await api.addPet()
    await api.makeOverdue((await api.hold({ petId: id })).id)
    await unswept.put(`/pets/${id}/profile`, { breed: 'Pug' })
    const events = (await unswept.history(id)).map(({ event }) => event)
    expect(events).toEqual(['updated', 'order_expired', 'order_placed', 'created'])
  })

  test('has no entry for a change that changes nothing or is rejected', async () => {
    const { id } = await api.addPet()
    await put(id, {})
    await put(id, { price: '1' })
    await put(id, { breed: 'Pug' }, { 'if-match': '"7"' })
    await put(id, { breed: 'Pug' })
    await put(id, { breed: 'Pug' })
    expect(await api.history(id)).toHaveLength(2)
  })
})

test('every fact reaches the history, the feed and an export', async () => {
  const { id } = await api.addPet()
  await put(id, FULL_PROFILE)
  const profile = { ...FULL_PROFILE, currency: 'EUR' }
  expect((await api.history(id))[0]?.to).toEqual(profile)
  expect((await profileEvents()).at(-1)).toMatchObject({ profile: { petId: id, ...profile } })
  const lines = (await api.get('/pet-export?format=ndjson&include=profile')).text.split('\n')
  expect(lines.filter((line) => line !== '').map((line) => JSON.parse(line))).toContainEqual(
    expect.objectContaining({ id, ...profile }),
  )
})

describe('the feed', () => {
  test('has the whole profile after each change, with its API key and request', async () => {
    const { id } = await api.addPet()
    await put(id, { price: '129.00', breed: 'Beagle' }, { 'x-request-id': 'first' })
    await put(id, { breed: 'Beagle', description: 'two\nlines "🐕"' })
    await put(id, {})
    const event = {
      type: 'pet.profile_updated',
      petId: id,
      occurredAt: expect.any(String),
      actor: 'staff',
    }
    const other = { position: expect.any(String), requestId: expect.any(String) }
    expect(await profileEvents()).toEqual([
      {
        ...other,
        ...event,
        requestId: 'first',
        profile: { petId: id, price: '129.00', currency: 'EUR', breed: 'Beagle' },
      },
      { ...other, ...event, profile: { petId: id, breed: 'Beagle', description: 'two\nlines "🐕"' } },
      { ...other, ...event, profile: { petId: id } },
    ])
  })

  test('has no event for a change that changes nothing or is rejected', async () => {
    const { id } = await api.addPet()
    await put(id, {})
    await put(id, { price: '1' })
    await put(id, { breed: 'Pug' })
    await put(id, { breed: 'Pug' })
    await put(id, { breed: 'Other' }, { 'if-match': '"7"' })
    expect(await profileEvents()).toHaveLength(1)
  })

  test('shows profiles to a key without orders:read, but not the actor', async () => {
    const { id } = await api.addPet()
    await put(id, { breed: 'Pug' })
    await sequenceEvents(api.db)
    const { text: apiKey } = await issueApiKey(api.db, { scopes: ['events:read'] })
    const { body } = await api.call('GET', `/v1/events?after=${start}`, { apiKey })
    expect(body).toMatchObject([{ type: 'pet.created' }, { type: 'pet.profile_updated', petId: id }])
    expect((body as FeedEvent[])[1]).not.toHaveProperty('actor')
  })

  test('has an event for each of 2,500 profiles that SQL inserts or updates, in rows of at most 1,000', async () => {
    await api.sql(`insert into pets (name, category_id) select 'x', 1 from generate_series(1, 2500)`)
    const [row] = await api.sql(`select max(id) - 2499 as first from pets`)
    const first = Number(row?.['first'])
    await api.sql(
      `insert into pet_profiles (pet_id, price, currency) select $1 + n, n, 'JPY' from generate_series(0, 2499) as n`,
      [first],
    )
    await api.sql(`update pet_profiles set price = price + 1 where pet_id >= $1`, [first])
    const counts = await api.sql(
      `select count from outbox where type = 'pet.profile_updated' order by id desc limit 6`,
    )
    expect(counts.map(({ count }) => count).toSorted((a, b) => Number(a) - Number(b))).toEqual([
      500, 500, 1000, 1000, 1000, 1000,
    ])
    await sequenceEvents(api.db)
    const prices = new Map<number, unknown>()
    for (let after = start, page: FeedEvent[] = []; ; after = page.at(-1)?.position ?? '') {
      const query = `after=${after}&limit=1000&type=pet.profile_updated`
      page = (await api.get(`/events?${query}`)).body as FeedEvent[]
      for (const { petId, profile } of page) prices.set(Number(petId), profile?.['price'])
      if (page.length < 1_000) break
    }
    expect(prices.size).toBe(2_500)
    for (const [petId, price] of prices) expect(price).toBe(String(petId - first + 1))
  })
})

describe('the currency of the store', () => {
  test('decides which decimal places a price must have', async () => {
    const { id } = await api.addPet()
    const wrong = await inYen.put(`/pets/${id}/profile`, { price: '129.00' })
    expect(wrong).toMatchObject({ status: 400, body: { code: 'invalid_body' } })
    expect(wrong.text).toContain('price must have no decimal places, such as 129, because')
    const right = await inYen.put(`/pets/${id}/profile`, { price: '129' })
    expect(right.body).toEqual({ petId: id, price: '129', currency: 'JPY' })
  })

  const inYenBefore = { price: '129', currency: 'JPY' }

  async function addPetInYen(): Promise<number> {
    const { id } = await api.addPet()
    await inYen.put(`/pets/${id}/profile`, { price: '129' })
    return id
  }

  test('does not change a stored price, which is kept with its own currency', async () => {
    const id = await addPetInYen()
    expect((await api.get(`/pets/${id}/profile`)).body).toEqual({ petId: id, ...inYenBefore })
    const kept = await put(id, { ...inYenBefore, breed: 'Beagle' })
    expect(kept).toMatchObject({ status: 200, body: { petId: id, ...inYenBefore, breed: 'Beagle' } })
    expect((await api.history(id))[0]).toMatchObject({ to: { breed: 'Beagle' } })
    expect((await api.history(id))[0]?.to).not.toHaveProperty('currency')
  })

  test.each([
    { price: '129.00' },
    { price: '130', currency: 'JPY' },
    { price: '129.00', currency: 'JPY' },
    { price: '129.00', currency: 'USD' },
    { currency: 'JPY' },
  ])('is not that of the stored price, so %j is rejected (400)', async (fields) => {
    const id = await addPetInYen()
    expect(await put(id, fields)).toMatchObject({ status: 400, body: { code: 'currency_mismatch' } })
    expect((await api.get(`/pets/${id}/profile`)).body).toEqual({ petId: id, ...inYenBefore })
  })

  test('becomes that of a price which names it, and a price can be removed', async () => {
    const id = await addPetInYen()
    const euros = { price: '129.00', currency: 'EUR' }
    expect(await put(id, euros)).toMatchObject({ status: 200, body: euros })
    expect((await api.history(id))[0]).toMatchObject({ from: inYenBefore, to: euros })
    const other = await addPetInYen()
    expect((await put(other, {})).body).toEqual({ petId: other })
  })
})

test.each([
  { what: 'a price without a currency', columns: 'price', values: '1' },
  { what: 'a negative price', columns: 'price, currency', values: `-1, 'EUR'` },
  { what: 'a price of 11 digits', columns: 'price, currency', values: `10000000000, 'EUR'` },
  { what: 'an unknown sex', columns: 'sex', values: `'f'` },
  { what: 'a birth before 1900', columns: 'born_on', values: `'1899-12-31'` },
  { what: 'a chip number with a dash', columns: 'chip_number', values: `'a-b'` },
  { what: 'a description of 2,001 characters', columns: 'description', values: `repeat('x', 2001)` },
])('PostgreSQL rejects $what', async ({ columns, values }) => {
  const { id } = await api.addPet()
  await expect(
    api.sql(`insert into pet_profiles (pet_id, ${columns}) values (${id}, ${values})`),
  ).rejects.toThrow(/violates check constraint/)
})

test('16 concurrent clients leave a version, an entry and an event for each change that they made', async () => {
  const { id } = await api.addPet()
  const etags = await Promise.all(
    Array.from({ length: 16 }, async (_, index) =>
      (await put(id, { breed: `Breed ${index}` })).headers.get('etag'),
    ),
  )
  expect(new Set(etags).size).toBe(16)
  expect((await api.get(`/pets/${id}/profile`)).headers.get('etag')).toBe('"16"')
  expect(await api.history(id)).toHaveLength(17)
  const events = await profileEvents()
  expect(events).toHaveLength(16)
  const { body } = await api.get(`/pets/${id}/profile`)
  expect(events.at(-1)).toMatchObject({ profile: body })
})
