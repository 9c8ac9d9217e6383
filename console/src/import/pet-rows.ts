// Reads pets from the rows of a CSV file. The columns and the rules are those of `petstore import`, so that the preview shows
// the rows that the service would reject. A cell is read as the files of the console write it, see `safeCell`. Only the service knows the rules that depend on its data and settings, such as
// which categories it accepts.
import type { PetToCreate } from '@petstore/client'
import { NEW_PET, NEW_PET_PROFILE } from '@petstore/client/rules'
import { counted } from '../layout/counted.ts'
import { readCell } from '../layout/csv.ts'
import { isDay } from '../layout/dates.ts'
import { STATUSES } from '../pets/filters.ts'
import { exampleAmount, readAmount } from '../profile/price.ts'
import type { ShopCurrency } from '../shop/shop.ts'
import { PROFILE_FIELDS } from '../profile/profile-values.ts'
import { type CsvRecord, readCsv } from './csv.ts'

const REQUIRED = ['name', 'categoryId'] as const
const PET_COLUMNS = [...REQUIRED, 'status'] as const
export const TEMPLATE_COLUMNS = [...PET_COLUMNS, ...PROFILE_FIELDS]
/** An export also has the currency of each price. */
const PROFILE_COLUMNS = [...PROFILE_FIELDS, 'currency'] as const
export type ColumnName = (typeof PET_COLUMNS)[number] | (typeof PROFILE_COLUMNS)[number]

/** The format int64. */
const ID_MAX = 9_223_372_036_854_775_807n
/** The time zone that is furthest ahead of UTC. A date is in the future if no place on Earth has reached it. */
const LATEST_DATE_AHEAD_MS = 14 * 3_600_000
const BORN_ON_MIN = '1900-01-01'

/** The file has no rows that could be read. The message says what to do. */
export class FileError extends Error {}

/** The texts of a row by the name of their column. Empty if the row has no such column. */
export type RowValues = Record<ColumnName, string>

interface ReadRow {
  record: CsvRecord
  values: RowValues
}

export interface PetRow extends ReadRow {
  pet: PetToCreate
}

export interface RejectedRow extends ReadRow {
  /** Everything that is wrong with the row. */
  reason: string
}

export interface PetFile {
  /** The columns of the list of rejected rows: those of a pet, and those of a profile that the file has. */
  columns: ColumnName[]
  rows: (PetRow | RejectedRow)[]
}

/** What the rows of a file have in common. */
interface Format {
  /** The names of all columns of the file. */
  names: string[]
  /** Where a row has the columns that the import knows; -1 if it does not have one. */
  indexes: [ColumnName, number][]
  currency: ShopCurrency
  latestDay: string
}

export function isRejected(row: PetRow | RejectedRow): row is RejectedRow {
  return 'reason' in row
}

export function isAccepted(row: PetRow | RejectedRow): row is PetRow {
  return 'pet' in row
}

export function readPetFile(bytes: Uint8Array, currency: ShopCurrency, now: Date): PetFile {
  const records = readCsv(bytes)
  const { value: header } = records.next()
  if (header === undefined) {
    throw new FileError('The file is empty. Its first line must name the columns: name,categoryId,status')
  }
  const names = columnsOf(header)
  const format: Format = { currency, latestDay: latestDayAt(now), names, indexes: indexesOf(names) }
  const rows = Array.from(records, (record) => readRow(record, format))
  if (rows.length === 0) throw new FileError('The file has no rows below its first line.')
  const profileColumns = PROFILE_COLUMNS.filter((name) => names.includes(name))
  return { columns: [...PET_COLUMNS, ...profileColumns], rows }
}

function columnsOf({ fields, fault }: CsvRecord): string[] {
  const example = 'such as: name,categoryId,status'
  if (fault !== undefined) {
    throw new FileError(
      `The first line of the file cannot be read: ${fault} It must name the columns, in UTF-8, ${example}`,
    )
  }
  const names = fields.map((name) => name.trim())
  const repeated = [...PET_COLUMNS, ...PROFILE_COLUMNS].find(
    (name) => names.indexOf(name) !== names.lastIndexOf(name),
  )
  if (repeated !== undefined) {
    throw new FileError(`The file has more than one column “${repeated}”. Keep only one.`)
  }
  const missing = REQUIRED.filter((name) => !names.includes(name))
  if (missing.length === 0) return names
  const isSeparatedOtherwise = fields.length === 1 && /[;\t]/.test(fields[0] ?? '')
  throw new FileError(
    `The file has no column ${missing.join(' and no column ')}. ` +
      (isSeparatedOtherwise
        ? 'Separate the columns with commas: save the file as “CSV UTF-8 (comma delimited)”.'
        : `Its first line must name the columns, ${example}`),
  )
}

function indexesOf(names: string[]): [ColumnName, number][] {
  return [...PET_COLUMNS, ...PROFILE_COLUMNS].map((name) => [name, names.indexOf(name)])
}

function latestDayAt(now: Date): string {
  return new Date(now.getTime() + LATEST_DATE_AHEAD_MS).toISOString().slice(0, BORN_ON_MIN.length)
}

