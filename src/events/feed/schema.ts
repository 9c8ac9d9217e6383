// JSON schemas of events: the source of the types, the validation, the responses and openapi.json.
import { Type } from 'typebox'
import { Int64 } from '../../contract/int64-schema.ts'
import { refTo, type ResponseOf } from '../../contract/named-schema.ts'
import { nameOfType, openUnion } from '../../contract/open-union.ts'
import { OrderSchema } from '../../store/orders/schema.ts'
import { PetSchema } from '../../store/pets/schema.ts'
import { EntrySchema } from '../../store/ledger/schema.ts'
import { PetProfileSchema } from '../../store/profiles/schema.ts'

export const PET_EVENT_TYPES = ['pet.created', 'pet.updated', 'pet.profile_updated', 'pet.deleted'] as const
const ORDER_EVENT_TYPES = [
  'order.placed',
  'order.updated',
  'order.completed',
  'order.cancelled',
  'order.expired',
  'order.entry_added',
] as const
export const EVENT_TYPES = [...PET_EVENT_TYPES, ...ORDER_EVENT_TYPES] as const
export type EventType = (typeof EVENT_TYPES)[number]

const CHANGEABLE_FIELDS = ['name', 'categoryId', 'status'] as const
export type ChangedField = (typeof CHANGEABLE_FIELDS)[number]

export const EVENTS_LIMIT_MAX = 1_000
export const EVENTS_LIMIT_DEFAULT = 100
/** The value of `after` that stands for the position of the newest event. */
export const LATEST = 'latest'

const position = Type.String({
  description: 'The position of the event in the feed. Send it as `after` to read the events that follow.',
})
const occurredAt = Type.Unsafe<Date>({
  type: 'string',
  format: 'date-time',
  description: 'Time of the change.',
})
const petId = Type.Unsafe<bigint>({ ...Int64, description: 'Id of the pet.' })
const AUTHOR_FIELDS = {
  actor: Type.Optional(
    Type.String({
      description:
        'Present name of the program or person that made the change; `petstore` if the service itself made it. Absent without the scope `orders:read`, and for a change made in SQL.',
    }),
  ),
  requestId: Type.Optional(
    Type.String({
      description:
        'The request that made the change. Absent without the scope `orders:read`, and for a change made in SQL.',
    }),
  ),
}

/** What an event has besides, depending on its type. */
const CHANGE_FIELDS = {
  pet: refTo(PetSchema),
  changed: Type.Array(Type.Unsafe<ChangedField>({ type: 'string', enum: CHANGEABLE_FIELDS }), {
    description: 'The fields that changed.',
  }),
  profile: refTo(PetProfileSchema),
  order: refTo(OrderSchema),
  entry: refTo(EntrySchema),
}
const { pet, changed, profile, order, entry } = CHANGE_FIELDS
const ANY_CHANGE = Type.Partial(Type.Object(CHANGE_FIELDS)).properties
/** A later version can also add fields of pets. */
export const FUTURE_CHANGE = {
  ...ANY_CHANGE,
  changed: Type.Optional(Type.Array(Type.String(), { description: 'The fields that changed.' })),
}

/** The fields of each type. */
export const CHANGES: Record<EventType, Partial<typeof CHANGE_FIELDS>> = {
  'pet.created': { pet },
  'pet.updated': { pet, changed },
  'pet.profile_updated': { profile },
  'pet.deleted': {},
  'order.placed': { order },
  'order.updated': { order },
  'order.completed': { order },
  'order.cancelled': { order },
  'order.expired': { order },
  'order.entry_added': { order, entry },
}

/** Writes events of all types. In openapi.json, `EVENT_UNION` takes its place. */
const EventSchema = Type.Object(
  {
    position,
    type: Type.Unsafe<EventType>({ type: 'string' }),
    occurredAt,
    petId,
    ...ANY_CHANGE,
    ...AUTHOR_FIELDS,
  },
  { $id: 'Event' },
)
export type Event = ResponseOf<typeof EventSchema>

export const EventsSchema = Type.Array(refTo(EventSchema), {
  $id: 'Events',
  maxItems: EVENTS_LIMIT_MAX,
  description: 'Events, oldest first.',
})

export const EVENT_UNION = openUnion(
  'Event',
  'A change. New types can be added: ignore events whose `type` you do not know. `pet` and `profile` are complete, as they were after the change.',
  Object.entries(CHANGES).map(([type, fields]) => ({
    name: nameOfType(type, 'Event'),
    type,
    fields: { position, occurredAt, petId, ...fields, ...AUTHOR_FIELDS },
  })),
  { name: 'FutureEvent', fields: { position, occurredAt, petId, ...FUTURE_CHANGE, ...AUTHOR_FIELDS } },
)

export const EVENT_SCHEMAS = [EventSchema, EventsSchema, ...EVENT_UNION.parts]

const POSITION_LENGTH_MAX = 64

export const AfterParameter = Type.Optional(
  Type.String({
    minLength: 1,
    maxLength: POSITION_LENGTH_MAX,
    description: `Return the events after this position. \`${LATEST}\` stands for the newest event. Default: the start of the feed.`,
  }),
)

export const TypeParameter = Type.Optional(
  Type.Array(Type.Unsafe<EventType>({ type: 'string', enum: EVENT_TYPES }), {
    maxItems: EVENT_TYPES.length,
    description:
      'Return only events of these types. Repeat the parameter for each type. `order.*` events require the scope `orders:read`.',
  }),
)

export const ListEventsQuery = Type.Object({
  after: AfterParameter,
  newest: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: EVENTS_LIMIT_MAX,
      'x-not-with': ['after'],
      description:
        'Start this many events before the end of the feed, counting events of all types. Cannot be combined with `after`.',
    }),
  ),
  type: TypeParameter,
  petId: Type.Optional(
    Type.Unsafe<bigint>({
      ...Int64,
      'x-not-with': ['newest'],
      description:
        'Return only events of this pet. A page examines at most 10,000 events: it can have fewer than `limit`, or none, although more follow. Follow the `Link` until its `after` stays the same. Cannot be combined with `newest`.',
    }),
  ),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: EVENTS_LIMIT_MAX,
      default: EVENTS_LIMIT_DEFAULT,
      description: 'Max number of events to return.',
    }),
  ),
})

export const STREAM_TYPE = 'text/event-stream'

export const StreamEventsQuery = Type.Object({ after: AfterParameter, type: TypeParameter })

export const StreamEventsHeaders = Type.Object({
  'last-event-id': Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: POSITION_LENGTH_MAX,
      description:
        'Continue after this position. Takes precedence over `after`. An `EventSource` sends it when it reconnects.',
    }),
  ),
})
