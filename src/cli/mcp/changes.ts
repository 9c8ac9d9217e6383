// The tool that lists recent changes, and which of them are unusual.
import { Type } from 'typebox'
import type { StoreEvent } from '../../../client/src/petstore.ts'
import { toChange } from './results.ts'
import { ChangeShape, inputOf } from './schemas.ts'
import { defineTool, type ToolContext } from './tool.ts'

const HOURS = 24
const HOURS_MAX = 168
const CHANGES = 50
const CHANGES_MAX = 200
/** The max of the service for one page. */
const EVENTS_READ = 1_000

/** What a change can be, and the events that show it. */
const KINDS = {
  added: ['pet.created'],
  changed: ['pet.updated', 'pet.profile_updated', 'order.updated'],
  deleted: ['pet.deleted'],
  held: ['order.placed'],
  sold: ['order.completed'],
  released: ['order.cancelled', 'order.expired'],
  money: ['order.entry_added'],
} as const
type Kind = keyof typeof KINDS

export const recentChanges = defineTool({
  name: 'recent_changes',
  title: 'Show recent changes',
  description:
    'Lists the last changes to all pets, newest first: added, changed, deleted, held, sold, released, and money corrected or given back. Use it to find out what happened today or who did something. For one pet, use show_pet.',
  scopes: ['events:read'],
  effect: 'reads',
  input: inputOf({
    hours: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: HOURS_MAX,
        default: HOURS,
        description: 'Only changes of the last hours.',
      }),
    ),
    only: Type.Optional(
      Type.Unsafe<Kind>({
        type: 'string',
        enum: Object.keys(KINDS),
        description:
          'Only changes of this kind. Without it, many changes of one kind can leave out the others.',
      }),
    ),
    limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: CHANGES_MAX,
        default: CHANGES,
        description: 'Max number of changes.',
      }),
    ),
  }),
  output: Type.Object({
    changes: Type.Array(ChangeShape),
    isComplete: Type.Boolean({ description: 'False if older changes of these hours are left out.' }),
  }),
  run: ({ hours, only, limit = CHANGES }, context) => {
    const types: readonly string[] | undefined = only && KINDS[only]
    return readChanges(context, { hours, limit, isWanted: (type) => types?.includes(type) ?? true })
  },
})

interface Wanted {
  hours?: number | undefined
  limit: number
  isWanted: (type: string) => boolean
}

/**
 * Whether a person should look at the change: a deleted pet, a new name or category, and a status that no order changed,
 * such as a sale without an order. Needs the scope `orders:read`.
 */
export const isUnusual = (type: string) => type === 'pet.updated' || type === 'pet.deleted'

export async function readChanges(context: ToolContext, { hours = HOURS, limit, isWanted }: Wanted) {
  const since = Date.now() - hours * 3_600_000
  const events = (await newestEvents(context)).filter(({ occurredAt }) => Date.parse(occurredAt) >= since)
  const changes = changesOf(events).filter(({ type }) => isWanted(type))
  return {
    changes: changes.slice(-limit).toReversed(),
    isComplete: events.length < EVENTS_READ && changes.length <= limit,
  }
}

/** A page can have fewer events than the limit although newer ones follow. */
async function newestEvents({ store, call }: ToolContext): Promise<StoreEvent[]> {
  const events: StoreEvent[] = []
  let page = await store.events.list({ newest: EVENTS_READ, limit: EVENTS_READ }, call)
  for (;;) {
    events.push(...page.items)
    const limit = EVENTS_READ - events.length
    if (page.items.length === 0 || limit === 0) return events
    page = await store.events.list({ after: page.next, limit }, call)
  }
}

/** The entries of a hold and of a sale are part of these changes. */
const isOfOrder = ({ entry }: StoreEvent) => entry?.kind === 'deposit' || entry?.kind === 'sale'

/** An order and the new status of its pet are two events of one request, but one change. */
function changesOf(events: readonly StoreEvent[]) {
  const requestOf = ({ requestId, petId }: StoreEvent) => `${requestId} ${petId}`
  const pets = new Map(
    events.filter(({ pet }) => pet !== undefined).map((event) => [requestOf(event), event.pet]),
  )
  const ofOrders = new Set(
    events.filter(({ order, requestId }) => order !== undefined && requestId !== undefined).map(requestOf),
  )
  return events
    .filter((event) => !isOfOrder(event))
    .filter((event) => event.order !== undefined || !ofOrders.has(requestOf(event)))
    .map((event) => toChange(event, event.pet ?? pets.get(requestOf(event))))
}
