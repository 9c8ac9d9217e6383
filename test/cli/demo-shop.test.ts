// The shop of `petstore demo` and `npm run dev`, which has been open for 90 days.
import { beforeAll, expect, test } from 'vitest'
import { type PastStep, planPast } from '../../src/data/demo/demo-past.ts'
import { PET_COUNT } from '../../src/data/demo/demo-pets.ts'
import { addDemoShop } from '../../src/data/demo/demo-shop.ts'
import { type ApiFixture, openApiFixture } from '../support/api-fixture.ts'
import type { TestResponse } from '../support/client.ts'
import { openTestDatabase } from '../support/database.ts'
import { auditFeed } from '../support/feed-audit.ts'
import { runInProcess } from '../support/in-process.ts'
import { onOneDay } from '../support/one-day.ts'
import { asOwner, asVerifier } from '../support/roles.ts'
import { auditStore } from '../support/store-audit.ts'

const HOUR_MS = 3_600_000
/** Different times of the day on every day of the week, and both changes of the clocks. */
const MOMENTS = Array.from(
  { length: 40 },
  (_, index) => new Date(Date.UTC(2026, 0, 1) + index * 221 * HOUR_MS),
)

/** The steps of each pet, oldest first. */
function stepsByPet(steps: readonly PastStep[]): Map<number, PastStep[]> {
  const pairs = steps.flatMap((step) =>
    ('pets' in step ? step.pets : [step.pet]).map((pet) => ({ pet, step })),
  )
  const byPet = Map.groupBy(pairs, ({ pet }) => pet)
  return new Map([...byPet].map(([pet, found]) => [pet, found.map(({ step }) => step)]))
}

/** What is wrong with the steps of a pet; undefined if the service would have allowed them. */
function faultOf(steps: readonly PastStep[], now: Date): string | undefined {
  let hold: Extract<PastStep, { kind: 'hold' }> | undefined
  const kinds = steps.map(({ kind }) => kind).join(' ')
  if (!/^arrive describe(?: reprice)?(?: hold(?: end)?)*$/.test(kinds)) return kinds
  for (const step of steps) {
    if (step.at > now) return 'a step in the future'
    if (step.kind === 'hold') hold = step
    if (step.kind !== 'end' || hold === undefined) continue
    const isInTime = step.as === 'expired' ? +step.at === +hold.expiresAt : step.at < hold.expiresAt
    if (step.at <= hold.at || !isInTime) return `${step.as} at ${step.at.toISOString()}`
    hold = undefined
  }
  return hold !== undefined && hold.expiresAt <= now ? 'a hold that is open after its end' : undefined
}

test('its past is possible, at every time of the day and of the year', () => {
  for (const now of MOMENTS) {
    const steps = planPast(now)
    expect(steps.every(({ at }, index) => index === 0 || at >= (steps[index - 1] as PastStep).at)).toBe(true)
    const byPet = stepsByPet(steps)
    expect(byPet.size).toBe(PET_COUNT)
    const faults = [...byPet].map(([pet, own]) => ({ pet, fault: faultOf(own, now) }))
    expect(
      faults.filter(({ fault }) => fault !== undefined),
      now.toISOString(),
    ).toEqual([])
  }
})

test('adds and sells pets on most days, more at weekends', () => {
  for (const now of MOMENTS) {
    const steps = planPast(now)
    for (const kind of ['arrive', 'end']) {
      const isCounted = (step: PastStep) => step.kind === kind && !('as' in step && step.as !== 'completed')
      // Without the first day, on which the shop gets its first pets.
      const dates = steps
        .filter(isCounted)
        .flatMap((step) => ('pets' in step ? step.pets : [0]).map(() => step.at))
      const later = dates.filter((at) => +at - +(dates[0] as Date) > 24 * HOUR_MS)
      const days = Map.groupBy(later, (at) => at.toDateString())
      expect(days.size, `${kind} ${now.toISOString()}`).toBeGreaterThan(60)
      const isWeekend = (at: Date) => at.getDay() % 6 === 0
      const atWeekends = later.filter(isWeekend).length
      expect(atWeekends / 2).toBeGreaterThan((1.3 * (later.length - atWeekends)) / 5)
    }
  }
})

test('the same pets are sold and held at the same prices, whenever the shop is opened', () => {
  const factsAt = (now: Date) =>
    [...stepsByPet(planPast(now))]
      .toSorted(([one], [other]) => one - other)
      .map(([pet, steps]) => {
        const described = steps.find((step) => step.kind === 'describe') as Extract<
          PastStep,
          { kind: 'describe' }
        >
        const { bornOn: _bornOn, ...profile } = described.profiles[described.pets.indexOf(pet)] ?? {}
        const last = steps.at(-1)
        return {
          profile,
          isSold: last?.kind === 'end' && last.as === 'completed',
          isHeld: last?.kind === 'hold',
        }
      })
  const [first, ...others] = MOMENTS.map(factsAt)
  for (const facts of others) expect(facts).toEqual(first)
})

