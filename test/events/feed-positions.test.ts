// Positions, paging, filters and privacy of GET /v1/events.
import { beforeEach, describe, expect, test } from 'vitest'
import { insertEpoch } from '../../src/events/feed/queries.ts'
import { EVENT_TYPES, PET_EVENT_TYPES } from '../../src/events/feed/schema.ts'
import { purgeEvents, sequenceEvents } from '../../src/events/feed/sequencer.ts'
import { issueApiKey } from '../support/app.ts'
import type { TestResponse } from '../support/client.ts'
import { createTestDatabase, openTestDatabase } from '../support/database.ts'
import { type FeedEvent, positionOf } from '../support/event-fixture.ts'
import { type ApiFixture, openApiFixture, openApiFixtureOn } from '../support/api-fixture.ts'

const DAY_SECONDS = 24 * 3_600
const EXPIRED = { status: 410, body: expect.objectContaining({ code: 'events_expired' }) }

const api = await openApiFixture()
const { get, addPet, patch, hold, remove, db } = api
const eventsOf = ({ status, body, text }: TestResponse) => {
  expect(status, text).toBe(200)
  return body as FeedEvent[]
}
/** Types and pet ids, such as `pet.created 7`. */
const summaryOf = (page: TestResponse) => eventsOf(page).map(({ type, petId }) => `${type} ${petId}`)

let start = ''
beforeEach(async () => {
  await sequenceEvents(db)
  start = positionOf(await get('/events?after=latest'))
})

/** Adds pets by one statement for each count, so that each is one row with many events. */
async function addManyPets(...counts: number[]): Promise<void> {
  for (const count of counts) {
    await api.sql(`insert into pets (name, category_id) select 'Pet', 1 from generate_series(1, ${count})`)
  }
  await sequenceEvents(db)
}

async function walk(query: string, client: ApiFixture = api): Promise<FeedEvent[][]> {
  const pages: FeedEvent[][] = []
  for (let next = `/v1/events?after=${start}&${query}`; ; ) {
    const page = await client.call('GET', next)
    if (eventsOf(page).length === 0) return pages
    pages.push(eventsOf(page))
    next = /<([^>]+)>/.exec(page.headers.get('link') ?? '')?.[1] ?? ''
  }
}

test.each([1, 7, 100, 999, 1_000])('pages of %i events contain every event once, in order', async (limit) => {
  const counts = limit < 100 ? [3, 1, 24] : [3, 1_500, 1, 1_000, 250]
  await addManyPets(...counts)
  const pages = await walk(`limit=${limit}`)
  const positions = pages.flat().map(({ position }) => position)
  const [epoch, number] = start.split('-')
  expect(positions).toEqual(positions.map((_, index) => `${epoch}-${Number(number) + 1 + index}`))
  expect(positions).toHaveLength(counts.reduce((sum, count) => sum + count))
  expect(pages.slice(0, -1).map(({ length }) => length)).toEqual(pages.slice(0, -1).map(() => limit))
})

test('every position of an event is a valid start, also within the events of one statement', async () => {
  await addManyPets(2, 5)
  const [all = []] = await walk('limit=100')
  for (const [index, { position }] of all.entries()) {
    expect(eventsOf(await get(`/events?after=${position}`))).toEqual(all.slice(index + 1))
  }
})

test('the default limit is 100, the max 1,000', async () => {
  await addManyPets(150)
  expect(eventsOf(await get(`/events?after=${start}`))).toHaveLength(100)
  for (const limit of ['0', '1001', 'x', '1.5'])
    expect((await get(`/events?limit=${limit}`)).status).toBe(400)
})

test('two readers see the same events at the same positions', async () => {
  const other = await openApiFixtureOn(api.databaseUrl, openTestDatabase(api.databaseUrl), {})
  await Promise.all(Array.from({ length: 20 }, () => hold()))
  await sequenceEvents(db)
  expect((await walk('limit=13', other)).flat()).toEqual((await walk('limit=50')).flat())
})

