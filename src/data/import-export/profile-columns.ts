// The columns of a profile in an import: which of them a file has, and what a row has in them. An empty field is a field
// without a value. Unlike the columns of a pet, they are checked by the schema of the API itself, because few rows have them.
import { WRITABLE_NAMES } from '../../contract/profile-fields.ts'
import { buildValidator } from '../../http/validation.ts'
import { profileFaults } from '../../store/profiles/profiles.ts'
import { type NewPetProfile, NewPetProfileSchema } from '../../store/profiles/schema.ts'

const CURRENCY = 'currency'
export const PROFILE_COLUMNS: readonly string[] = WRITABLE_NAMES

/** A column of a profile, and its index in a record. */
export interface ProfileColumn {
  name: string
  index: number
}

/** The profile of a row, undefined if all its fields are empty, or what is wrong with it. */
export type ReadProfile = (fields: readonly string[]) => {
  profile: NewPetProfile | undefined
  faults: string[]
}

export function profileReader(columns: readonly ProfileColumn[], currency: string, now: Date): ReadProfile {
  const validate = buildValidator(undefined)({ schema: NewPetProfileSchema, httpPart: 'body' })
  return (fields) => {
    const values = columns
      .map(({ name, index }) => [name, fields[index] ?? ''] as const)
      .filter(([, value]) => value !== '')
    if (values.length === 0) return { profile: undefined, faults: [] }
    const { [CURRENCY]: given = currency, ...profile } = Object.fromEntries(values)
    const result = validate(profile)
    const details = 'error' in result ? (result.error.details ?? []) : profileFaults(profile, currency, now)
    const faults = details.map(({ message }) => message)
    if (given !== currency) faults.push(`currency must be ${currency}, the currency of the store.`)
    return { profile, faults }
  }
}
