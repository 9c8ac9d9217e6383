// The texts of a hold: the time that is left, who has the pet, and why a hold has ended.
import type { Order } from '@petstore/client'
import { describe, expect, test } from 'vitest'
import { conflictText, endedText, heldByText } from '../../console/src/selling/conflict-text.ts'
import {
  clockText,
  isEnding,
  minutesLeft,
  minutesUntil,
  timeLeftText,
} from '../../console/src/layout/hold-time.ts'
import { applyToHolds } from '../../console/src/live/open-holds.ts'

/** A local time, because the pages show the time zone of the browser. */
const NOW = new Date(2026, 10, 16, 14, 0, 0).getTime()
const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const at = (ms: number) => new Date(NOW + ms).toISOString()

function order(part: Partial<Order>): Order {
  return {
    id: '1',
    petId: '7',
    status: 'open',
    placedBy: 'Ada',
    createdAt: at(0),
    expiresAt: at(HOUR),
    ...part,
  }
}

describe('the time that is left', () => {
  test.each([
    [0, 'Time is up'],
    [-5 * MINUTE, 'Time is up'],
    [999, 'Time is up'],
    [59_999, '59 s left'],
    [MINUTE, '1 min 0 s left'],
    [5 * MINUTE - 1, '4 min 59 s left'],
    [5 * MINUTE, '5 min left'],
    [HOUR - 1, '59 min left'],
    [HOUR, '1 h left'],
    [HOUR + 5 * MINUTE, '1 h 5 min left'],
    [24 * HOUR, '1 d left'],
    [49 * HOUR, '2 d 1 h left'],
  ])('is rounded down: %i ms are "%s"', (ms, text) => {
    expect(timeLeftText(at(ms), NOW)).toBe(text)
  })

  test('is urgent in the last five minutes', () => {
    expect(isEnding(at(5 * MINUTE - 1), NOW)).toBe(true)
    expect(isEnding(at(5 * MINUTE), NOW)).toBe(false)
  })

  test('is at least one minute for a new hold until the same time', () => {
    expect(minutesLeft(at(12 * MINUTE + 1), NOW)).toBe(13)
    expect(minutesLeft(at(-HOUR), NOW)).toBe(1)
  })
})

test('the end of a hold has a date only on another day', () => {
  expect(clockText(at(HOUR), NOW)).toBe('15:00')
  expect(clockText(at(24 * HOUR), NOW)).toBe('Tue 17 Nov, 14:00')
})

test.each([
  ['2026-11-16T18:00', 240],
  ['2026-11-16T14:01', 1],
  ['2026-11-16T14:00', undefined],
  ['2026-11-16T09:00', undefined],
  ['2026-11-21T12:00', 7_080],
  ['2026-11-23T14:00', 10_080],
  ['2026-11-23T14:01', undefined],
  ['2026-11-16T', undefined],
  ['', undefined],
])('a hold until %s lasts %s minutes', (localTime, minutes) => {
  expect(minutesUntil(localTime, NOW)).toBe(minutes)
})

describe('a conflict', () => {
  test('says who holds the pet, until when and for whom', () => {
    expect(heldByText(order({ note: 'Ms Okafor' }), NOW)).toBe('Held by Ada until 15:00 (Ms Okafor)')
    expect(conflictText('pending', order({}), NOW)).toBe('Held by Ada until 15:00.')
  })

  test('says the status of the pet if no order is known', () => {
    expect(conflictText('sold', undefined, NOW)).toBe('This pet is sold.')
    expect(conflictText('pending', undefined, NOW)).toBe('This pet is on hold.')
    expect(conflictText('available', undefined, NOW)).toContain('try again')
    expect(conflictText(undefined, undefined, NOW)).toBe('This pet was deleted.')
  })

  test('says how a hold has ended', () => {
    const closedAt = at(-10 * MINUTE)
    expect(endedText(order({ status: 'completed', closedAt }), NOW)).toBe('The pet was sold at 13:50.')
    expect(endedText(order({ status: 'cancelled', closedAt }), NOW)).toBe('The hold was released at 13:50.')
    expect(endedText(order({ status: 'expired', closedAt }), NOW)).toContain('ran out at 13:50')
  })
})

describe('the open holds', () => {
  const first = order({ id: '1', expiresAt: at(MINUTE) })
  const last = order({ id: '2', expiresAt: at(HOUR) })
  const holds = { orders: [first, last], hasMore: false }
  const idsAfter = (change: Order) => applyToHolds(holds, change).orders.map(({ id }) => id)

  test('get a new hold at its place by the time left', () => {
    expect(idsAfter(order({ id: '3', expiresAt: at(30 * MINUTE) }))).toEqual(['1', '3', '2'])
    expect(idsAfter({ ...first, expiresAt: at(2 * HOUR) })).toEqual(['2', '1'])
  })

  test('lose a hold that is completed, cancelled or expired', () => {
    for (const status of ['completed', 'cancelled', 'expired'] as const)
      expect(idsAfter({ ...first, status })).toEqual(['2'])
  })

  test('stay the same object if nothing changes', () => {
    expect(applyToHolds(holds, order({ id: '9', status: 'expired' }))).toBe(holds)
  })
})
