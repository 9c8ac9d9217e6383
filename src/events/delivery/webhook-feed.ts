// The events that a webhook gets next: from the window in memory, which all webhooks share, or by a query of its own if the
// webhook is further behind.
import { batched } from '../../db/batch.ts'
import type { FindDurableEvents } from '../feed/durable.ts'
import type { Position } from '../feed/format.ts'
import type { EventRow } from '../feed/queries.ts'
import type { EventType } from '../feed/schema.ts'
import type { FeedWindow } from '../feed/window.ts'
import type { EventCache } from './event-cache.ts'

/** Queries in flight, each for one page. Webhooks that are behind wait, so that pages in flight take little memory. */
const PAGES = { sizeMax: 1, inFlightMax: 2, waitingMax: 10_000 }

/** A page that is read ends after the event with which it reaches this size. */
const PAGE_MAX_BYTES = 1_048_576

interface PageWanted {
  position: Position
  types: readonly EventType[]
  max: number
}

export interface WebhookPage {
  rows: readonly EventRow[]
  /** `rows` has all wanted events up to this number, so the next page starts after it. */
  upTo: bigint
}

/** Returned instead of a page if the next events are no longer stored, or the epoch has ended: continue after `position`. */
export interface FeedMoved {
  position: Position
  isNewEpoch: boolean
}

export interface WebhookFeed {
  newest: FeedWindow['newest']
  /** Reads up to `max` events. */
  after: (position: Position, types: readonly EventType[], max: number) => Promise<WebhookPage | FeedMoved>
}

export function openWebhookFeed(
  window: FeedWindow,
  findEvents: FindDurableEvents,
  /** Returns the number before the oldest stored event after `number`; the same number if there is none. */
  findNumberBeforeStored: (number: bigint) => Promise<bigint>,
  /** Keeps the events of each page until they are sent. */
  keep: EventCache['add'] = () => {},
): WebhookFeed {
  function pageInMemory({ position, types, max }: PageWanted): WebhookPage {
    const rows = window.rowsAfter(position).filter(({ type }) => types.includes(type))
    // A window that covers a position has a newest event.
    const { number: newest } = window.newest() as Position
    return toPage(rows.slice(0, max), rows.length > max, newest)
  }

  async function pageInDatabase({ position, types, max }: PageWanted): Promise<WebhookPage | FeedMoved> {
    const { epoch, number } = position
    const page = await findEvents(types, number, max, PAGE_MAX_BYTES)
    if (page.epoch !== epoch)
      return { position: { epoch: page.epoch, number: page.afterNumber }, isNewEpoch: true }
    if (!page.isStored)
      return { position: { epoch, number: await findNumberBeforeStored(number) }, isNewEpoch: false }
    return toPage(page.rows, page.isFull, page.head)
  }

  const readInTurn = batched(
    (wanted: PageWanted[]) => Promise.all(wanted.map((page) => pageInDatabase(page))),
    PAGES,
  )

  return {
    newest: window.newest,
    after: async (position, types, max) => {
      const wanted = { position, types, max }
      const page = window.covers(position) ? pageInMemory(wanted) : await readInTurn(wanted)
      if ('rows' in page) keep(position.epoch, page.rows)
      return page
    },
  }
}

/** A page that is not full has all wanted events up to the newest one. */
function toPage(rows: readonly EventRow[], isFull: boolean, newest: bigint): WebhookPage {
  const last = isFull ? rows.at(-1) : undefined
  return { rows, upTo: last?.number ?? newest }
}
