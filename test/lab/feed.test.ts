// Plants each kind of violation in a small event feed, and checks that the drill reports it.
import { describe, expect, test } from 'vitest'
import { EventLog, type FeedEvent, PositionCheck } from '../../lab/load/feed-log.ts'
import { openLag } from '../../lab/load/feed-lag.ts'
import { openGate } from '../../lab/parts/gate.ts'
import { emptyHistory } from '../../lab/load/history.ts'
import { checkEvents } from '../../lab/load/verdict.ts'
import {
  compareOrders,
  comparePets,
  type Difference,
  Mirror,
  type StoredOrder,
  type StoredPet,
} from '../../lab/parts/mirror.ts'
import type { Violation } from '../../lab/parts/violations.ts'

const EPOCH = '3f1c9a52be07'
const created = (petId: number, name = `run-k${petId}`) => ({
  type: 'pet.created',
  petId,
  pet: { name, categoryId: 1, status: 'available' },
})
const updated = (petId: number, status: string, changed = ['status']) => ({
  type: 'pet.updated',
  petId,
  pet: { name: `run-k${petId}`, categoryId: 1, status },
  changed,
})
const ordered = (petId: number, id: number, status: string) => ({
  type: `order.${status === 'open' ? 'placed' : status}`,
  petId,
  order: { id, petId, status },
})

type Change = Omit<FeedEvent, 'position' | 'occurredAt'>
const numbered = (changes: Change[], first = 2): FeedEvent[] =>
  changes.map((change, index) => ({
    ...change,
    position: `${EPOCH}-${first + index}`,
    occurredAt: '2026-11-15T10:00:00.000Z',
  }))

/** A completed sale, a cancelled order and a deleted pet. */
const SALES = [
  created(1),
  created(2),
  created(3),
  updated(1, 'pending'),
  ordered(1, 1, 'open'),
  updated(2, 'pending'),
  ordered(2, 2, 'open'),
  updated(1, 'sold'),
  ordered(1, 1, 'completed'),
  updated(2, 'available'),
  ordered(2, 2, 'cancelled'),
  { type: 'pet.deleted', petId: 3 },
]
const PETS: StoredPet[] = [
  { id: 1, name: 'run-k1', categoryId: 1, status: 'sold', version: 3 },
  { id: 2, name: 'run-k2', categoryId: 1, status: 'available', version: 3 },
]
const ORDERS: StoredOrder[] = [
  { id: 1, petId: 1, status: 'completed' },
  { id: 2, petId: 2, status: 'cancelled' },
]

/** Reads the events as the follower does. */
function read(events: FeedEvent[], log = new EventLog()): { mirror: Mirror; found: Violation[] } {
  const mirror = new Mirror()
  const positions = new PositionCheck()
  const found: Violation[] = []
  for (const event of events) {
    const position = positions.next(event.position, (violation) => found.push(violation))
    if (position === undefined) continue
    found.push(...log.record(event, position))
    const fault = mirror.apply(event)
    if (fault !== undefined) found.push({ kind: 'eventUnexpected', subject: event.position, text: fault })
  }
  return { mirror, found }
}

const kindsOf = (violations: Violation[]) => [...new Set(violations.map(({ kind }) => kind))].sort()
const differences = async (
  mirror: Mirror,
  pets: StoredPet[],
  orders: StoredOrder[],
): Promise<Difference[]> => [
  ...(await comparePets(mirror, [pets])),
  ...(await compareOrders(mirror, [orders])),
]

test('accepts a consistent feed, and its mirror equals the database', async () => {
  const { mirror, found } = read(numbered(SALES))
  expect(found).toEqual([])
  expect(await differences(mirror, PETS, ORDERS)).toEqual([])
  expect(await comparePets(mirror, [PETS.slice(0, 1), PETS.slice(1)])).toEqual([])
})

test('mirrors pets with ids that are not consecutive', () => {
  const { mirror, found } = read(numbered([created(1), created(300_000), updated(300_000, 'sold')], 200_000))
  expect(found).toEqual([])
  expect(mirror.pet(300_000)).toMatchObject({ categoryId: 1, status: 'sold', updates: ['status sold'] })
  expect(mirror.pet(299_999)).toBeUndefined()
})

describe('reports in the feed', () => {
  const [first, second, ...rest] = numbered(SALES) as [FeedEvent, FeedEvent, ...FeedEvent[]]
  const planted: [title: string, kind: string, events: FeedEvent[]][] = [
    ['a skipped number', 'feedGap', [first, ...numbered([created(2)], 4)]],
    ['a number that is returned twice', 'feedGap', [first, second, ...numbered([created(9)], 3)]],
    ['a number that goes back', 'feedGap', [second, first, ...rest]],
    ['a malformed position', 'feedGap', [{ ...first, position: '2' }]],
    ['another epoch', 'feedExpired', [first, { ...second, position: '000000000000-3' }]],
    ['a pet that is created twice', 'eventUnexpected', numbered([created(1), created(1)])],
    ['a deleted pet that is created again', 'eventUnexpected', numbered([...SALES, created(3)])],
    ['an update of an unknown pet', 'eventUnexpected', numbered([updated(1, 'pending')])],
    [
      'an update that is repeated',
      'eventUnexpected',
      numbered([created(1), updated(1, 'sold'), updated(1, 'sold')]),
    ],
    ['an update after a lost one', 'eventUnexpected', numbered([created(1), updated(1, 'available')])],
    [
      'an update that changed more than it lists',
      'eventUnexpected',
      numbered([created(1), updated(1, 'sold', [])]),
    ],
    ['a deletion of an unknown pet', 'eventUnexpected', numbered([{ type: 'pet.deleted', petId: 1 }])],
    ['an order for an unknown pet', 'eventUnexpected', numbered([ordered(1, 1, 'open')])],
    [
      'an order that is placed twice',
      'eventUnexpected',
      numbered([created(1), ordered(1, 1, 'open'), ordered(1, 1, 'open')]),
    ],
    [
      'the end of an order that was not placed',
      'eventUnexpected',
      numbered([created(1), ordered(1, 1, 'completed')]),
    ],
    ['an order that ends twice', 'eventUnexpected', numbered([...SALES, ordered(1, 1, 'cancelled')])],
  ]

  test.each(planted)('%s', (_, kind, events) => {
    expect(kindsOf(read(events).found)).toContain(kind)
  })
})

