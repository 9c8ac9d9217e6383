// The changes of a pet and the entries of its orders in one list, the newest first.
import type { Entry, HistoryEntry } from '@petstore/client'
import { type EntryLine, entryLines } from '../money/entry-lines.ts'

export type PastItem = { line: EntryLine } | { change: HistoryEntry; index: number }

/** Each of these changes has an entry, which says more. */
const HAVE_ENTRIES: ReadonlySet<string> = new Set<HistoryEntry['event']>([
  'order_completed',
  'taken_back',
  'sale_voided',
  'return_voided',
])

/** `entries` is undefined for somebody who may not see them. Entries before the changes that were read wait for the others. */
export function pastOf(
  changes: HistoryEntry[],
  entries: Entry[] | undefined,
  hasMoreChanges: boolean,
): PastItem[] {
  const shown = changes
    .map((change, index) => ({ change, index }))
    .filter(({ change }) => entries === undefined || !HAVE_ENTRIES.has(change.event))
  const oldest = Date.parse(changes.at(-1)?.at ?? '')
  const lines = entryLines(entries ?? [])
    .filter(({ entry }) => !hasMoreChanges || Date.parse(entry.at) >= oldest)
    .map((line) => ({ line }))
  return [...lines, ...shown].sort((one, other) => timeOf(other) - timeOf(one))
}

function timeOf(item: PastItem): number {
  return Date.parse('line' in item ? item.line.entry.at : item.change.at)
}
