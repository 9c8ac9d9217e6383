// The feed of events: every change to pets and orders, in one order that is the same for every reader.
import type { CallOptions, Transport } from './call.ts'
import { linkTo } from './deprecation.ts'
import { PetstoreError } from './errors.ts'
import { type FollowOptions, iterateEvents } from './follow.ts'
import type { ListEventsQuery, StoreEvent } from './interface.ts'
import type { EventPage } from './store-event.ts'

export type Events = ReturnType<typeof eventsOf>

export function eventsOf(transport: Transport) {
  /** Returns one page of events, oldest first. If the page is empty, wait a moment before you read the next one. */
  async function list(query: ListEventsQuery = {}, options?: CallOptions): Promise<EventPage> {
    const call = { operation: 'listEvents', method: 'GET', path: '/events', query, idempotent: true } as const
    const { value, headers } = await transport.send(call, options)
    return { items: value, next: nextPosition(headers) }
  }

  return {
    list,

    /**
     * Yields every event after a position, and waits for new ones. Reconnects after any temporary fault, and neither
     * skips nor repeats an event. Ends only if you `break`, if your signal is aborted, or with an error that a retry
     * cannot fix. The code `events_expired` means that events after your position are no longer available: read all
     * pets again, then follow from a new position.
     */
    follow: (options: FollowOptions = {}): AsyncIterable<StoreEvent> => ({
      [Symbol.asyncIterator]: () => iterateEvents(transport, list, options),
    }),
  }
}

/** Takes only the position from the link, so that the API key is never sent to another address. */
function nextPosition(headers: Headers): string {
  const next = new URL(linkTo('next', headers) ?? '', 'http://localhost').searchParams.get('after')
  if (next !== null) return next
  throw new PetstoreError({ code: 'unexpected_answer', message: 'The page has no link to the next events.' })
}
