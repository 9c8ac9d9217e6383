// The events of waiting messages. Messages keep only the numbers of their events: most events are still in this cache when
// they are sent, and the others are read again in batches.
import { batched } from '../../db/batch.ts'
import type { Position } from '../feed/format.ts'
import type { EventRow } from '../feed/queries.ts'
import { rowBytes } from '../feed/row-bytes.ts'

/** For all webhooks together. */
const EVENT_BATCHES = { sizeMax: 100, inFlightMax: 2, waitingMax: 2_000 }

export interface EventCache {
  /** Keeps the events of a page for one webhook, in the place of the oldest ones if there is no room. */
  add: (epoch: string, rows: readonly EventRow[]) => void
  /** Returns the event of a message that is sent now; undefined if it is no longer stored. */
  load: (position: Position) => Promise<EventRow | undefined>
  bytes: () => number
  clear: () => void
}

interface Entry {
  row: EventRow
  bytes: number
  /** Number of webhooks that have read the event and not sent it yet. */
  readers: number
}

/** @param find Returns the events in the order of the numbers. */
export function openEventCache(
  find: (numbers: readonly bigint[]) => Promise<readonly (EventRow | undefined)[]>,
  maxBytes: number,
): EventCache {
  /** The events of one epoch, the oldest first. Another epoch can use the same numbers for other events. */
  const entries = new Map<bigint, Entry>()
  let epoch = ''
  let bytes = 0

  function remove(number: bigint, entry: Entry): void {
    entries.delete(number)
    bytes -= entry.bytes
  }

  function clear(): void {
    entries.clear()
    bytes = 0
  }

  function keep(row: EventRow): void {
    const known = entries.get(row.number)
    if (known !== undefined) {
      known.readers += 1
      return
    }
    const entry = { row, bytes: rowBytes(row), readers: 1 }
    entries.set(row.number, entry)
    bytes += entry.bytes
    if (bytes > maxBytes) removeOldest()
  }

  function removeOldest(): void {
    for (const [number, oldest] of entries) {
      if (bytes <= maxBytes) return
      remove(number, oldest)
    }
  }

  /** Returns the event, and forgets it if no other webhook waits for it. */
  function take(position: Position): EventRow | undefined {
    const entry = position.epoch === epoch ? entries.get(position.number) : undefined
    if (entry === undefined) return undefined
    entry.readers -= 1
    if (entry.readers <= 0) remove(position.number, entry)
    return entry.row
  }

  const read = batched(async (numbers: bigint[]) => {
    // Several webhooks often need the same event.
    const distinct = [...new Set(numbers)]
    const rows = await find(distinct)
    const found = new Map(distinct.map((number, index) => [number, rows[index]]))
    return numbers.map((number) => found.get(number))
  }, EVENT_BATCHES)

  return {
    add: (pageEpoch, rows) => {
      if (pageEpoch !== epoch) clear()
      epoch = pageEpoch
      for (const row of rows) keep(row)
    },
    load: async (position) => take(position) ?? (await read(position.number)),
    bytes: () => bytes,
    clear,
  }
}
