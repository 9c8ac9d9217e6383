// JSON schemas of pets: the source of the types, the validation, the responses and openapi.json.
import { type Static, Type } from 'typebox'
import { Int64 } from '../../contract/int64-schema.ts'
import { refTo, type ResponseOf } from '../../contract/named-schema.ts'
import { CursorParameter, LimitParameter } from '../../contract/paging-parameters.ts'
import { LIST_LIMIT_MAX } from '../../contract/paging.ts'
import { PET_STATUSES, type PetStatus } from '../../contract/pet-status.ts'

export const NAME_LENGTH_MAX = 500
export const LIST_LIMIT_DEFAULT = 20
/** A longer text could have so many words that checking a pet takes long. */
export const WORD_LENGTH_MAX = 100

const PetStatusSchema = Type.Unsafe<PetStatus>({
  $id: 'PetStatus',
  type: 'string',
  enum: PET_STATUSES,
  description: 'Availability of a pet.',
})
const PetStatusRef = refTo(PetStatusSchema)

const name = Type.String({
  minLength: 1,
  maxLength: NAME_LENGTH_MAX,
  pattern: '\\S',
  description:
    'Stored exactly as sent. Must not be blank and must be well-formed Unicode without NUL. The length is counted in code points.',
})
const categoryId = Type.Unsafe<bigint>({
  ...Int64,
  description: 'Id of the category that the pet belongs to.',
})

export const NewPetSchema = Type.Object(
  { name, categoryId, status: Type.Optional(PetStatusRef) },
  {
    $id: 'NewPet',
    description: 'The pet to create. `status` defaults to `available`. Unknown fields are ignored.',
    examples: [{ name: 'Biscuit', categoryId: 1, status: 'available' }],
  },
)
export type NewPet = Static<typeof NewPetSchema>
export const NewPetRef = refTo(NewPetSchema)

export const PetSchema = Type.Object(
  {
    id: Type.Unsafe<bigint>({ ...Int64, description: 'Assigned by the service on creation.' }),
    name,
    categoryId,
    status: PetStatusRef,
  },
  {
    $id: 'Pet',
    description: 'A pet in the catalogue.',
    examples: [{ id: 42, name: 'Biscuit', categoryId: 1, status: 'available' }],
  },
)
export type Pet = ResponseOf<typeof PetSchema>

export const PetsSchema = Type.Array(refTo(PetSchema), {
  $id: 'Pets',
  maxItems: LIST_LIMIT_MAX,
  description: 'Pets, newest first, or sorted by name if `name` or `sort` is given.',
})

const REASON_LENGTH_MAX = 500

export const PetChangeSchema = Type.Object(
  {
    name: Type.Optional(name),
    categoryId: Type.Optional(categoryId),
    status: Type.Optional(PetStatusRef),
    reason: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: REASON_LENGTH_MAX,
        description: 'Reason for the change, stored in the history.',
      }),
    ),
  },
  {
    $id: 'PetChange',
    description: 'The fields of a pet to change. Absent fields stay unchanged.',
    examples: [{ status: 'sold', reason: 'walk-in' }],
  },
)
export type PetChange = Static<typeof PetChangeSchema>
export const PetChangeRef = refTo(PetChangeSchema)

/** A pet with its version, which every change increments. The ETag of the pet contains the version. */
export type VersionedPet = Pet & { version: number }

export const PET_SCHEMAS = [PetStatusSchema, NewPetSchema, PetSchema, PetsSchema, PetChangeSchema]

export const ListPetsQuery = Type.Object({
  limit: LimitParameter(LIST_LIMIT_DEFAULT, ` With \`id\`, the default is ${LIST_LIMIT_MAX}.`),
  status: Type.Optional(
    Type.Unsafe<PetStatus>({
      type: 'string',
      enum: PET_STATUSES,
      description: 'Return only pets with this status.',
    }),
  ),
  categoryId: Type.Optional(
    Type.Unsafe<bigint>({ ...Int64, description: 'Return only pets in this category.' }),
  ),
  id: Type.Optional(
    Type.Array(Int64, {
      maxItems: LIST_LIMIT_MAX,
      'x-not-with': ['cursor', 'name', 'word'],
      description:
        'Return only these pets. Repeat the parameter for each id. Unknown ids are skipped. Cannot be combined with `cursor`, `name` or `word`.',
    }),
  ),
  name: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: NAME_LENGTH_MAX,
      'x-not-with': ['categoryId'],
      description:
        'Return only pets whose name starts with this text, ignoring case, sorted by name. Can be combined with `status`, but not with `categoryId` or `id`.',
    }),
  ),
  word: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: WORD_LENGTH_MAX,
      'x-not-with': ['name'],
      description:
        'Return only pets whose name has a word that starts with this text, ignoring case, newest first. Words are separated by white space, punctuation and symbols. If the text has several words, the name has a word for each of them. Can be combined with `status` and `categoryId`, but not with `name`, `sort` or `id`. A page can have fewer pets than `limit`, or none, although more pets follow: then it has a `Link`.',
    }),
  ),
  sort: Type.Optional(
    Type.Unsafe<'name'>({
      type: 'string',
      enum: ['name'],
      'x-not-with': ['categoryId', 'id', 'word'],
      description:
        'Sort the pets by name, ignoring case, and then by id, instead of newest first. Can be combined with `name` and `status`, but not with `categoryId`, `id` or `word`.',
    }),
  ),
  cursor: CursorParameter,
})

export const PetParams = Type.Object(
  { petId: Type.Unsafe<bigint>({ ...Int64, description: 'The id of the pet.' }) },
  { notFound: 'pet_not_found' },
)
