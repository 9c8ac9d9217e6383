// The fields of a profile: the price of a pet and facts about it. The names of columns, statements, history, imports, exports
// and commands follow from them. Separate from src/store/profiles/schema.ts, because the history of a pet has them too.
import { Type } from 'typebox'
import type { ResponseOf } from './named-schema.ts'
import { CurrencySchema, PRICE_FIELDS } from './price.ts'

export const SEXES = ['female', 'male', 'unknown'] as const
export type Sex = (typeof SEXES)[number]

const BREED_LENGTH_MAX = 100
const CHIP_NUMBER_LENGTH_MAX = 40
const REFERENCE_LENGTH_MAX = 100
const DESCRIPTION_LENGTH_MAX = 2_000

export const ChipNumberSchema = Type.String({
  minLength: 1,
  maxLength: CHIP_NUMBER_LENGTH_MAX,
  pattern: '^[0-9A-Za-z]+$',
  description: 'Number of the microchip: letters and digits. Several pets can have the same number.',
  examples: ['276098106123456'],
})

export const ReferenceSchema = Type.String({
  'x-unique': true,
  minLength: 1,
  maxLength: REFERENCE_LENGTH_MAX,
  pattern: '\\S',
  format: 'single-line',
  description:
    "The shop's own id of the pet, compared exactly. No other pet can have the same. Must not be blank and must have no control characters.",
  examples: ['SKU-4711'],
})

/** The fields that a caller writes. All are optional. */
export const WRITABLE_FIELDS = {
  ...PRICE_FIELDS,
  breed: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: BREED_LENGTH_MAX,
      pattern: '\\S',
      format: 'single-line',
      description: 'Must not be blank and must have no control characters.',
      examples: ['Beagle'],
    }),
  ),
  sex: Type.Optional(Type.Unsafe<Sex>({ type: 'string', enum: SEXES })),
  bornOn: Type.Optional(
    Type.String({
      format: 'date',
      description: 'Date of birth, in or after 1900. Must not be in the future.',
      examples: ['2025-05-31'],
    }),
  ),
  chipNumber: Type.Optional(ChipNumberSchema),
  reference: Type.Optional(ReferenceSchema),
  description: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: DESCRIPTION_LENGTH_MAX,
      pattern: '\\S',
      format: 'multi-line',
      description: 'Plain text. Must not be blank. Of the control characters, it can have only line breaks.',
    }),
  ),
}
export const WRITABLE_NAMES = Object.keys(WRITABLE_FIELDS) as (keyof typeof WRITABLE_FIELDS)[]

/** The fields of a stored profile: a price always has its currency. */
export const PROFILE_FIELDS = { ...WRITABLE_FIELDS, currency: Type.Optional(CurrencySchema) }
const fields = Type.Object(PROFILE_FIELDS)
export type ProfileFields = ResponseOf<typeof fields>
/** In the order of the columns of a file. */
export const PROFILE_FIELD_NAMES = Object.keys(PROFILE_FIELDS) as (keyof ProfileFields)[]

/** The column of a field in the table pet_profiles, such as born_on for bornOn. */
export function columnOf(field: keyof ProfileFields): string {
  return field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}
