// What happened in the demo shop during the 90 days before now: pets arrive, are described, held and sold, more of them at
// weekends. The facts about a pet are the same on every machine and every day; only the times depend on now.
import type { PetStatus } from '../../contract/pet-status.ts'
import type { ProfileFields, Sex } from '../../contract/profile-fields.ts'
import type { PaymentMethod } from '../../store/ledger/schema.ts'
import { demoPet, PET_COUNT } from './demo-pets.ts'

export const OPEN_DAYS = 90
const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

/** Who does something in the shop: people, the web shop and the till. demo-keys.ts has their API keys. */
export type ActorName = 'ada' | 'sam' | 'kim' | 'web-shop' | 'till'
const STAFF: readonly ActorName[] = ['ada', 'sam', 'sam', 'kim', 'kim']
const BUYERS: readonly ActorName[] = ['web-shop', 'web-shop', 'till', 'till', 'sam', 'kim', 'ada']

/** A change of one or several pets, by their indexes. Steps in the order of their times are the past of the shop. */
export type PastStep = { at: Date; by: ActorName | undefined } & (
  | { kind: 'arrive'; pets: number[] }
  | { kind: 'describe'; pets: number[]; profiles: ProfileFields[] }
  | { kind: 'reprice'; pet: number; from: ProfileFields; to: ProfileFields }
  | ({ kind: 'hold'; pet: number; expiresAt: Date } & Record<
      'note' | 'price' | 'deposit',
      string | undefined
    >)
  | {
      kind: 'end'
      pet: number
      as: 'completed' | 'cancelled' | 'expired'
      price: string | undefined
      method: PaymentMethod
    }
)

/** A day that was closed in the evening, and how much more was counted than expected. */
export interface PastClosing {
  day: string
  at: Date
  difference: string
}

export const CURRENCY = 'EUR'

/** How busy the days of the week are, from Sunday on. */
const WEEKDAY_WEIGHTS = [1.9, 0.8, 0.9, 1, 1, 1.4, 2.6]
/** The shop opens with some pets. */
const FIRST_DAY_WEIGHT = 7
const OPENS_AT = 9
const CLOSES_AT = 18
/** Mean time until a pet is sold. */
const SOLD_AFTER_DAYS = 12

/** Prices of each category, from and to. */
const PRICES = [
  [650, 1_400],
  [320, 890],
  [29, 65],
  [22, 45],
  [19, 120],
  [4, 28],
  [65, 280],
  [12, 25],
] as const

/** Dogs and cats have a chip. */
const CHIPPED_CATEGORIES = 2
const FISH = 5
const NEWER_PETS = 80

const DESCRIPTIONS = [
  'Calm, likes children.',
  'Playful. Needs a garden or long walks.',
  'Used to other pets.',
  'Shy at first. Eats from the hand after a day.',
  'Has had all vaccinations.\nThe papers are in the folder at the till.',
]

/** Why a pet is held. Some holds have no note. */
const NOTES = [
  'Ms Okafor, comes at noon',
  'Mr Lindqvist, pays on Friday',
  undefined,
  'Family Rossi',
  'phone 0151 2345',
  undefined,
  'Mrs Haddad, wants to bring her son',
  'order from the web shop',
]
/** The pets that are held now were placed on hold within this time. */
const HELD_WITHIN_MS = 5 * HOUR_MS
/** By the number of the pet, like the deposits. */
const METHODS: readonly PaymentMethod[] = ['card', 'cash', 'card', 'cash', 'card', 'cash', 'transfer']
const DEPOSIT = '50.00'
const DEPOSIT_FROM_PRICE = 200
const DEPOSIT_EVERY = 4
/** On some evenings, the drawer has a little less or more. */
const DIFFERENCES: Partial<Record<number, string>> = { 17: '-1.50', 41: '2.00', 66: '-5.00' }
const HOLD_MINUTES = [30, 60, 240, 1_440, 4_320]

