// JSON schemas of changePets: many creates, updates and deletions in one request, with a result for each.
import { type Static, Type } from 'typebox'
import type { ErrorBody } from '../../contract/errors.ts'
import { Int64 } from '../../contract/int64-schema.ts'
import { refTo, type ResponseOf } from '../../contract/named-schema.ts'
import { NewPetSchema, PetChangeSchema, PetSchema } from '../pets/schema.ts'

/** Bounds the locks and the time of the transaction. */
const CHANGES_MAX = 100
const VERSION_MAX = 2_147_483_647

const petId = Type.Unsafe<bigint>({ ...Int64, description: 'Id of the pet.' })
const version = Type.Optional(
  Type.Integer({
    minimum: 1,
    maximum: VERSION_MAX,
    description:
      'Version of the pet as you read it: the number in its `ETag`. If the pet has changed since, the result is 412 and the pet stays unchanged.',
  }),
)

const PetToCreateSchema = Type.Object(
  { ...NewPetSchema.properties },
  {
    $id: 'PetToCreate',
    additionalProperties: false,
    description: 'The pet to create, as for `createPet`, and its profile, as for `putPetProfile`.',
    examples: [{ name: 'Biscuit', categoryId: 1, profile: { price: '129.00' } }],
  },
)
export type PetToCreate = Static<typeof PetToCreateSchema>
export const PetToCreateRef = refTo(PetToCreateSchema)

const PetToUpdateSchema = Type.Object(
  { petId, version, ...PetChangeSchema.properties },
  {
    $id: 'PetToUpdate',
    additionalProperties: false,
    description: 'The fields of a pet to change, as for `updatePet`. Absent fields stay unchanged.',
    examples: [{ petId: 42, status: 'sold', reason: 'walk-in' }],
  },
)
export type PetToUpdate = Static<typeof PetToUpdateSchema>
export const PetToUpdateRef = refTo(PetToUpdateSchema)

const PetToDeleteSchema = Type.Object(
  { petId, version },
  {
    $id: 'PetToDelete',
    additionalProperties: false,
    description: 'The pet to delete, as for `deletePet`.',
    examples: [{ petId: 43 }],
  },
)
export type PetToDelete = Static<typeof PetToDeleteSchema>
export const PetToDeleteRef = refTo(PetToDeleteSchema)

export const CHANGES_EXAMPLE = [
  { create: { name: 'Biscuit', categoryId: 1, profile: { price: '129.00' } } },
  { update: { petId: 41, status: 'sold' } },
  { delete: { petId: 40 } },
]

const PetChangeItemSchema = Type.Object(
  {
    create: Type.Optional(PetToCreateRef),
    update: Type.Optional(PetToUpdateRef),
    delete: Type.Optional(PetToDeleteRef),
  },
  {
    $id: 'PetChangeItem',
    additionalProperties: false,
    'x-per-item': ['create', 'update', 'delete'],
    oneOf: [{ required: ['create'] }, { required: ['update'] }, { required: ['delete'] }],
    description: 'One change: exactly one of `create`, `update` and `delete`.',
    examples: CHANGES_EXAMPLE,
  },
)
export type PetChangeItem = Static<typeof PetChangeItemSchema>

const PetChangesSchema = Type.Object(
  {
    changes: Type.Array(refTo(PetChangeItemSchema), {
      minItems: 1,
      maxItems: CHANGES_MAX,
      description: 'The changes. Only one of them can name the same pet.',
    }),
  },
  {
    $id: 'PetChanges',
    additionalProperties: false,
    description: 'The changes to make.',
    examples: [{ changes: CHANGES_EXAMPLE }],
  },
)
export const PetChangesRef = refTo(PetChangesSchema)

const PetChangeResultSchema = Type.Object(
  {
    status: Type.Integer({
      description:
        'The status that the operation for one pet would return: 201 for a created pet, 200 for an updated one, 204 for a deleted one, or that of an error.',
    }),
    pet: Type.Optional(refTo(PetSchema)),
    version: Type.Optional(
      Type.Integer({ description: 'Version of the pet after the change. Present with status 200 and 201.' }),
    ),
    error: Type.Optional(Type.Unsafe<ErrorBody>({ $ref: 'Error#' })),
  },
  {
    $id: 'PetChangeResult',
    description:
      'What became of a change. With `error`, the pet is unchanged. `pet` is the pet after the change; it is absent if nothing of it has changed, and after a deletion.',
    examples: [{ status: 204 }],
  },
)
export type PetChangeResult = ResponseOf<typeof PetChangeResultSchema>

export const PetChangeResultsSchema = Type.Object(
  {
    results: Type.Array(refTo(PetChangeResultSchema), {
      maxItems: CHANGES_MAX,
      description: 'One result for each change, in the same order.',
    }),
  },
  { $id: 'PetChangeResults', description: 'The results of the changes.' },
)

export const PET_CHANGE_SCHEMAS = [
  PetToCreateSchema,
  PetToUpdateSchema,
  PetToDeleteSchema,
  PetChangeItemSchema,
  PetChangesSchema,
  PetChangeResultSchema,
  PetChangeResultsSchema,
]
