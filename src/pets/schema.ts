// The shapes of an animal, as the interface document gives them. Types, validation, answers and
// openapi.json all come from here.
import { type Static, Type } from 'typebox'
import { Int64 } from '../int64.ts'

export const PET_STATUSES = ['available', 'pending', 'sold'] as const
export type PetStatus = (typeof PET_STATUSES)[number]

const NAME_LENGTH_MAX = 500
export const LIST_LIMIT_MAX = 100
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

export const PET_SCHEMAS = [PetStatusSchema, NewPetSchema, PetSchema, PetsSchema]

export const ListPetsQuery = Type.Object({
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: LIST_LIMIT_MAX,
      default: LIST_LIMIT_DEFAULT,
      description: `The most animals to answer. With \`id\` the default is ${LIST_LIMIT_MAX}.`,
    }),
  ),
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
      description:
        'Only these animals, repeated once for each id; unknown ids are absent. Not with `cursor`.',
    }),
  ),
  cursor: Type.Optional(
    Type.String({
      minLength: 1,
      description: 'Where to go on: taken from the `Link` header of the page before, with the same filters.',
    }),
  ),
})

export const PetParams = Type.Object(
  { petId: Type.Unsafe<bigint>({ ...Int64, description: 'The id of the animal.' }) },
  { notFound: 'pet_not_found' },
)
