// JSON schemas of pets: the source of the types, the validation, the responses and openapi.json.
import { type Static, type TOptional, Type, type TUnsafe } from 'typebox'
import { Int64 } from '../../contract/int64-schema.ts'
import { refTo, type ResponseOf } from '../../contract/named-schema.ts'
import { CursorParameter, LimitParameter } from '../../contract/paging-parameters.ts'
import { LIST_LIMIT_MAX } from '../../contract/paging.ts'
import { ReferenceSchema } from '../../contract/profile-fields.ts'
import { PET_STATUSES, type PetStatus } from '../../contract/pet-status.ts'
import { NewPetProfileRef, ProfileChangeRef } from '../profiles/schema.ts'
import { INCLUDED_FIELDS, IncludeParameter } from './included.ts'
import { FILTER_ENTRIES, type FilterName, type FilterValueOf } from './filters.ts'

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
  { name, categoryId, status: Type.Optional(PetStatusRef), profile: Type.Optional(NewPetProfileRef) },
  {
    $id: 'NewPet',
    description:
      'The pet to create. `status` defaults to `available`. `profile` is stored together with the pet, as by `putPetProfile`. Other fields are ignored; the header `Petstore-Ignored-Fields` names them.',
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
    ...INCLUDED_FIELDS,
  },
  {
    $id: 'Pet',
    description: 'A pet in the catalogue. Only with `include`, it has more fields than the first four.',
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
    additionalProperties: false,
    description: 'The fields of a pet to change. Absent fields stay unchanged.',
    examples: [{ status: 'sold', reason: 'walk-in' }],
  },
)
export type PetChange = Static<typeof PetChangeSchema>
export const PetChangeRef = refTo(PetChangeSchema)

const PetByReferenceSchema = Type.Object(
  {
    name,
    categoryId,
    status: Type.Optional(PetStatusRef),
    profile: Type.Optional(ProfileChangeRef),
  },
  {
    $id: 'PetByReference',
    additionalProperties: false,
    description:
      'The name and category of the pet, and the facts to change: absent ones stay unchanged, and `null` clears one. `status` is that of a new pet, `available` by default: a pet that exists keeps its own.',
    examples: [{ name: 'Biscuit', categoryId: 1, profile: { price: '129.00', breed: null } }],
  },
)
export type PetByReference = Static<typeof PetByReferenceSchema>
export const PetByReferenceRef = refTo(PetByReferenceSchema)

/** A pet with its version, which every change increments. The ETag of the pet contains the version. */
export type VersionedPet = Pet & { version: number }

const SHORT_PAGES =
  ' A page can have fewer pets than `limit`, or none, although more pets follow: then it has a link `rel="next"`.'

/** The parameters of the filters, also for exports. */
export const FILTER_PARAMETERS = Object.fromEntries(
  FILTER_ENTRIES.map(([parameter, { schema, text, hasIndex, isOfOnePet = false }]) => {
    const description = `Return only pets ${text}.${hasIndex || isOfOnePet ? '' : SHORT_PAGES}`
    return [parameter, Type.Optional(Type.Unsafe({ ...schema, description }))]
  }),
) as unknown as { [Name in FilterName]: TOptional<TUnsafe<FilterValueOf<Name>>> }

export const ListPetsQuery = Type.Object({
  limit: LimitParameter(LIST_LIMIT_DEFAULT, ` With \`id\`, the default is ${LIST_LIMIT_MAX}.`),
  ...FILTER_PARAMETERS,
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
        'Return only pets whose name starts with this text, ignoring case, sorted by name. Cannot be combined with `categoryId` or `id`.',
    }),
  ),
  word: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: WORD_LENGTH_MAX,
      'x-not-with': ['name'],
      description: `Return only pets whose name has a word that starts with this text, ignoring case, newest first. Words are separated by white space, punctuation and symbols. If the text has several words, the name has a word for each of them. Cannot be combined with \`name\`, \`sort\` or \`id\`.${SHORT_PAGES}`,
    }),
  ),
  sort: Type.Optional(
    Type.Unsafe<'name'>({
      type: 'string',
      enum: ['name'],
      'x-not-with': ['categoryId', 'id', 'word'],
      description:
        'Sort the pets by name, ignoring case, and then by id, instead of newest first. Cannot be combined with `categoryId`, `id` or `word`.',
    }),
  ),
  include: IncludeParameter,
  cursor: CursorParameter,
})

const {
  limit: _limit,
  sort: _sort,
  include: _include,
  cursor: _cursor,
  ...counted
} = ListPetsQuery.properties

/** The parameters of listPets that select pets. */
export const GetPetCountQuery = Type.Object({
  ...counted,
  id: Type.Optional(
    Type.Array(Int64, {
      maxItems: LIST_LIMIT_MAX,
      'x-not-with': ['name', 'word'],
      description:
        'Count only these pets. Repeat the parameter for each id. Unknown ids are skipped. Cannot be combined with `name` or `word`.',
    }),
  ),
})

export const PetCountSchema = Type.Object(
  {
    count: Type.Integer({ minimum: 0, description: 'Number of the pets that match, at most 10,000.' }),
    more: Type.Boolean({
      description:
        'True if more pets match than `count`, or can match because the service stopped looking. False if `count` is exact.',
    }),
  },
  { $id: 'PetCount', description: 'How many pets match.', examples: [{ count: 42, more: false }] },
)
export type PetCount = ResponseOf<typeof PetCountSchema>

export const GetPetQuery = Type.Object({ include: IncludeParameter })

export const ReferenceParams = Type.Object(
  {
    reference: Type.String({
      ...ReferenceSchema,
      description: "The shop's own id of the pet, percent-encoded.",
    }),
  },
  { notFound: 'invalid_parameter' },
)

export const PetParams = Type.Object(
  { petId: Type.Unsafe<bigint>({ ...Int64, description: 'The id of the pet.' }) },
  { notFound: 'pet_not_found' },
)

export const PET_SCHEMAS = [
  PetStatusSchema,
  NewPetSchema,
  PetSchema,
  PetsSchema,
  PetChangeSchema,
  PetByReferenceSchema,
  PetCountSchema,
]
