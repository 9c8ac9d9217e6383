// Commands on the event feed: walks from the start of the sequence to its end, and positions of another feed.
import * as fc from 'fast-check'
import { numberAllEvents } from '../../../support/feed-audit.ts'
import { linkTo } from '../../../support/pets.ts'
import { callBoth, requireSame, type Sender, type Session } from '../fixture.ts'
import { EVENT_TYPES, type EventType, eventsFor, readableTypes } from '../reference/events.ts'
import { type Expected, reject } from '../reference/store.ts'
import * as some from './choices.ts'
import { type Command, command } from './choices.ts'

const LISTING = { operation: 'listEvents', scope: 'events:read', method: 'GET' }
const LIMIT_DEFAULT = 100

export interface FeedRequest {
  types?: readonly EventType[] | undefined
  limit?: number | undefined
}

interface SeenEvent extends Record<string, unknown> {
  position: string
  petId: number
  occurredAt: string
}

/** Reads all events since the start of the sequence, alternating between the instances, and compares them. */
export async function walkEvents(session: Session, sender: Sender, request: FeedRequest): Promise<void> {
  // The model ends a hold at once, the service with the next sweep.
  await session.instances[sender.at].holds.sweep()
  await numberAllEvents(session.instances[sender.at].db)
  const seen: SeenEvent[] = []
  let { at } = sender
  let after = session.feedStart
  let scopes: readonly string[] = []
  for (let isLast = false; !isLast; ) {
    const query = new URLSearchParams({ after })
    for (const type of request.types ?? []) query.append('type', type)
    if (request.limit !== undefined) query.set('limit', String(request.limit))
    const response = await callBoth(
      session,
      { ...sender, at },
      { ...LISTING, path: `/events?${query}` },
      (_caller, _seen, apiKey): Expected => {
        ;({ scopes } = apiKey)
        const readable = readableTypes(scopes)
        const isReadable = (request.types ?? []).every((type) => readable.includes(type))
        return isReadable ? { status: 200 } : reject('insufficient_scope')
      },
    )
    if (response.status !== 200) return
    const page = response.body as SeenEvent[]
    seen.push(...page)
    const link = linkTo('next', response, session.instances[at].client.origin) ?? ''
    after = new URL(link, 'http://petstore.test').searchParams.get('after') ?? ''
    isLast = page.length < (request.limit ?? LIMIT_DEFAULT)
    at = at === 0 ? 1 : 0
  }
  compareEvents(session, seen, request.types ?? readableTypes(scopes), scopes)
}

function compareEvents(
  { store, feedStart, positions }: Session,
  seen: readonly SeenEvent[],
  types: readonly EventType[],
  scopes: readonly string[],
): void {
  const expected = eventsFor(store, types, scopes)
  const predictable = seen.map(predictablePart)
  const byPet = (events: readonly { petId: number }[]) =>
    Object.fromEntries(Map.groupBy(events, ({ petId }) => petId))
  requireSame('events of each pet', byPet(predictable), byPet(expected))
  // The service may end a hold later than the model, but only after the last change that the pet had before.
  if (scopes.includes('orders:read'))
    requireSame('order of all events', inOneOrder(predictable), inOneOrder(expected))

  const numbers = seen.map(({ position }) => numberOf(position))
  requireSame(
    'order of numbers',
    numbers,
    numbers.toSorted((a, b) => a - b),
  )
  if (types.length === EVENT_TYPES.length) {
    const first = numberOf(feedStart) + 1
    requireSame(
      'numbers without gaps',
      numbers,
      numbers.map((_, index) => first + index),
    )
  }
  // All readers find the same event at a position, except that some see fewer fields.
  for (const { position, type, petId, occurredAt } of seen) {
    const event = `${String(type)} ${petId} ${occurredAt}`
    requireSame(`event ${position}`, event, positions.get(position) ?? event)
    positions.set(position, event)
  }
}

/** The event without its position, its time, and the request ids that the service chose. */
function predictablePart(event: SeenEvent) {
  const { position: _position, occurredAt: _occurredAt, requestId, ...rest } = event
  return { ...rest, requestId: rest['actor'] === 'petstore' ? undefined : requestId }
}

const isByClient = ({ requestId }: { requestId?: unknown }) => requestId !== undefined

/** The events of clients, in which those of one request are sorted by pet: their order among several pets is not defined. */
function inOneOrder<Event extends { petId: number; requestId?: unknown }>(events: readonly Event[]): Event[] {
  const requests = Map.groupBy(events.filter(isByClient), ({ requestId }) => requestId)
  return [...requests.values()].flatMap((ofRequest) => ofRequest.toSorted((a, b) => a.petId - b.petId))
}

function numberOf(position: string): number {
  return Number(position.split('-')[1])
}

const walkFeed = command(
  {
    types: some.optional(fc.subarray([...EVENT_TYPES], { minLength: 1 })),
    limit: fc.constantFrom(2, 100, undefined),
  },
  walkEvents,
)

const foreignPosition = command({}, async (session, sender) => {
  const path = '/events?after=000000000000-1'
  await callBoth(session, sender, { ...LISTING, path }, () => reject('events_expired'))
})

/** A stream has no end: the test client reads its first bytes. */
const openStream = command({}, async (session, sender) => {
  const call = { ...LISTING, operation: 'streamEvents', path: `/events/stream?after=${session.feedStart}` }
  const { status, text } = await callBoth(session, sender, call, () => ({ status: 200 }))
  if (status === 200) requireSame('start of the stream', text.slice(0, 13), 'retry: 1000\n\n')
})

export const eventCommands: fc.WeightedArbitrary<Command>[] = [
  { arbitrary: walkFeed, weight: 3 },
  { arbitrary: foreignPosition, weight: 1 },
  { arbitrary: openStream, weight: 1 },
]