interface OpenDay {
  from: number
  to: number
  weight: number
}

type Random = () => number

/** The same numbers on every machine: mulberry32. */
function seeded(seed: number): Random {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

const between = (random: Random, min: number, max: number) => min + random() * (max - min)
const pick = <Item>(random: Random, items: readonly Item[]) =>
  items[Math.floor(random() * items.length)] as Item

/** The steps, oldest first. All of them are before now. */
export function planPast(now: Date): PastStep[] {
  const days = openDays(now)
  const indexes = Array.from({ length: PET_COUNT }, (_, index) => index)
  const arrivals = Map.groupBy(indexes, (index) => arrivalDay(index, days))
  const all = [...arrivals].flatMap(([day, pets]) => stepsOfArrival(day, pets, days, now))
  return all.toSorted((a, b) => a.at.getTime() - b.at.getTime())
}

/** The days that are over, oldest first. A deposit of the last hours must not be of a closed day. */
export function planClosings(now: Date): PastClosing[] {
  const over = openDays(now).filter(
    ({ from }) => new Date(from).setHours(24, 0, 0, 0) + HELD_WITHIN_MS <= now.getTime(),
  )
  return over.map(({ to }, number) => {
    const at = new Date(to + 30 * MINUTE_MS)
    const [year, month, day] = [at.getFullYear(), at.getMonth() + 1, at.getDate()]
    const text = [year, month, day].map((part) => String(part).padStart(2, '0')).join('-')
    return { day: text, at, difference: DIFFERENCES[number] ?? '0.00' }
  })
}

/** When the shop was open, in the time zone of this host. Today counts if it has been open for an hour. */
function openDays(now: Date): OpenDay[] {
  const random = seeded(90)
  return Array.from({ length: OPEN_DAYS }, (_, number) => {
    const date = new Date(now)
    date.setDate(date.getDate() - (OPEN_DAYS - 1 - number))
    const from = date.setHours(OPENS_AT, 0, 0, 0)
    const to = Math.min(date.setHours(CLOSES_AT), now.getTime() - 10 * MINUTE_MS)
    const usual = (WEEKDAY_WEIGHTS[date.getDay()] ?? 1) * between(random, 0.5, 1.5)
    return { from, to, weight: number === 0 ? FIRST_DAY_WEIGHT : usual }
  }).filter(({ from, to }) => to - from >= HOUR_MS)
}

/** The pets arrive in the order of their indexes, more of them on busy days. */
function arrivalDay(index: number, days: readonly OpenDay[]): OpenDay {
  const total = days.reduce((sum, { weight }) => sum + weight, 0)
  let rest = ((index + 0.5) / PET_COUNT) * total
  return days.find(({ weight }) => (rest -= weight) < 0) as OpenDay
}

function stepsOfArrival(day: OpenDay, pets: number[], days: readonly OpenDay[], now: Date): PastStep[] {
  const random = seeded(day.from / DAY_MS)
  const arrivedAt = day.from + between(random, 5, 25) * MINUTE_MS
  const describedAt = arrivedAt + between(random, 10, 25) * MINUTE_MS
  const by = pick(random, STAFF)
  const lives = pets.map((index) => {
    return petLife({ index, random: seeded(index + 1), describedAt, days, now: now.getTime() })
  })
  return [
    { kind: 'arrive', at: new Date(arrivedAt), by, pets },
    { kind: 'describe', at: new Date(describedAt), by, pets, profiles: lives.map(({ profile }) => profile) },
    ...lives.flatMap(({ steps }) => steps),
  ]
}

/** A stay of a pet in the shop: from when it was described until it was held for the last time, or until now. */
interface Stay {
  index: number
  random: Random
  describedAt: number
  days: readonly OpenDay[]
  now: number
}

/** The profile of a pet when it arrived, and what happened to the pet afterwards. */
function petLife(stay: Stay): { profile: ProfileFields; steps: PastStep[] } {
  const { index, random, describedAt, now } = stay
  // The facts come first: the numbers for them must not depend on the days.
  const profile = demoProfile(index, random, describedAt)
  const isRepriced = random() < 0.25
  const isHeldBefore = random() < 0.3
  const last = lastHold(stay)
  const until = (last?.placedAt ?? now) - 2 * HOUR_MS
  const repriced = isRepriced ? reprice(stay, profile, until) : undefined
  const price = repriced?.to.price ?? profile.price
  const before = (repriced?.at.getTime() ?? describedAt) + 10 * MINUTE_MS
  const steps = [
    ...(repriced ? [repriced] : []),
    ...(isHeldBefore ? holdInVain(stay, price, before, until) : []),
    ...(last ? holdSteps(stay, last, price) : []),
  ]
  return { profile, steps }
}

function demoProfile(index: number, random: Random, describedAt: number): ProfileFields {
  const { kind, categoryId } = demoPet(index)
  const category = Number(categoryId) - 1
  const [min, max] = PRICES[category] ?? PRICES[0]
  const hasPrice = random() < 0.94
  const price = roundPrice(between(random, min, max))
  const bornAt = describedAt - between(random, 60, 700) * DAY_MS
  const sex: Sex = category === FISH ? 'unknown' : pick(random, ['female', 'male'])
  const chip = String(Math.floor(random() * 1e9)).padStart(9, '0')
  const description = random() < 0.3 ? pick(random, DESCRIPTIONS) : undefined
  return {
    ...(hasPrice ? { price, currency: CURRENCY } : {}),
    breed: kind,
    sex,
    bornOn: new Date(bornAt).toISOString().slice(0, 'YYYY-MM-DD'.length),
    ...(category < CHIPPED_CATEGORIES ? { chipNumber: `276098${chip}` } : {}),
    ...(description ? { description } : {}),
  }
}

/** Whole euros, in steps of five above 100. */
function roundPrice(amount: number): string {
  return (amount > 100 ? Math.round(amount / 5) * 5 : Math.round(amount)).toFixed(2)
}

interface LastHold {
  placedAt: number
  expiresAt: number
  /** Undefined while the hold is open. */
  soldAt: number | undefined
}

/** Undefined for a pet that is available. */
function lastHold(stay: Stay): LastHold | undefined {
  const { index, random, describedAt, days, now } = stay
  const status = demoStatus(index)
  if (status === 'available') return undefined
  if (status === 'pending') {
    const placedAt = between(
      random,
      Math.max(describedAt + MINUTE_MS, now - HELD_WITHIN_MS),
      now - 3 * MINUTE_MS,
    )
    // The holds end one after another: the first after 11 minutes, the last after more than a day.
    const position = HELD_PETS.length - HELD_PETS.indexOf(index)
    return { placedAt, expiresAt: now + (10 + position ** 3) * MINUTE_MS, soldAt: undefined }
  }
  const first = describedAt + 5 * MINUTE_MS
  const soldAt = openTime(random, days, first, now, SOLD_AFTER_DAYS) ?? first
  // Most customers buy at once. The others come back for a pet that is held for them.
  const minutes = random() < 0.6 ? between(random, 0.5, 2) : between(random, 15, 1_200)
  const placedAt = Math.max(soldAt - minutes * MINUTE_MS, describedAt + MINUTE_MS)
  return { placedAt, expiresAt: placedAt + holdMinutes(soldAt - placedAt) * MINUTE_MS, soldAt }
}

/** The shortest of the usual times that is longer than the hold. */
function holdMinutes(ms: number): number {
  return HOLD_MINUTES.find((minutes) => minutes * MINUTE_MS > ms) as number
}

function reprice({ index, random, describedAt, days }: Stay, { price }: ProfileFields, until: number) {
  const at = openTime(random, days, describedAt + HOUR_MS, until)
  if (at === undefined || price === undefined) return undefined
  return {
    kind: 'reprice' as const,
    at: new Date(at),
    by: pick(random, STAFF),
    pet: index,
    from: { price, currency: CURRENCY },
    to: { price: roundPrice(Number(price) * 0.85), currency: CURRENCY },
  }
}

/** A customer does not come, or decides against the pet. */
function holdInVain(
  { index, random, days }: Stay,
  price: string | undefined,
  from: number,
  until: number,
): PastStep[] {
  const at = openTime(random, days, from, until)
  if (at === undefined) return []
  const expiresAt = new Date(at + HOUR_MS)
  const by = pick(random, BUYERS)
  const isCancelled = random() < 0.6
  const cancelledAt = new Date(at + between(random, 5, 50) * MINUTE_MS)
  const end = { kind: 'end' as const, pet: index, price: undefined, method: methodOf(index) }
  return [
    {
      kind: 'hold',
      at: new Date(at),
      by,
      pet: index,
      expiresAt,
      note: pick(random, NOTES),
      price,
      deposit: undefined,
    },
    isCancelled
      ? { ...end, at: cancelledAt, by, as: 'cancelled' }
      : { ...end, at: expiresAt, by: undefined, as: 'expired' },
  ]
}

function holdSteps(
  { index, random }: Stay,
  { placedAt, expiresAt, soldAt }: LastHold,
  price: string | undefined,
): PastStep[] {
  const by = pick(random, BUYERS)
  const isBoughtAtOnce = soldAt !== undefined && soldAt - placedAt < 5 * MINUTE_MS
  const note = isBoughtAtOnce ? undefined : pick(random, NOTES)
  const deposit = isBoughtAtOnce ? undefined : depositOf(index, price)
  const hold = { kind: 'hold' as const, at: new Date(placedAt), by, pet: index, price, note, deposit }
  // Some customers get a discount.
  const agreed = price === undefined || random() < 0.85 ? undefined : roundPrice(Number(price) * 0.9)
  const placed: PastStep = { ...hold, expiresAt: new Date(expiresAt) }
  if (soldAt === undefined) return [placed]
  const method = methodOf(index)
  return [
    placed,
    { kind: 'end', at: new Date(soldAt), by, pet: index, as: 'completed', price: agreed, method },
  ]
}

function methodOf(index: number): PaymentMethod {
  return METHODS[index % METHODS.length] as PaymentMethod
}

function depositOf(index: number, price: string | undefined): string | undefined {
  return index % DEPOSIT_EVERY === 0 && Number(price ?? 0) >= DEPOSIT_FROM_PRICE ? DEPOSIT : undefined
}

/**
 * Most of the older pets are sold. Of the newer ones, most are available and some are held, as in a shop that has just got
 * them.
 */
function demoStatus(index: number): PetStatus {
  const position = (index * 13) % 20
  if (index < PET_COUNT - NEWER_PETS) return position < 7 || position >= 14 ? 'sold' : 'available'
  if (position < 14) return 'available'
  return position < 17 ? 'pending' : 'sold'
}

const HELD_PETS = Array.from({ length: PET_COUNT }, (_, index) => index).filter(
  (index) => demoStatus(index) === 'pending',
)

/**
 * A random time between the two at which the shop was open, more likely on busy days; undefined if there is none. With
 * `meanDays`, early days are more likely.
 */
function openTime(
  random: Random,
  days: readonly OpenDay[],
  after: number,
  before: number,
  meanDays = Number.POSITIVE_INFINITY,
): number | undefined {
  const possible = days
    .map(({ from, to, weight }) => {
      const [start, end] = [Math.max(from, after), Math.min(to, before)]
      const share = Math.max(0, end - start) / (to - from)
      return { start, end, weight: weight * share * Math.exp(-(start - after) / DAY_MS / meanDays) }
    })
    .filter(({ weight }) => weight > 0)
  let rest = random() * possible.reduce((sum, { weight }) => sum + weight, 0)
  const day = possible.find(({ weight }) => (rest -= weight) < 0)
  return day && between(random, day.start, day.end)
}
