// The events that a webhook gets next: from the window in memory, which all webhooks share, or by a query of its own if the
// webhook is further behind.
import type { FindDurableEvents } from '../feed/durable.ts'
import type { Position } from '../feed/format.ts'
import type { EventRow } from '../feed/queries.ts'
import type { EventType } from '../feed/schema.ts'
import type { FeedWindow } from '../feed/window.ts'

const PAGE_SIZE = 500

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
  after: (position: Position, types: readonly EventType[]) => Promise<WebhookPage | FeedMoved>
}

export function openWebhookFeed(
  window: FeedWindow,
  findEvents: FindDurableEvents,
  /** Returns the number before the oldest stored event after `number`; the same number if there is none. */
  findNumberBeforeStored: (number: bigint) => Promise<bigint>,
): WebhookFeed {
  function pageInMemory(position: Position, types: readonly EventType[]): WebhookPage {
    const rows = window.rowsAfter(position).filter(({ type }) => types.includes(type))
    // A window that covers a position has a newest event.
    const { number: newest } = window.newest() as Position
    return toPage(rows.slice(0, PAGE_SIZE), newest)
  }

  async function pageInDatabase(
    { epoch, number }: Position,
    types: readonly EventType[],
  ): Promise<WebhookPage | FeedMoved> {
    const page = await findEvents(types, number, PAGE_SIZE)
    if (page.epoch !== epoch)
      return { position: { epoch: page.epoch, number: page.afterNumber }, isNewEpoch: true }
    if (!page.isStored)
      return { position: { epoch, number: await findNumberBeforeStored(number) }, isNewEpoch: false }
    return toPage(page.rows, page.head)
  }

  return {
    newest: window.newest,
    after: async (position, types) =>
      window.covers(position) ? pageInMemory(position, types) : pageInDatabase(position, types),
  }
}

/** A page that is not full has all wanted events up to the newest one. */
function toPage(rows: readonly EventRow[], newest: bigint): WebhookPage {
  const last = rows.length === PAGE_SIZE ? rows.at(-1) : undefined
  return { rows, upTo: last?.number ?? newest }
}
