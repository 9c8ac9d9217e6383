// JSON schemas of the history of a pet.
import { Type } from 'typebox'
import { Int64 } from '../../contract/int64-schema.ts'
import { refTo, type ResponseOf } from '../../contract/named-schema.ts'
import { PET_STATUSES, type PetStatus } from '../../contract/pet-status.ts'
import { PROFILE_FIELDS } from '../../contract/profile-fields.ts'

export const EVENTS = [
  'created',
  'updated',
  'order_placed',
  'order_completed',
  'order_cancelled',
  'order_expired',
  'taken_back',
  'sale_voided',
  'return_voided',
] as const
export type HistoryEvent = (typeof EVENTS)[number]

const changedFields = (description: string) =>
  Type.Optional(
    Type.Object(
      {
        name: Type.Optional(Type.String()),
        categoryId: Type.Optional(Int64),
        status: Type.Optional(Type.Unsafe<PetStatus>({ type: 'string', enum: PET_STATUSES })),
        ...PROFILE_FIELDS,
      },
      { description },
    ),
  )

const HistoryEntrySchema = Type.Object(
  {
    at: Type.Unsafe<Date>({ type: 'string', format: 'date-time' }),
    event: Type.Unsafe<HistoryEvent>({ type: 'string', enum: EVENTS }),
    from: changedFields(
      'The values of the changed fields before the change, also those of the profile. A field that had no value is absent.',
    ),
    to: changedFields(
      'The values of the changed fields after the change. A field that has no value any more is absent.',
    ),
    actor: Type.String({
      description:
        'Present name of the program or person that made the change; `petstore` if the service itself made it.',
    }),
    requestId: Type.String({ description: 'Identifies, in the logs, the request that made the change.' }),
    reason: Type.Optional(Type.String()),
  },
  { $id: 'HistoryEntry', description: 'A change to a pet.' },
)
export type HistoryEntry = ResponseOf<typeof HistoryEntrySchema>
/** The changed fields, with their values before or after the change. */
export type ChangedFields = NonNullable<HistoryEntry['from']>

export const HistorySchema = Type.Array(refTo(HistoryEntrySchema), {
  $id: 'History',
  description: 'The changes to a pet, newest first. The oldest one is its creation.',
})

export const HISTORY_SCHEMAS = [HistoryEntrySchema, HistorySchema]

export const HistoryParams = Type.Object(
  { petId: Type.Unsafe<bigint>({ ...Int64, description: 'The id of the pet.' }) },
  { notFound: 'pet_not_found' },
)