const { timeZone } = Intl.DateTimeFormat().resolvedOptions()
let api: ApiFixture
let figures: TestResponse
beforeAll(() =>
  onOneDay(async () => {
    api = await openApiFixture()
    expect(await addDemoShop(openTestDatabase(asOwner(api.databaseUrl), 1))).toBe(PET_COUNT)
    figures = await api.get(`/store/figures?days=90&timeZone=${encodeURIComponent(timeZone)}`)
  }, timeZone),
)

test('`petstore verify` and the audits of the tests find no fault', async () => {
  expect(await auditStore(api.databaseUrl)).toEqual([])
  expect(await auditFeed(api.databaseUrl)).toEqual([])
  const { stdout } = await runInProcess(['verify', '--json'], { DATABASE_URL: asVerifier(api.databaseUrl) })
  const findings = JSON.parse(stdout) as { state: string }[]
  expect(findings.filter(({ state }) => state === 'fault')).toEqual([])
})

test('its figures per day equal its pets, sales and inventory', async () => {
  const { days, countedSince } = figures.body as {
    countedSince?: string
    days: { added: number; sold: number; sales: { orders: number; totals: unknown[] } }[]
  }
  expect(countedSince).toBeUndefined()
  const sum = (of: (day: (typeof days)[number]) => number) => days.reduce((total, day) => total + of(day), 0)
  const { body: inventory } = await api.get('/store/inventory')
  expect(inventory).toMatchObject({ sold: sum(({ sold }) => sold) })
  expect(sum(({ added }) => added)).toBe(PET_COUNT)
  expect(days.filter(({ sold, sales }) => sold !== sales.orders)).toEqual([])
  expect(days.filter(({ sales }) => sales.totals.length === 1).length).toBeGreaterThan(60)
})

test('has open holds of several people, and cancelled and expired ones; nothing is in the future', async () => {
  const orders = await api.sql(
    `select orders.status, count(*)::int, count(distinct placed_by)::int as people from orders group by 1 order by 1`,
  )
  expect(orders.map(({ status }) => status)).toEqual(['open', 'completed', 'cancelled', 'expired'])
  expect(orders[0]?.['people']).toBeGreaterThan(2)
  const late = await api.sql(
    `select 'pet' from pets where created_at > now() union all select 'entry' from pet_history where at > now()
      union all select 'event' from outbox where at > now()
      union all select 'order' from orders where greatest(created_at, closed_at) > now()
      union all select 'event before an earlier one' from (
        select at, lag(at) over (order by id) as before from outbox
      ) as events where at < before`,
  )
  expect(late).toEqual([])
  const withoutHistory = `select id from pets where not exists (select from pet_history where pet_id = pets.id)`
  expect(await api.sql(withoutHistory)).toEqual([])
})

test('has three API keys: one is unused, one expires soon, one calls a deprecated operation', async () => {
  const keys = (await api.get('/api-keys')).body as Record<string, string>[]
  const named = (name: string) => keys.find((apiKey) => apiKey['name'] === name)
  expect(named('label-printer')?.['lastUsedAt']).toBeUndefined()
  expect(Date.parse(named('till')?.['expiresAt'] ?? '') - Date.now()).toBeLessThan(7 * 24 * HOUR_MS)
  const calls = (await api.get('/api-keys/deprecated-calls')).body
  expect(calls).toMatchObject([{ actor: 'web-shop', operation: 'getPet' }])
})

test('has two webhooks with a past, one of which fails; both stay on this host', async () => {
  const webhooks = (await api.get('/webhooks')).body as Record<string, unknown>[]
  expect(webhooks.map(({ url }) => new URL(String(url)).hostname)).toEqual(['127.0.0.1', '127.0.0.1'])
  const [failing, healthy] = webhooks
  expect(failing).toMatchObject({ enabled: true, failingSince: expect.any(String) })
  expect(failing?.['waiting']).toBeGreaterThan(0)
  expect(healthy).toMatchObject({ enabled: true, waiting: 0 })
  expect(healthy).not.toHaveProperty('failingSince')
  const outcomes = async (id: unknown) => {
    const deliveries = (await api.get(`/webhooks/${id}/deliveries?limit=100`)).body as { outcome: string }[]
    return [...new Set(deliveries.map(({ outcome }) => outcome))]
  }
  expect(await outcomes(failing?.['id'])).toContain('failed')
  expect(await outcomes(healthy?.['id'])).toEqual(['delivered'])
})

test('is not added to a catalogue that has pets', async () => {
  expect(await addDemoShop(api.db)).toBe(0)
})
