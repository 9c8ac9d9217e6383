// GET /v1/store/figures: how many pets were added and sold on each day, and the sales, in any time zone.
import { describe, expect, test } from 'vitest'
import { apiKeyVerifier } from '../../src/access/api-keys/api-keys.ts'
import type { Db } from '../../src/db/database.ts'
import { purgeEvents, sequenceEvents } from '../../src/events/feed/sequencer.ts'
import { databaseTimeZone, purgeFigures } from '../../src/store/figures/figures.ts'
import { type ApiFixture, openApiFixture } from '../support/api-fixture.ts'
import { issueApiKey, startApp } from '../support/app.ts'
import type { TestResponse } from '../support/client.ts'
import { dayIn, onOneDay } from '../support/one-day.ts'
import { faultyFields, rows } from '../support/pets.ts'

interface Sales {
  orders: number
  withoutPrice: number
  totals: { currency: string; amount: string }[]
}

interface Figures {
  timeZone: string
  countedSince?: string
  days: { day: string; added: number; sold: number; sales?: Sales }[]
}

const NO_SALES = { orders: 0, withoutPrice: 0, totals: [] }

const api = await openApiFixture()

async function figures(query = '', at: ApiFixture = api): Promise<Figures> {
  await sequenceEvents(at.db)
  const response = await at.get(`/store/figures${query}`)
  expect(response.status, response.text).toBe(200)
  return response.body as Figures
}

const total = ({ days }: Figures) => ({
  added: days.reduce((sum, { added }) => sum + added, 0),
  sold: days.reduce((sum, { sold }) => sum + sold, 0),
})

test('returns 30 days of zeros in UTC if there are no changes', () =>
  onOneDay(async () => {
    const own = await openApiFixture()
    const found = await figures('', own)
    expect(found.timeZone).toBe('UTC')
    expect(found.days).toHaveLength(30)
    expect(found.days.at(-1)).toEqual({ day: dayIn('UTC'), added: 0, sold: 0, sales: NO_SALES })
    expect(total(found)).toEqual({ added: 0, sold: 0 })
    const days = found.days.map(({ day }) => Date.parse(day))
    expect(days).toEqual(days.map((_, index) => (days[0] as number) + index * 86_400_000))
  }))

test('counts created pets as added, and changes to sold as sold', async () => {
  const before = total(await figures())
  const { id } = await api.addPet()
  await api.addPet({ status: 'sold' })
  await api.addPet({ status: 'pending' })
  expect(total(await figures())).toEqual({ added: before.added + 3, sold: before.sold })

  await api.patch(id, { status: 'sold' })
  await api.patch(id, { name: 'Still sold' })
  expect(total(await figures()).sold).toBe(before.sold + 1)
  await api.patch(id, { status: 'available' })
  await api.patch(id, { status: 'sold', name: 'Sold again' })
  expect(total(await figures()).sold).toBe(before.sold + 2)

  const { id: orderId } = await api.hold()
  await api.end('complete', orderId)
  const { id: cancelled } = await api.hold()
  await api.end('cancel', cancelled)
  await api.remove(`/pets/${(await api.addPet()).id}`)
  expect(total(await figures())).toEqual({ added: before.added + 6, sold: before.sold + 3 })
})

test('counts each pet of a statement that changes thousands of pets', async () => {
  const before = total(await figures())
  await api.sql(`insert into pets (name, category_id, status)
    select 'Bulk', 77, case when n % 2 = 0 then 'sold' else 'available' end::pet_status from generate_series(1, 2500) n`)
  await api.sql(`update pets set status = 'sold', version = version + 1 where category_id = 77`)
  expect(total(await figures())).toEqual({ added: before.added + 2500, sold: before.sold + 1250 })
})

test('counts each event once, and nothing of a transaction that was rolled back', async () => {
  const before = total(await figures())
  await api.addPet()
  await Promise.all([sequenceEvents(api.db), sequenceEvents(api.db), sequenceEvents(api.db)])
  await api.sql(`begin; insert into pets (name, category_id) values ('Undone', 1); rollback`)
  expect(total(await figures())).toEqual({ added: before.added + 1, sold: before.sold })
  // Events are deleted earlier than the figures.
  await purgeEvents(api.db, 0)
  expect(total(await figures())).toEqual({ added: before.added + 1, sold: before.sold })
})

