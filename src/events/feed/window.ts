// The newest events of the feed, in memory. All streams, or all webhooks, that keep up share its reads of the database.
// A reader that is further behind reads pages of its own.
import type { FindDurableEvents } from './durable.ts'
import type { Position } from './format.ts'
import type { EventRow } from './queries.ts'
import { EVENT_TYPES } from './schema.ts'

/** Max events kept. Each has a few kilobytes at most: notes have at most 500 characters, and descriptions 2,000. */
const KEPT_MAX = 2_000
/** Events that one query reads. */
const PAGE_SIZE = 1_000

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
  clear: () => void
}

/** @param onPage Called after each page that is read. Without it, events that could not be kept are not read. */
export function openFeedWindow(find: FindDurableEvents, onPage?: () => Promise<void>): FeedWindow {
  /** Consecutive events of one epoch, up to the newest one. */
  let rows: EventRow[] = []
  let newest: Position | undefined

  function startAt(position: Position | undefined): void {
    rows = []
    newest = position
  }

  function append(epoch: string, page: readonly EventRow[], last: bigint): void {
    rows.push(...page)
    if (rows.length > KEPT_MAX) rows = rows.slice(-KEPT_MAX)
    newest = { epoch, number: last }
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
        const page = await find(EVENT_TYPES, newest.number, PAGE_SIZE)
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
    clear: () => startAt(undefined),
  }
}
