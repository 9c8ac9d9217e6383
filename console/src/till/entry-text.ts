// An entry of the ledger in words. Times and days are those of the shop.
import type { Entry } from '@petstore/client'
import type { Tone } from '../layout/tones.ts'
import { type Method, methodText } from '../money/words.ts'
import { isNegative } from '../profile/price.ts'
import { formatIn } from '../shop/zoned.ts'

/** Older sales, and those of programs, can have no method. */
export const NO_METHOD = 'Not given'

export interface KindText {
  text: string
  /** A sale is plain. */
  tone?: Tone
}

export function kindText({ kind, pets, paid }: Pick<Entry, 'kind' | 'pets' | 'paid'>): KindText {
  switch (kind) {
    case 'sale':
      return { text: 'Sale' }
    case 'deposit':
      return { text: 'Deposit', tone: 'info' }
    case 'correction':
      return { text: 'Correction', tone: 'wait' }
    case 'refund':
      return { text: pets < 0 ? 'Return' : 'Refund', tone: 'bad' }
    case 'forfeit':
      return { text: 'Deposit kept', tone: 'info' }
    case 'void':
      return { text: 'Undone', tone: 'done' }
    case 'cash':
      return { text: isNegative(paid) ? 'Cash out' : 'Cash in', tone: 'done' }
    default:
      // A later version of the service can add kinds.
      return { text: kind, tone: 'done' }
  }
}

export function paymentText(method: Method | undefined): string {
  return method === undefined ? NO_METHOD : methodText(method)
}

/** The ids of the entries that a later one of these takes back. An entry is voided on its own day, so its void comes first in the list. */
export function voidedIds(entries: Entry[]): ReadonlySet<string> {
  return new Set(entries.flatMap(({ voidedEntryId }) => voidedEntryId ?? []))
}

/** The entries of each day, in the same order. */
export function byDay(entries: Entry[]): { day: string; entries: Entry[] }[] {
  const days = [...new Set(entries.map(({ day }) => day))]
  return days.map((day) => ({ day, entries: entries.filter((entry) => entry.day === day) }))
}

/** Such as "14:45", in the time zone of the shop. */
export function shopTime(time: string, timeZone: string): string {
  return formatIn(timeZone, { hour: '2-digit', minute: '2-digit' }).format(new Date(time))
}

/** Such as "Thu 19 Nov 2026, 14:45", in the time zone of the shop. */
export function shopDateTime(time: string, timeZone: string): string {
  const date = formatIn(timeZone, { weekday: 'short', day: 'numeric', month: 'short', year: 'numeric' })
  return `${date.format(new Date(time)).replace(',', '')}, ${shopTime(time, timeZone)}`
}

/** Such as "2026-11-19 14:45:00", which spreadsheets know, in the time zone of the shop. */
export function spreadsheetTime(time: string, timeZone: string): string {
  const date = new Date(time)
  const day = new Intl.DateTimeFormat('en-CA', { timeZone, dateStyle: 'short' }).format(date)
  return `${day} ${formatIn(timeZone, { timeStyle: 'medium' }).format(date)}`
}
