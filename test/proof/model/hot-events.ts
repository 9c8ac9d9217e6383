// Compares the event feed with the requests that clients sent to hot pets: each request has exactly its own events.
import { type Connection, openConnection, retryWhileBusy } from '../../support/load.ts'
import type { HotPet, HotRequest } from './hot-pets.ts'

interface SeenEvent {
  position: string
  type: string
  petId: number
  actor: string
  requestId: string
}

const PAGE = 1_000

/** All events, read from one process after another. */
export async function readEvents(origins: readonly string[], apiKey: string): Promise<SeenEvent[]> {
  const connections = origins.map((origin) => openConnection({ origin, apiKey }))
  const events: SeenEvent[] = []
  for (let pages = 0, isLast = false; !isLast; pages += 1) {
    const last = events.at(-1)
    const path = `/v1/events?limit=${PAGE}${last === undefined ? '' : `&after=${last.position}`}`
    const { send } = connections[pages % connections.length] as Connection
    const { status, body } = await retryWhileBusy(() => send('GET', path))
    if (status !== 200) throw new Error(`the feed returned ${status}: ${JSON.stringify(body)}`)
    events.push(...(body as SeenEvent[]))
    isLast = (body as SeenEvent[]).length < PAGE
  }
  for (const each of connections) each.close()
  return events
}

/** The events that a successful request may have caused. One that changes nothing has none. */
const EXPECTED: Record<HotRequest['call'], string[]> = {
  create: ['pet.created'],
  place: ['pet.updated, order.placed', 'pet.updated, order.placed, order.entry_added'],
  delete: ['pet.deleted'],
  update: ['', 'pet.updated', 'order.entry_added, pet.updated'],
  complete: ['', 'order.completed, order.entry_added, pet.updated'],
  correct: ['', 'order.entry_added'],
  refund: ['order.entry_added', 'order.entry_added, pet.updated'],
  settle: ['order.entry_added'],
  void: ['', 'order.entry_added', 'order.entry_added, pet.updated'],
  cancel: ['', 'order.cancelled, pet.updated'],
  get: [''],
  putProfile: ['', 'pet.profile_updated'],
  getProfile: [''],
  getOrder: [''],
  list: [''],
}

function expectedOf({ call, status, code }: HotRequest): string[] | undefined {
  if (code === 'outcome_unknown') return undefined
  return status >= 400 ? [''] : EXPECTED[call]
}

/** Requests whose events are wrong, and events that no request has caused. */
export function contradictEvents(
  pets: readonly HotPet[],
  events: readonly SeenEvent[],
  callerName: string,
): string[] {
  const left = Map.groupBy(events, ({ requestId }) => requestId)
  const wrong: string[] = []
  for (const { id: petId, requests } of pets) {
    for (const [requestId, request] of requests) {
      const own = left.get(requestId) ?? []
      left.delete(requestId)
      const types = own.map(({ type }) => type).join(', ')
      const isOwn = own.every((event) => [event.petId, 0].includes(petId) && event.actor === callerName)
      if (expectedOf(request)?.includes(types) === false || !isOwn)
        wrong.push(`${request.call} of pet ${petId}, ${request.status}: ${JSON.stringify(own)}`)
    }
  }
  return [...wrong, ...[...left.keys()].map((requestId) => `events of an unknown request ${requestId}`)]
}