/** Has only the changes that the test itself adds. */
let uncounted: Promise<ApiFixture> | undefined
async function withoutFigures(): Promise<ApiFixture> {
  uncounted ??= openApiFixture()
  const own = await uncounted
  // Earlier events stay in the feed, but they have been counted.
  await own.sql('truncate pet_figures')
  return own
}

test('coalesces identical requests that arrive during a statement, and reads for them again', () =>
  onOneDay(async () => {
    const own = await openApiFixture()
    const { promise: isReleased, resolve: release } = Promise.withResolvers<void>()
    const statements: string[] = []
    const db: Db = {
      ...own.db,
      read: async (statement) => {
        const found = await own.db.read(statement)
        statements.push(JSON.stringify(statement.values))
        await isReleased
        return found as never
      },
    }
    const verify = apiKeyVerifier(own.db, 'production')
    let arrived = 0
    const petstore = await startApp(own.db, {
      db,
      verifyApiKey: (...key) => {
        arrived += 1
        return verify(...key)
      },
    })
    const { text: reader } = await issueApiKey(own.db, { scopes: ['pets:read'] })
    const { text: seller } = await issueApiKey(own.db, { scopes: ['pets:read', 'orders:read'] })
    const read = (query: string, apiKey = seller) => petstore.get(`/store/figures?${query}`, { apiKey })

    const first = read('days=1')
    await expect.poll(() => statements.length).toBe(1)
    await own.end('complete', (await own.hold()).id)
    const second = Array.from({ length: 30 }, () => read('days=1'))
    await expect.poll(() => arrived).toBe(31)
    const others = [read('days=2'), read('days=1&timeZone=Asia/Tokyo'), read('days=1', reader)]
    const isFirst = (values: string) => values === statements[0]
    await expect.poll(() => statements.filter((values) => !isFirst(values)).length).toBe(3)
    release()

    const ordersOf = async (response: Promise<TestResponse>) =>
      ((await response).body as Figures).days.at(-1)?.sales?.orders
    expect(await ordersOf(first)).toBe(0)
    expect(new Set(await Promise.all(second.map(ordersOf)))).toEqual(new Set([1]))
    expect(await Promise.all(others.map(ordersOf))).toEqual([1, 1, undefined])
    // Two statements can be in flight, besides up to 8 that stall, as these do.
    expect(statements.filter(isFirst).length).toBeLessThanOrEqual(12)
  }, 'Asia/Tokyo'))

const ZONES = [
  'UTC',
  'Europe/Berlin',
  'Asia/Kathmandu',
  'Pacific/Kiritimati',
  'Pacific/Pago_Pago',
  'Atlantic/Azores',
]

// Some of the days have 23 or 25 hours, unless the clocks have not changed for 90 days.
test.each(ZONES)('a day starts and ends at midnight in %s', (timeZone) =>
  onOneDay(async () => {
    const own = await withoutFigures()
    // The first day has one pet at its start and one at its end, the second day has two of each, and so on.
    await own.sql(
      `insert into outbox (at, type, count, pet_ids)
        select at, 'pet.created', n, array_fill(1::bigint, array[n])
        from generate_series(1, 90) as n
        cross join lateral (select (now() at time zone $1)::date - 90 + n as day) as days
        cross join lateral (values
          (least(day::timestamp at time zone $1, (day - 1 + time '23:59:59.999') at time zone $1 + interval '1 ms')),
          ((day + time '23:59:59.999') at time zone $1)
        ) as edges (at)`,
      [timeZone],
    )
    const { days } = await figures(`?days=90&timeZone=${timeZone}`, own)
    expect(days.at(-1)?.day).toBe(dayIn(timeZone))
    expect(days.map(({ added }) => added)).toEqual(Array.from({ length: 90 }, (_, index) => 2 * (index + 1)))
  }, timeZone),
)