describe('with filters by type,', () => {
  test('returns only these types, in order, and repeats them in the Link header', async () => {
    const [first, second] = [await addPet(), await addPet()]
    await remove(`/pets/${first.id}`)
    await patch(second.id, { name: 'Rex' })
    await sequenceEvents(db)
    const page = await get(`/events?after=${start}&type=pet.deleted&type=pet.updated&limit=10`)
    expect(summaryOf(page)).toEqual([`pet.deleted ${first.id}`, `pet.updated ${second.id}`])
    const link = new URL(/<([^>]+)>/.exec(page.headers.get('link') ?? '')?.[1] ?? '', 'http://localhost')
    expect(link.searchParams.getAll('type')).toEqual(['pet.deleted', 'pet.updated'])
    expect(link.searchParams.get('limit')).toBe('10')
  })

  test('accepts a repeated type, and returns its events once', async () => {
    const { id } = await addPet()
    await sequenceEvents(db)
    const page = await get(`/events?after=${start}&type=pet.created&type=pet.created`)
    expect(summaryOf(page)).toEqual([`pet.created ${id}`])
  })

  test('the next position is after events of other types', async () => {
    await addManyPets(1_200)
    const page = await get(`/events?after=${start}&type=pet.deleted`)
    expect(eventsOf(page)).toEqual([])
    expect(positionOf(page)).toBe(positionOf(await get('/events?after=latest')))
  })

  test('a full page ends with its last event, so that no later event is skipped', async () => {
    const { id } = await addPet()
    await patch(id, { name: 'Rex' })
    await patch(id, { name: 'Max' })
    await sequenceEvents(db)
    const pages = await walk('type=pet.updated&limit=1')
    expect(pages.flat().map(({ pet }) => pet?.name)).toEqual(['Rex', 'Max'])
  })

  test('rejects an unknown type (400)', async () => {
    const { status, body } = await get('/events?type=pet.sold')
    expect({ status, body }).toMatchObject({ status: 400, body: { code: 'invalid_parameter' } })
  })
})

test('"latest" is the position after the newest event', async () => {
  await addPet()
  await sequenceEvents(db)
  const latest = await get('/events?after=latest')
  expect(eventsOf(latest)).toEqual([])
  const { id } = await addPet()
  await sequenceEvents(db)
  expect(summaryOf(await get(`/events?after=${positionOf(latest)}`))).toEqual([`pet.created ${id}`])
})

describe('newest', () => {
  test('returns the end of the feed, oldest first, and the link continues after it', async () => {
    await addManyPets(3, 1_500, 2)
    const all = (await walk('limit=1000')).flat()
    for (const newest of [1, 2, 3, 700]) {
      const page = await get(`/events?newest=${newest}&limit=1000`)
      expect(eventsOf(page)).toEqual(all.slice(-newest))
      expect(positionOf(page)).toBe(all.at(-1)?.position)
    }
    const part = await get('/events?newest=20&limit=5')
    expect(eventsOf(part)).toEqual(all.slice(-20, -15))
    expect(positionOf(part)).toBe(all.at(-16)?.position)
  })

  test('counts events of all types, and returns those of the wanted types', async () => {
    const { id } = await addPet()
    await remove(`/pets/${id}`)
    await addPet()
    await sequenceEvents(db)
    expect(summaryOf(await get('/events?newest=2&type=pet.deleted'))).toEqual([`pet.deleted ${id}`])
    expect(summaryOf(await get('/events?newest=1&type=pet.deleted'))).toEqual([])
  })

  test('returns what is stored, also if the feed is empty or the retention has deleted events', async () => {
    const databaseUrl = await createTestDatabase()
    const store = await openApiFixtureOn(databaseUrl, openTestDatabase(databaseUrl), {})
    expect(summaryOf(await store.get('/events?newest=5'))).toEqual([])
    const ids = [(await store.addPet()).id, (await store.addPet()).id]
    await sequenceEvents(store.db)
    await store.sql(`update outbox set at = now() - interval '31 days' where pet_ids = '{${ids[0]}}'`)
    await purgeEvents(store.db, 30 * DAY_SECONDS)
    expect(await store.get('/events')).toMatchObject(EXPIRED)
    expect(summaryOf(await store.get('/events?newest=5'))).toEqual([`pet.created ${ids[1]}`])
  })

  test.each(['newest=0', 'newest=1001', 'newest=x', 'newest=5&after=latest'])(
    'rejects %s as the end of the feed (400)',
    async (query) => {
      const { status, body } = await get(`/events?${query}`)
      expect({ status, body }).toMatchObject({ status: 400, body: { details: [{ field: 'newest' }] } })
    },
  )
})

test.each([
  '',
  'x',
  'LATEST',
  '7',
  'abc-1',
  `${'a'.repeat(12)}-`,
  `${'A'.repeat(12)}-1`,
  `${'a'.repeat(12)}--1`,
])('rejects the malformed position "%s" (400)', async (after) => {
  const { status, body } = await get(`/events?after=${encodeURIComponent(after)}`)
  expect({ status, body }).toMatchObject({
    status: 400,
    body: { code: 'invalid_parameter', details: [{ field: 'after' }] },
  })
})

