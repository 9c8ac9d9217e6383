// JSON schemas of profiles: the price of a pet and facts about it. A pet itself has only its name, category and status.
import { type Static, Type } from 'typebox'
import { Int64 } from '../../contract/int64-schema.ts'
import { orNull, refTo, type ResponseOf } from '../../contract/named-schema.ts'
import { LIST_LIMIT_MAX } from '../../contract/paging.ts'
import { ChipNumberSchema, PROFILE_FIELDS, WRITABLE_FIELDS } from '../../contract/profile-fields.ts'

const FIELDS_EXAMPLE = {
  price: '129.00',
  breed: 'Beagle',
  sex: 'female',
  bornOn: '2025-05-31',
  chipNumber: '276098106123456',
  reference: 'SKU-4711',
  description: 'Calm with children.',
}
export const PROFILE_EXAMPLE = { petId: 42, currency: 'EUR', ...FIELDS_EXAMPLE }

export const ProfileSchema = Type.Object(PROFILE_FIELDS, {
  $id: 'Profile',
  description:
    'The price of a pet and facts about it, within the pet. A field without a value is absent. Only with `include=profile`.',
  examples: [{ currency: 'EUR', ...FIELDS_EXAMPLE }],
})

export const PetProfileSchema = Type.Object(
  { petId: Type.Unsafe<bigint>({ ...Int64, description: 'Id of the pet.' }), ...PROFILE_FIELDS },
  {
    $id: 'PetProfile',
    description: 'The price of a pet and facts about it. A field without a value is absent.',
    examples: [PROFILE_EXAMPLE],
  },
)
export type PetProfile = ResponseOf<typeof PetProfileSchema>

export const NewPetProfileSchema = Type.Object(WRITABLE_FIELDS, {
  $id: 'NewPetProfile',
  additionalProperties: false,
  description:
    'The whole profile of a pet: a field that is absent here has no value afterwards. A stored price keeps its currency only if the request has the same `price` and `currency`.',
  examples: [FIELDS_EXAMPLE],
})
export type NewPetProfile = Static<typeof NewPetProfileSchema>
export const NewPetProfileRef = refTo(NewPetProfileSchema)

type Nullable<Fields> = { [Name in keyof Fields]: Fields[Name] | null }

const ProfileChangeSchema = Type.Object(
  Object.fromEntries(
    Object.entries(WRITABLE_FIELDS).map(([name, schema]) => [name, Type.Optional(orNull(schema))]),
  ),
  {
    $id: 'ProfileChange',
    additionalProperties: false,
    description: 'The facts to change. Absent ones stay unchanged, and `null` clears one.',
    examples: [{ price: '129.00', breed: null }],
  },
)
export type ProfileChange = Nullable<NewPetProfile>
export const ProfileChangeRef = Type.Unsafe<ProfileChange>(refTo(ProfileChangeSchema))

/** A profile with its version, which every change increments: 0 before the first one. */
export type VersionedProfile = PetProfile & { version: number }

export const PetProfilesSchema = Type.Array(refTo(PetProfileSchema), {
  $id: 'PetProfiles',
  maxItems: LIST_LIMIT_MAX,
  description: 'Profiles, the newest pet first.',
})

export const PROFILE_SCHEMAS = [
  ProfileSchema,
  PetProfileSchema,
  NewPetProfileSchema,
  PetProfilesSchema,
  ProfileChangeSchema,
]

export const ListPetProfilesQuery = Type.Object({
  petId: Type.Optional(
    Type.Array(Int64, {
      maxItems: LIST_LIMIT_MAX,
      'x-not-with': ['chipNumber'],
      'x-required-without': 'chipNumber',
      description:
        'Return the profiles of these pets. Repeat the parameter for each id. Required without `chipNumber`, and cannot be combined with it.',
    }),
  ),
  chipNumber: Type.Optional(
    Type.String({
      ...ChipNumberSchema,
      description: 'Return the profiles that have exactly this chip number.',
    }),
  ),
})

export const ProfileParams = Type.Object(
  { petId: Type.Unsafe<bigint>({ ...Int64, description: 'The id of the pet.' }) },
  { notFound: 'pet_not_found' },
)