describe('sales', () => {
  /** Completes an order with this price. */
  async function sell(own: ApiFixture, price?: string, currency = 'EUR'): Promise<number> {
    const { id } = await own.hold()
    await own.end('complete', id)
    if (price !== undefined) {
      await own.sql('update orders set price = $2, currency = $3 where id = $1', [id, price, currency])
    }
    return id
  }
  const salesOfToday = async (own: ApiFixture) => (await figures('?days=1', own)).days[0]?.sales

  test('are the completed orders of the day, with the exact sum of their prices in each currency', () =>
    onOneDay(async () => {
      const own = await openApiFixture()
      for (const price of ['0.10', '9999999999.99', '0.00']) await sell(own, price)
      for (const price of ['1200', '300']) await sell(own, price, 'JPY')
      // In binary floating point, 0.10 + 0.20 is not 0.30.
      for (const price of ['0.10', '0.20']) await sell(own, price, 'USD')
      await sell(own)
      const totals = [
        { currency: 'EUR', amount: '10000000000.09' },
        { currency: 'JPY', amount: '1500' },
        { currency: 'USD', amount: '0.30' },
      ]
      expect(await salesOfToday(own)).toEqual({ orders: 8, withoutPrice: 1, totals })

      await own.end('cancel', (await own.hold()).id)
      await own.makeOverdue((await own.hold()).id)
      await own.hold()
      await own.sql(`update orders set price = 5, currency = 'EUR' where status <> 'completed'`)
      await own.patch((await own.addPet()).id, { status: 'sold' })
      const { days } = await figures('?days=1', own)
      expect(days).toMatchObject([{ sold: 9, sales: { orders: 8, withoutPrice: 1, totals } }])
    }))

  test('include an order as soon as it is completed', () =>
    onOneDay(async () => {
      const own = await openApiFixture()
      const { id } = await own.hold()
      await own.end('complete', id)
      const { body } = await own.get('/store/figures?days=1')
      expect((body as Figures).days[0]).toMatchObject({ sales: { ...NO_SALES, orders: 1, withoutPrice: 1 } })
    }))

  test('are absent for an API key without the scope orders:read', async () => {
    const { text: apiKey } = await issueApiKey(api.db, { scopes: ['pets:read'] })
    const { body } = await api.get('/store/figures?days=3', { apiKey })
    for (const day of (body as Figures).days) expect(Object.keys(day)).toEqual(['day', 'added', 'sold'])
  })

  let shared: Promise<ApiFixture> | undefined
  test.each(ZONES)('of a day start and end at midnight in %s', (timeZone) =>
    onOneDay(async () => {
      shared ??= openApiFixture()
      const own = await shared
      // The first day has one order at its start and one at its end, the second day has two of each, and so on.
      await own.sql(
        `set session_replication_role = replica; truncate orders restart identity cascade; insert into pets (id, name, category_id) values (1, 'x', 1) on conflict do nothing;
          insert into orders (pet_id, placed_by, created_at, expires_at, closed_at, status, price, currency)
          select 1, 1, at - interval '1 minute', at + interval '1 hour', at, 'completed', 0.01, 'EUR'
          from generate_series(1, 90) as n
          cross join lateral (select (now() at time zone '${timeZone}')::date - 90 + n as day) as days
          cross join lateral (values
            (least(day::timestamp at time zone '${timeZone}',
              (day - 1 + time '23:59:59.999999') at time zone '${timeZone}' + interval '1 microsecond')),
            ((day + time '23:59:59.999999') at time zone '${timeZone}')
          ) as edges (at)
          cross join generate_series(1, n)`,
      )
      const { days } = await figures(`?days=90&timeZone=${timeZone}`, own)
      const expected = Array.from({ length: 90 }, (_, index) => ({
        orders: 2 * (index + 1),
        withoutPrice: 0,
        totals: [{ currency: 'EUR', amount: ((2 * (index + 1)) / 100).toFixed(2) }],
      }))
      expect(days.map(({ sales }) => sales)).toEqual(expected)
    }, timeZone),
  )
})