test.each(['9223372036854775808', '9'.repeat(19), '1'.repeat(30)])(
  'rejects a position with the number %s, which is no int64 (400)',
  async (number) => {
    const { status, body } = await get(`/events?after=${start.split('-')[0]}-${number}`)
    expect({ status, body }).toMatchObject({ status: 400, body: { details: [{ field: 'after' }] } })
  },
)

test('rejects a position above the newest event, and one of another epoch (410)', async () => {
  const [epoch, number = ''] = start.split('-')
  expect(await get(`/events?after=${epoch}-${BigInt(number) + 1n}`)).toMatchObject(EXPIRED)
  expect(await get(`/events?after=${epoch}-9223372036854775807`)).toMatchObject(EXPIRED)
  expect(await get(`/events?after=${'0'.repeat(12)}-${number}`)).toMatchObject(EXPIRED)
})

describe('without orders:read,', () => {
  let apiKey = ''
  beforeEach(async () => {
    apiKey = (await issueApiKey(db, { name: 'mirror', scopes: ['events:read'] })).text
  })

  test('returns pet events without their actor, and no order events', async () => {
    const { petId } = await hold({ note: 'Ms Okafor' })
    await sequenceEvents(db)
    const page = await get(`/events?after=${start}`, { apiKey })
    expect(summaryOf(page)).toEqual([`pet.created ${petId}`, `pet.updated ${petId}`])
    for (const event of eventsOf(page)) {
      expect(Object.keys(event)).not.toContain('actor')
      expect(Object.keys(event)).not.toContain('requestId')
    }
    const same = await get(`/events?after=${start}&type=pet.created&type=pet.updated&type=pet.deleted`, {
      apiKey,
    })
    expect(same.body).toEqual(page.body)
    expect(positionOf(page)).toBe(positionOf(await get('/events?after=latest')))
  })

  test.each(EVENT_TYPES.filter((type) => !(PET_EVENT_TYPES as readonly string[]).includes(type)))(
    'rejects a request for %s (403)',
    async (type) => {
      const page = await get(`/events?type=pet.created&type=${type}`, { apiKey })
      expect(page).toMatchObject({ status: 403, body: { code: 'insufficient_scope' } })
      const challenge = 'Bearer realm="petstore", error="insufficient_scope", scope="orders:read"'
      expect(page.headers.get('www-authenticate')).toBe(challenge)
    },
  )
})

describe('the start of the feed', () => {
  async function open(databaseUrl: string): Promise<ApiFixture> {
    return openApiFixtureOn(databaseUrl, openTestDatabase(databaseUrl), {})
  }

  test('is available from an empty catalogue on, until the retention deletes events', async () => {
    const store = await open(await createTestDatabase())
    expect(summaryOf(await store.get('/events'))).toEqual([])
    const ids = [(await store.addPet()).id, (await store.addPet()).id]
    await sequenceEvents(store.db)
    const page = await store.get('/events')
    expect(summaryOf(page)).toEqual(ids.map((id) => `pet.created ${id}`))
    const [first, second] = eventsOf(page).map(({ position }) => position)

    await store.sql(`update outbox set at = now() - interval '31 days' where pet_ids = '{${ids[0]}}'`)
    await purgeEvents(store.db, 31 * DAY_SECONDS + 60)
    expect(summaryOf(await store.get('/events'))).toHaveLength(2)
    await purgeEvents(store.db, 30 * DAY_SECONDS)
    expect(await store.get('/events')).toMatchObject(EXPIRED)
    expect(summaryOf(await store.get(`/events?after=${first}`))).toEqual([`pet.created ${ids[1]}`])
    expect(summaryOf(await store.get(`/events?after=${second}`))).toEqual([])
  })

  test('is unavailable after a new epoch, as are positions of the old epoch', async () => {
    const store = await open(await createTestDatabase())
    await store.addPet()
    await sequenceEvents(store.db)
    const before = positionOf(await store.get('/events'))
    const epoch = await insertEpoch(store.db)
    expect(await store.get('/events')).toMatchObject(EXPIRED)
    expect(await store.get(`/events?after=${before}`)).toMatchObject(EXPIRED)
    expect(positionOf(await store.get('/events?after=latest'))).toMatch(new RegExp(`^${epoch}-`))
  })

  test('is available after truncate, without the events before it', async () => {
    const store = await open(await createTestDatabase())
    await store.addPet()
    await sequenceEvents(store.db)
    await store.sql('truncate pets cascade')
    const { id } = await store.addPet()
    await sequenceEvents(store.db)
    expect(summaryOf(await store.get('/events'))).toEqual([`pet.created ${id}`])
  })
})
