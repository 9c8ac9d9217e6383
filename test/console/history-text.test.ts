// The history of a pet in plain words.
import type { HistoryEntry } from '@petstore/client'
import { expect, test } from 'vitest'
import { entryText } from '../../console/src/pet/history-text.ts'
import { agoText, exactText } from '../../console/src/layout/when-text.ts'

const nameOf = (id: string) => ({ 1: 'Dogs', 2: 'Cats' })[id] ?? `Category ${id}`

function textOf(part: Partial<HistoryEntry>): string {
  const entry = {
    at: '2026-11-16T14:00:00Z',
    event: 'updated',
    actor: 'Ada',
    requestId: 'r',
    ...part,
  } as const
  const { who, what, why } = entryText(entry, nameOf)
  return `${who} ${what}${why === undefined ? '' : `: ${why}`}`
}

test.each<[Partial<HistoryEntry>, string]>([
  [{ event: 'created' }, 'Ada added the pet'],
  [{ event: 'order_placed' }, 'Ada put the pet on hold'],
  [{ event: 'order_completed' }, 'Ada sold the pet'],
  [{ event: 'order_cancelled' }, 'Ada released the hold'],
  [{ event: 'order_expired', actor: 'petstore' }, 'Petstore ended the hold, because its time ran out'],
  [
    { from: { status: 'available' }, to: { status: 'sold' }, reason: 'walk-in' },
    'Ada changed the status from available to sold: walk-in',
  ],
  [
    { from: { status: 'pending' }, to: { status: 'available' } },
    'Ada changed the status from on hold to available',
  ],
  [
    {
      from: { name: 'Rex', categoryId: '1', status: 'sold' },
      to: { name: 'Max', categoryId: '2', status: 'available' },
    },
    'Ada changed the name from Rex to Max, the category from Dogs to Cats and the status from sold to available',
  ],
  [
    { to: { price: '129.00', currency: 'EUR', breed: 'Beagle', sex: 'female', bornOn: '2026-08-14' } },
    'Ada changed the price to €129.00, the breed to Beagle, the sex to female and the date of birth to 14 Aug 2026',
  ],
  [
    { from: { price: '129.00', currency: 'EUR' }, to: { price: '120.00', currency: 'EUR' } },
    'Ada changed the price from €129.00 to €120.00',
  ],
  [
    { from: { chipNumber: '276', description: 'Calm.' } },
    'Ada changed the chip number from 276 to none and the description',
  ],
  [{ event: 'weighed' as 'updated', to: { name: 'Max' } }, 'Ada changed the pet'],
])('%o is "%s"', (entry, text) => {
  expect(textOf(entry)).toBe(text)
})

test.each([
  [0, 'just now'],
  [-30_000, 'just now'],
  [60_000, '1 minute ago'],
  [3_600_000 - 1, '59 minutes ago'],
  [7_200_000, '2 hours ago'],
  [86_400_000, '1 day ago'],
  [8 * 86_400_000, '8 Nov 2026'],
])('a change %i ms ago was made "%s"', (ms, text) => {
  const now = new Date(2026, 10, 16, 14).getTime()
  expect(agoText(new Date(now - ms).toISOString(), now)).toBe(text)
})

test('the exact time has seconds and the time zone', () => {
  expect(exactText(new Date(2026, 10, 16, 14, 5, 9).toISOString())).toMatch(/16 November 2026.*14:05:09 \S+/)
})
