// Why a change can no longer be undone.
import type { HistoryEntry } from '@petstore/client'
import { expect, test } from 'vitest'
import { sinceText } from '../../console/src/pets/undo.ts'

/** A local time, because the pages show the time zone of the browser. */
const NOW = new Date(2026, 10, 16, 22, 30, 0).getTime()
const AT = new Date(2026, 10, 16, 22, 5, 0).toISOString()

function textOf(part: Partial<HistoryEntry>): string {
  return sinceText({ at: AT, event: 'updated', actor: 'Bo', requestId: 'r', ...part }, NOW)
}

test.each<[Partial<HistoryEntry>, string]>([
  [{ event: 'order_completed' }, 'the pet was sold at 22:05'],
  [{ event: 'order_placed' }, 'the pet was put on hold at 22:05'],
  [{ event: 'order_cancelled' }, 'the hold was released at 22:05'],
  [{ event: 'order_expired' }, 'the time of the hold ran out at 22:05'],
  [{ to: { status: 'sold' } }, 'the pet was sold at 22:05'],
  [{ to: { status: 'pending' } }, 'the pet was put on hold at 22:05'],
  [{ to: { status: 'available' } }, 'the pet was made available at 22:05'],
  [{ to: { name: 'Max' } }, 'the pet was changed at 22:05'],
  [{ event: 'created' }, 'the pet was changed at 22:05'],
])('after %j: %s', (entry, text) => {
  expect(textOf(entry)).toBe(text)
})

test('a pet that was deleted, or whose history cannot be read', () => {
  expect(sinceText(null, NOW)).toBe('the pet was deleted')
  expect(sinceText(undefined, NOW)).toBe('the pet has changed')
})
