// The shapes of an animal, as the interface document gives them. Types, validation, answers and
// openapi.json all come from here.
import { type Static, Type } from 'typebox'
import { Int64 } from '../int64-schema.ts'
import { PET_STATUSES, type PetStatus } from '../pet-status.ts'
import { CursorParameter, LIST_LIMIT_MAX, LimitParameter } from '../paging.ts'

export const NAME_LENGTH_MAX = 500
export const LIST_LIMIT_DEFAULT = 20

const PetStatusSchema = Type.Unsafe<PetStatus>({
  $id: 'PetStatus',
  type: 'string',
  enum: PET_STATUSES,
  description: 'Availability of an animal.',
})
const PetStatusRef = Type.Unsafe<PetStatus>({ $ref: 'PetStatus#' })

const name = Type.String({
  minLength: 1,
  maxLength: NAME_LENGTH_MAX,
  pattern: '\\S',
  description: 'Kept exactly as sent. Counted in code points; not blank, without NUL, well-formed Unicode.',
})
const categoryId = Type.Unsafe<bigint>({
  ...Int64,
  description: 'Id of the category the animal belongs to.',
})

const NewPetSchema = Type.Object(
  { name, categoryId, status: Type.Optional(PetStatusRef) },
  {
    $id: 'NewPet',
    description: 'An animal to add. Without a status it is available. Fields not named here are ignored.',
    examples: [{ name: 'Biscuit', categoryId: 1, status: 'available' }],
  },
)
export type NewPet = Static<typeof NewPetSchema>
export const NewPetRef = Type.Unsafe<NewPet>({ $ref: 'NewPet#' })

const PetSchema = Type.Object(
  {
    id: Type.Unsafe<bigint>({ ...Int64, description: 'Assigned by the service on creation.' }),
    name,
    categoryId,
    status: PetStatusRef,
  },
  {
    $id: 'Pet',
    description: 'An animal of the catalogue.',
    examples: [{ id: 42, name: 'Biscuit', categoryId: 1, status: 'available' }],
  },
)
export type Pet = Static<typeof PetSchema>

const PetsSchema = Type.Unsafe<Pet[]>({
  $id: 'Pets',
  type: 'array',
  items: { $ref: 'Pet#' },
  maxItems: LIST_LIMIT_MAX,
  description: 'Animals, newest first.',
})

const REASON_LENGTH_MAX = 500

const PetChangeSchema = Type.Object(
  {
    name: Type.Optional(name),
    categoryId: Type.Optional(categoryId),
    status: Type.Optional(PetStatusRef),
    reason: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: REASON_LENGTH_MAX,
        description: 'Why, for the history.',
      }),
    ),
  },
  {
    $id: 'PetChange',
    description: 'What to change of an animal; what is absent stays.',
    examples: [{ status: 'sold', reason: 'walk-in' }],
  },
)
export type PetChange = Static<typeof PetChangeSchema>
export const PetChangeRef = Type.Unsafe<PetChange>({ $ref: 'PetChange#' })

/** An animal and how often it was changed: what its ETag is made of. */
export type VersionedPet = Pet & { version: number }

export const PET_SCHEMAS = [PetStatusSchema, NewPetSchema, PetSchema, PetsSchema, PetChangeSchema]

export const ListPetsQuery = Type.Object({
  limit: LimitParameter(LIST_LIMIT_DEFAULT, ` With \`id\` the default is ${LIST_LIMIT_MAX}.`),
  status: Type.Optional(
    Type.Unsafe<PetStatus>({
      type: 'string',
      enum: PET_STATUSES,
      description: 'Only animals with this status.',
    }),
  ),
  categoryId: Type.Optional(Type.Unsafe<bigint>({ ...Int64, description: 'Only animals of this category.' })),
  id: Type.Optional(
    Type.Array(Int64, {
      maxItems: LIST_LIMIT_MAX,
      'x-not-with': ['cursor', 'name'],
      description:
        'Only these animals, repeated once for each id; unknown ids are absent. Not with `cursor`.',
    }),
  ),
  name: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: NAME_LENGTH_MAX,
      'x-not-with': ['status', 'categoryId'],
      description:
        'Only animals whose name begins so, in upper or lower case; sorted by name. Not with another filter.',
    }),
  ),
  cursor: CursorParameter,
})

export const PetParams = Type.Object(
  { petId: Type.Unsafe<bigint>({ ...Int64, description: 'The id of the animal.' }) },
  { notFound: 'pet_not_found' },
)