describe('reports in the mirror', () => {
  const planted: [title: string, pets: StoredPet[], orders: StoredOrder[]][] = [
    ['a pet that is missing in the database', PETS.slice(1), ORDERS],
    [
      'a pet without events',
      [...PETS, { id: 9, name: 'x', categoryId: 1, status: 'sold', version: 1 }],
      ORDERS,
    ],
    ['another name', PETS.map((row) => ({ ...row, name: row.id === 1 ? 'x' : row.name })), ORDERS],
    ['another category', PETS.map((row) => ({ ...row, categoryId: row.id })), ORDERS],
    ['another status', PETS.map((row) => ({ ...row, status: 'sold' })), ORDERS],
    ['changes without events', PETS.map((row) => ({ ...row, version: row.id === 2 ? 5 : 3 })), ORDERS],
    ['an order that is missing in the database', PETS, ORDERS.slice(1)],
    ['an order without events', PETS, [...ORDERS, { id: 3, petId: 2, status: 'open' }]],
    ['another status of an order', PETS, ORDERS.map((row) => ({ ...row, status: 'completed' }))],
    [
      'another price of an order',
      PETS,
      ORDERS.map((row) => ({ ...row, price: row.id === 1 ? '5.00 EUR' : '' })),
    ],
    ['an order for another pet', PETS, ORDERS.map((row) => ({ ...row, petId: 2 }))],
  ]

  test.each(planted)('%s', async (_, pets, orders) => {
    const { mirror } = read(numbered(SALES))
    expect(await differences(mirror, pets, orders)).toHaveLength(1)
  })
})

test('reports an event whose content changed after it was read, once for each position', () => {
  const log = new EventLog()
  const [first, second, third] = numbered([created(1), created(2), created(3)]) as [
    FeedEvent,
    FeedEvent,
    FeedEvent,
  ]
  read([first, second, third], log)
  expect(read([first, second, third], log).found).toEqual([])
  const [other] = numbered([created(2, 'another name')], 3) as [FeedEvent]
  expect(log.compare(other, { number: 3 })).toMatchObject([{ kind: 'eventChanged', subject: other.position }])
  expect(kindsOf(read([first, other, third], log).found)).toEqual(['eventChanged'])
  expect(log.compare(created(4) as FeedEvent, { number: 100_000 })).toEqual([])
})

describe('reports an acknowledged change without its event', () => {
  const history = () => {
    const acknowledged = emptyHistory('run-')
    acknowledged.pets.set(1, 'run-k1').set(2, 'run-k2').set(3, 'run-k3')
    acknowledged.orders.set(1, { petId: 1, state: 'completed' }).set(2, { petId: 2, state: 'cancelled' })
    return acknowledged
  }
  const without = (type: string) => read(numbered(SALES.filter((change) => change.type !== type))).mirror

  test('nothing if all events exist', () => {
    expect(checkEvents(history(), read(numbered(SALES)).mirror)).toEqual([])
  })

  test.each([
    ['pet.created', 3],
    ['order.completed', 1],
    ['order.cancelled', 1],
  ])('%s', (type, count) => {
    expect(checkEvents(history(), without(type)).map(({ kind }) => kind)).toEqual(
      Array<string>(count).fill('eventMissing'),
    )
  })

  test('order.placed', () => {
    const mirror = read(numbered(SALES.filter(({ type }) => !type.startsWith('order.')))).mirror
    expect(checkEvents(history(), mirror).map(({ subject }) => subject)).toEqual(['order 1', 'order 2'])
  })
})

test('measures the time from an acknowledgement to its event', () => {
  let now = 0
  const lag = openLag(
    (petId) => petId === 9,
    () => now,
  )
  lag.acknowledge(9)
  lag.acknowledge(1)
  lag.acknowledge(2)
  now = 300
  lag.see(1)
  expect(lag.worstMs()).toBe(300)
  now = 800
  expect(lag.worstMs()).toBe(800)
  lag.see(2)
  lag.startWindow()
  expect(lag.worstMs()).toBe(0)
  expect(lag.percentile(99)).toBe(800)
})

test('a paused gate holds back new work, and waits for the work in flight', async () => {
  const gate = openGate()
  const done: string[] = []
  const release = Promise.withResolvers<void>()
  const early = gate.pass(() => release.promise)
  expect(await gate.pause(10)).toBe(false)
  const late = gate.pass(async () => done.push('late'))
  const paused = gate.pause(1_000)
  release.resolve()
  await early
  expect(await paused).toBe(true)
  expect(done).toEqual([])
  gate.resume()
  await late
  expect(done).toEqual(['late'])
})