function readRow(record: CsvRecord, { names, indexes, currency, latestDay }: Format): PetRow | RejectedRow {
  const { fields, fault } = record
  const values = {} as RowValues
  for (const [name, index] of indexes) values[name] = readCell(fields[index] ?? '')
  if (fault !== undefined) return { record, values, reason: fault }
  if (fields.length !== names.length) {
    const reason = `The row has ${counted(fields.length, 'column')}, but the first line has ${names.length}.`
    return { record, values, reason }
  }
  const faults = [...petFaults(values), ...profileFaults(values, currency, latestDay)]
  return faults.length === 0
    ? { record, values, pet: petOf(values, currency) }
    : { record, values, reason: faults.join(' ') }
}

function petOf(values: RowValues, { code }: ShopCurrency): PetToCreate {
  const { name, categoryId, status, price } = values
  const given = PROFILE_FIELDS.filter((field) => values[field] !== '')
  return {
    name,
    // Without leading zeros.
    categoryId: String(BigInt(categoryId)),
    status: STATUSES.find((known) => known === status) ?? 'available',
    ...(given.length > 0 && {
      profile: {
        ...Object.fromEntries(given.map((field) => [field, values[field]])),
        // The service then rejects the price if its currency has changed since the page was loaded.
        ...(price !== '' && { currency: code }),
      },
    }),
  }
}

function petFaults({ name, categoryId, status }: RowValues): string[] {
  return [
    ...faultsOf([[name === '', 'name is missing.']]),
    ...textFaults('name', name, NEW_PET.name),
    ...faultsOf([
      [categoryId === '', 'categoryId is missing.'],
      [categoryId !== '' && !isIdText(categoryId), 'categoryId must be the number of a category.'],
    ]),
    ...textFaults('status', status, NEW_PET.status),
  ]
}

/** An empty field has no value, so it has no fault. */
function profileFaults(values: RowValues, currency: ShopCurrency, latestDay: string): string[] {
  /** The fields whose rules depend on settings or on the clock. */
  const others: Partial<Record<ColumnName, string[]>> = {
    price: priceFaults(values.price, currency),
    bornOn: birthFaults(values.bornOn, latestDay),
  }
  return [
    ...PROFILE_FIELDS.flatMap(
      (field) => others[field] ?? textFaults(field, values[field], NEW_PET_PROFILE[field]),
    ),
    ...faultsOf([
      [
        values.currency !== '' && values.currency !== currency.code,
        `currency must be ${currency.code}, the currency of the store.`,
      ],
    ]),
  ]
}

function priceFaults(price: string, currency: ShopCurrency): string[] {
  const { decimals } = currency
  const isAmount = price === '' || readAmount(price, currency, '.') === price
  return faultsOf([[!isAmount, `price must be an amount such as ${exampleAmount(decimals)}.`]])
}

function birthFaults(bornOn: string, latestDay: string): string[] {
  const isDate = bornOn === '' || (isDay(bornOn) && bornOn >= BORN_ON_MIN)
  return faultsOf([
    [!isDate, 'bornOn must be a date in or after 1900, such as 2025-05-31.'],
    [isDate && bornOn > latestDay, 'bornOn must not be in the future.'],
  ])
}

/** The rules of `@petstore/client/rules` that texts have. */
interface TextRules {
  maxLength?: number
  pattern?: string
  format?: string
  enum?: readonly string[]
}

const PATTERN_FAULTS: Record<string, string> = {
  [NEW_PET.name.pattern]: 'must not be blank.',
  [NEW_PET_PROFILE.chipNumber.pattern]: 'must have only the letters A to Z and digits.',
}

/** The characters that a text of the format must not have. */
const FORMAT_FAULTS: Record<string, [forbidden: RegExp, fault: string]> = {
  'single-line': [/\p{Cc}/u, 'must have no control characters, such as line breaks.'],
  'multi-line': [/[^\P{Cc}\r\n]/u, 'must have no control characters other than line breaks.'],
}
const TEXT_FAULT: [forbidden: RegExp, fault: string] = [/\0/, 'must be well-formed Unicode without NUL.']

/** What is wrong with a text. An empty one has no fault: the field is not set. */
function textFaults(field: ColumnName, text: string, rules: TextRules): string[] {
  if (text === '') return []
  const { maxLength, pattern, format = '', enum: choices } = rules
  if (choices !== undefined)
    return faultsOf([[!choices.includes(text), `${field} must be one of ${choices.join(', ')}.`]])
  const [forbidden, characterFault] = FORMAT_FAULTS[format] ?? TEXT_FAULT
  return faultsOf([
    [maxLength !== undefined && lengthOf(text) > maxLength, `must have at most ${maxLength} characters.`],
    [
      pattern !== undefined && !new RegExp(pattern, 'u').test(text),
      PATTERN_FAULTS[pattern ?? ''] ?? `must match the pattern ${pattern}`,
    ],
    [forbidden.test(text), characterFault],
  ]).map((fault) => `${field} ${fault}`)
}

function faultsOf(rules: [isBroken: boolean, fault: string][]): string[] {
  return rules.filter(([isBroken]) => isBroken).map(([, fault]) => fault)
}

/** The service counts code points. */
function lengthOf(text: string): number {
  return Array.from(text).length
}

function isIdText(text: string): boolean {
  return /^\d{1,19}$/.test(text) && BigInt(text) >= 1n && BigInt(text) <= ID_MAX
}