/** The date and time in a time zone, from Node instead of PostgreSQL. */
function timeIn(timeZone: string, time: Date): string {
  return new Intl.DateTimeFormat('sv', { timeZone, dateStyle: 'short', timeStyle: 'medium' }).format(time)
}

test('PostgreSQL has the same time as Node in every accepted time zone without a region, in winter and in summer', async () => {
  const names = await api.sql(
    `select name from pg_timezone_names where name not like '%/%' union select abbrev from pg_timezone_abbrevs`,
  )
  const times = [new Date('2025-01-15T12:00:00Z'), new Date('2025-07-15T12:00:00Z')]
  const accepted: string[] = []
  for (const name of names.map((row) => row['name'] as string)) {
    const { status } = await api.get(`/store/figures?days=1&timeZone=${encodeURIComponent(name)}`)
    if (status !== 200) continue
    accepted.push(name)
    const [found] = await api.sql(
      `select array(select to_char(time at time zone $1, 'YYYY-MM-DD HH24:MI:SS') from unnest($2::timestamptz[]) as time)`,
      [databaseTimeZone(name), times],
    )
    expect(found?.['array'], name).toEqual(times.map((time) => timeIn(name, time)))
  }
  expect(accepted).toEqual(
    expect.arrayContaining(['CET', 'EET', 'EST', 'HST', 'MET', 'MST', 'WET', 'UTC', 'Japan']),
  )
})

test.each([
  ['CET', 'Europe/Brussels'],
  ['met', 'Europe/Brussels'],
  ['EET', 'Europe/Athens'],
  ['WET', 'Europe/Lisbon'],
])('the days of %s are those of %s', (timeZone, zone) =>
  onOneDay(async () => {
    const own = await withoutFigures()
    await own.sql(
      `insert into outbox (at, type, count, pet_ids)
        select ((now() at time zone $1)::date - n)::timestamp at time zone $1, 'pet.created', 1, array[n]
        from generate_series(1, 90) as n`,
      [zone],
    )
    const found = await figures(`?days=90&timeZone=${timeZone}`, own)
    expect(found.timeZone).toBe(timeZone)
    expect(found.days).toEqual((await figures(`?days=90&timeZone=${zone}`, own)).days)
  }, zone),
)

test('accepts 1 to 90 days', async () => {
  expect((await figures('?days=1')).days).toHaveLength(1)
  expect((await figures('?days=90&timeZone=Pacific/Kiritimati')).days).toHaveLength(90)
})

test.each(
  rows([
    'days=0',
    'days=91',
    'days=x',
    'days=',
    'timeZone=',
    'timeZone=Mars/Olympus',
    'timeZone=abc5',
    'timeZone=IST',
    'timeZone=pst',
    'timeZone=%2B01:00',
    'timeZone=Europe/Berlin%00',
    'timeZone=UTC&timeZone=UTC',
    `timeZone=${'x'.repeat(10_000)}`,
  ]),
)('rejects ?$shown (400)', async ({ value }) => {
  const response = await api.get(`/store/figures?${value}`)
  expect(response).toMatchObject({ status: 400, body: { code: 'invalid_parameter' } })
  expect(faultyFields(response)).toHaveLength(1)
})

test('says since when changes are counted if that is later than the first day', async () => {
  const own = await openApiFixture()
  const [{ since } = {}] = (await own.sql('select counted_since as since from pet_figures_start')) as {
    since: Date
  }[]
  expect((await figures('', own)).countedSince).toBe(since?.toISOString())
  await own.sql(`update pet_figures_start set counted_since = now() - interval '40 days'`)
  expect(await figures('?days=30', own)).not.toHaveProperty('countedSince')
  expect(await figures('?days=60', own)).toHaveProperty('countedSince')
})

test('keeps the figures of 100 days', async () => {
  const own = await withoutFigures()
  await own.sql(`insert into pet_figures (starts_at, added, sold)
    select now() - make_interval(days => 100, mins => n), 1, 0 from generate_series(-5, 2500) n`)
  await purgeFigures(own.db)
  const [{ count } = {}] = await own.sql('select count(*)::int from pet_figures')
  expect(count).toBe(5)
})
