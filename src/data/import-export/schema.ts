// Validates the header and the rows of an import. Values must follow the rules of the API.
import { PET_STATUSES, type PetStatus } from '../../contract/pet-status.ts'
import { NAME_LENGTH_MAX } from '../../store/pets/schema.ts'
import { countCodePoints, countOf } from '../../values/count-text.ts'
import { INT64_MAX, parseId } from '../../values/int64.ts'
import type { NewPetProfile } from '../../store/profiles/schema.ts'
import { PROFILE_COLUMNS, type ProfileColumn, type ReadProfile } from './profile-columns.ts'

// These are the rules of NewPet in pets/schema.ts, hand-written for speed, because an import may have millions of rows.
// test/slow/import-rules.test.ts checks that both accept the same values.

/** Stops an import. Its message tells the operator what to do. */
export class ImportError extends Error {}

/** The index of each column in a record. */
export interface Columns {
  name: number
  categoryId: number
  /** -1 if the file has no column `status`. */
  status: number
  /** The columns of the profile that the file has. */
  profile: readonly ProfileColumn[]
  /** Number of columns in the file. */
  count: number
}

export interface Row {
  line: number
  name: string
  categoryId: string
  status: PetStatus
  /** Undefined if all fields of the profile are empty. */
  profile: NewPetProfile | undefined
  profileTexts: readonly string[]
}

export interface RejectedRow {
  line: number
  reason: string
  name: string
  categoryId: string
  status: string
  /** The texts in the columns of the profile, in their order. */
  profileTexts: readonly string[]
}

/** A rejected row as shown in the list of rejected rows. */
export interface ListedRow extends RejectedRow {
  /** The text of the row in the file. */
  text: string
}

export function findColumns(header: readonly string[], label: string): Columns {
  const names = header.map((name) => name.trim())
  const find = (name: string) => {
    if (names.indexOf(name) !== names.lastIndexOf(name)) {
      throw new ImportError(`${label} has more than one column "${name}". Keep only one.`)
    }
    return names.indexOf(name)
  }
  const columns = {
    name: find('name'),
    categoryId: find('categoryId'),
    status: find('status'),
    profile: PROFILE_COLUMNS.map((name) => ({ name, index: find(name) })).filter(({ index }) => index !== -1),
    count: names.length,
  }
  const missing = (['name', 'categoryId'] as const).filter((name) => columns[name] === -1)
  if (missing.length === 0) return columns
  const separators = header.length === 1 && /[;\t]/.test(header[0] ?? '')
  throw new ImportError(
    `${label} has no column ${missing.join(' and no column ')}. Its first line must name the columns, ` +
      'such as: name,categoryId,status' +
      (separators ? '\nSeparate the columns with commas.' : ''),
  )
}

/** Returns the validated row, or the rejected row with all its faults, worded like the errors of the API. */
export function readRow(
  { line, fields, fault }: { line: number; fields: readonly string[]; fault: string | undefined },
  columns: Columns,
  readProfile: ReadProfile = () => ({ profile: undefined, faults: [] }),
): Row | RejectedRow {
  const name = fields[columns.name] ?? ''
  const categoryId = fields[columns.categoryId] ?? ''
  const status = fields[columns.status] ?? ''
  const known = status === '' ? 'available' : PET_STATUSES.find((choice) => choice === status)
  const profileTexts = columns.profile.map(({ index }) => fields[index] ?? '')
  const { profile, faults } = readProfile(fields)
  const reason = fault ?? findFaults(fields.length, columns.count, name, categoryId, known, faults)
  if (reason !== undefined || known === undefined) {
    return { line, reason: reason ?? '', name, categoryId, status, profileTexts }
  }
  return { line, name, categoryId, status: known, profile, profileTexts }
}

export function isRejected(row: Row | RejectedRow): row is RejectedRow {
  return 'reason' in row
}

export function rejectCategory({ profile: _profile, ...row }: Row): RejectedRow {
  return { ...row, reason: `No category has the id ${row.categoryId}.` }
}

export function rejectReference({ profile: _profile, ...row }: Row): RejectedRow {
  return { ...row, reason: 'Another pet has this reference.' }
}

function findFaults(
  fields: number,
  columns: number,
  name: string,
  categoryId: string,
  status: PetStatus | undefined,
  profileFaults: readonly string[],
): string | undefined {
  if (fields !== columns) {
    return `The row has ${countOf(fields, 'column')}, but the first line has ${columns}.`
  }
  const nameFault = findNameFault(name)
  const categoryIsValid = parseId(categoryId) !== undefined
  if (nameFault === undefined && categoryIsValid && status !== undefined && profileFaults.length === 0) {
    return undefined
  }
  const faults = [
    nameFault,
    categoryIsValid ? undefined : `categoryId must be an integer from 1 to ${INT64_MAX}.`,
    status === undefined ? `status must be one of ${PET_STATUSES.join(', ')}.` : undefined,
    ...profileFaults,
  ]
  return faults.filter((fault) => fault !== undefined).join(' ')
}

function findNameFault(name: string): string | undefined {
  if (name === '') return 'name must have at least 1 character.'
  if (!/\S/.test(name)) return 'name must not be blank.'
  // The limit is in code points. A text never has more code points than `length`, so short names need no counting.
  if (name.length > NAME_LENGTH_MAX && countCodePoints(name) > NAME_LENGTH_MAX) {
    return `name must have at most ${NAME_LENGTH_MAX} characters.`
  }
  if (name.includes('\0')) return 'name must be well-formed Unicode without NUL.'
  return undefined
}
