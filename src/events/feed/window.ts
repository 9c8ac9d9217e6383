// The newest events of the feed, in memory. All streams, or all webhooks, that keep up share its reads of the database.
// A reader that is further behind reads pages of its own.
import type { FindDurableEvents } from './durable.ts'
import type { Position } from './format.ts'
import type { EventRow } from './queries.ts'
import { rowBytes } from './row-bytes.ts'
import { EVENT_TYPES } from './schema.ts'

/** Max events kept, and their bytes. */
const KEPT_MAX = 2_000
export const WINDOW_MAX_BYTES = 8_388_608
/** Events that one query reads, and the size at which their page ends. */
const PAGE_SIZE = 1_000
const PAGE_MAX_BYTES = 1_048_576

export interface FeedWindow {
  /** The newest event that was read. The same object until the window changes; undefined before the first `advance`. */
  newest: () => Position | undefined
  /** Whether all events after the position are kept. */
  covers: (position: Position) => boolean
  /** The events after a position that `covers` accepts. */
  rowsAfter: (position: Position) => readonly EventRow[]
  /**
   * Reads the events up to the head of the feed. Returns false if positions of readers may have become invalid: a new
   * epoch has begun, or the head has moved back, which a failover without synchronous replication can cause.
   */
  advance: (head: Position) => Promise<boolean>
  bytes: () => number
  clear: () => void
}

/** @param onPage Called after each page that is read. Without it, events that could not be kept are not read. */
export function openFeedWindow(find: FindDurableEvents, onPage?: () => Promise<void>): FeedWindow {
  /** Consecutive events of one epoch, up to the newest one. */
  let rows: EventRow[] = []
  let bytes = 0
  let newest: Position | undefined

  function startAt(position: Position | undefined): void {
    rows = []
    bytes = 0
    newest = position
  }

  function append(epoch: string, page: readonly EventRow[], last: bigint): void {
    rows.push(...page)
    for (const row of page) bytes += rowBytes(row)
    dropOldest()
    newest = { epoch, number: last }
  }

  function dropOldest(): void {
    let dropped = 0
    for (const row of rows) {
      if (rows.length - dropped <= KEPT_MAX && bytes <= WINDOW_MAX_BYTES) break
      bytes -= rowBytes(row)
      dropped += 1
    }
    if (dropped > 0) rows = rows.slice(dropped)
  }

  return {
    newest: () => newest,
    covers: ({ epoch, number }) =>
      epoch === newest?.epoch && number <= newest.number && number >= newest.number - BigInt(rows.length),
    rowsAfter: ({ number }) =>
      newest === undefined ? [] : rows.slice(rows.length - Number(newest.number - number)),
    advance: async (head) => {
      newest ??= head
      if (head.epoch !== newest.epoch || head.number < newest.number) {
        startAt(head)
        return false
      }
      if (onPage === undefined && head.number - newest.number > KEPT_MAX) startAt(head)
      while (newest.number < head.number) {
        const page = await find(EVENT_TYPES, newest.number, PAGE_SIZE, PAGE_MAX_BYTES)
        const isSameEpoch = page.epoch === newest.epoch
        const last = newest.number + BigInt(page.rows.length)
        if (!isSameEpoch || page.rows.at(-1)?.number !== last) {
          // Without the next event, because it was purged, each reader finds that out with a page of its own.
          startAt({ epoch: page.epoch, number: page.head })
          return isSameEpoch
        }
        append(page.epoch, page.rows, last)
        await onPage?.()
      }
      return true
    },
    bytes: () => bytes,
    clear: () => startAt(undefined),
  }
}
