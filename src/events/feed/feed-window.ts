// The newest events of the feed, in memory: webhooks that keep up share one read. Others read pages of their own.
import type { FindDurableEvents } from './durable.ts'
import type { Position } from './format.ts'
import type { EventRow } from './queries.ts'
import { EVENT_TYPES, type EventType } from './schema.ts'

/** Max events kept. */
const KEPT_MAX = 2_000
const PAGE_SIZE = 500

export interface WindowPage {
  rows: EventRow[]
  /** All wanted events up to this number are in `rows`. */
  next: bigint
}

/** The events after a position are no longer stored, or belong to an earlier epoch: continue at `position` instead. */
export interface FeedMoved {
  position: Position
  isNewEpoch: boolean
}

export interface FeedWindow {
  /** Reads the events up to the newest one. */
  refresh: (newest: Position) => Promise<void>
  newest: () => Position | undefined
  after: (position: Position, types: readonly EventType[]) => Promise<WindowPage | FeedMoved>
}

export function openFeedWindow(
  find: FindDurableEvents,
  findOldestStoredEvent: (number: bigint) => Promise<bigint>,
): FeedWindow {
  /** Consecutive events of one epoch. The first one has the number `before + 1`. */
  let kept: EventRow[] = []
  let epoch: string | undefined
  let before = 0n
  let read = 0n

  function keep(rows: readonly EventRow[]): void {
    kept.push(...rows)
    const surplus = kept.length - KEPT_MAX
    if (surplus <= 0) return
    before = (kept[surplus - 1] as EventRow).number
    kept = kept.slice(surplus)
  }

  async function readPage({ epoch: wanted, number }: Position, types: readonly EventType[]) {
    const page = await find(types, number, PAGE_SIZE)
    if (page.epoch !== wanted) {
      return { position: { epoch: page.epoch, number: page.afterNumber }, isNewEpoch: true }
    }
    if (!page.isStored) {
      return { position: { epoch: wanted, number: await findOldestStoredEvent(number) }, isNewEpoch: false }
    }
    const last = page.rows.length === PAGE_SIZE ? page.rows.at(-1) : undefined
    return { rows: page.rows, next: last?.number ?? page.head }
  }

  return {
    newest: () => (epoch === undefined ? undefined : { epoch, number: read }),
    refresh: async (newest) => {
      if (newest.epoch !== epoch || newest.number - read > KEPT_MAX) {
        epoch = newest.epoch
        kept = []
        before = newest.number
        read = newest.number
      }
      while (read < newest.number) {
        const page = await readPage({ epoch, number: read }, EVENT_TYPES)
        if ('position' in page) {
          epoch = undefined
          return
        }
        keep(page.rows)
        read = page.next
      }
    },
    after: async (position, types) => {
      if (position.epoch !== epoch || position.number < before || position.number > read) {
        return readPage(position, types)
      }
      const rows = kept.filter(({ number, type }) => number > position.number && types.includes(type))
      const page = rows.slice(0, PAGE_SIZE)
      const isWhole = page.length === rows.length
      return { rows: page, next: isWhole ? read : (page.at(-1) as EventRow).number }
    },
  }
}
