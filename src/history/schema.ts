// What happened to an animal, as an answer tells it.
import { Type } from 'typebox'
import { Int64 } from '../int64-schema.ts'
import { PET_STATUSES, type PetStatus } from '../pet-status.ts'

export const EVENTS = [
  'created',
  'updated',
  'order_placed',
  'order_completed',
  'order_cancelled',
  'order_expired',
] as const
export type HistoryEvent = (typeof EVENTS)[number]

/** The fields of an animal that a change touched, before or after it. */
export interface ChangedFields {
  name?: string | undefined
  categoryId?: bigint | undefined
  status?: PetStatus | undefined
}

export interface HistoryEntry {
  at: Date
  event: HistoryEvent
  from?: ChangedFields | undefined
  to?: ChangedFields | undefined
  apiKeyName: string
  requestId: string
  reason?: string | undefined
}

const changedFields = (description: string) =>
  Type.Optional(
    Type.Object(
      {
        name: Type.Optional(Type.String()),
        categoryId: Type.Optional(Int64),
        status: Type.Optional(Type.Unsafe<PetStatus>({ type: 'string', enum: PET_STATUSES })),
      },
      { description },
    ),
  )

const HistoryEntrySchema = Type.Object(
  {
    at: Type.Unsafe<Date>({ type: 'string', format: 'date-time' }),
    event: Type.Unsafe<HistoryEvent>({ type: 'string', enum: EVENTS }),
    from: changedFields('What changed, before.'),
    to: changedFields('What changed, after.'),
    apiKeyName: Type.String({ description: 'Whose key did it; `petstore` where the service itself did.' }),
    requestId: Type.String({ description: 'Finds the request in the logs.' }),
    reason: Type.Optional(Type.String()),
  },
  { $id: 'HistoryEntry', description: 'One change of an animal.' },
)

const HistorySchema = Type.Unsafe<HistoryEntry[]>({
  $id: 'History',
  type: 'array',
  items: { $ref: 'HistoryEntry#' },
  description: 'The changes of an animal, newest first; the last one is its creation.',
})

export const HISTORY_SCHEMAS = [HistoryEntrySchema, HistorySchema]

export const HistoryParams = Type.Object(
  { petId: Type.Unsafe<bigint>({ ...Int64, description: 'The id of the animal.' }) },
  { notFound: 'pet_not_found' },
)
