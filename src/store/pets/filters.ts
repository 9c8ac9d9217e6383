// The filters of listPets and exportPets. The parameters, cursors, statements, options of commands, arguments of assistants
// and docs follow from this table. Without TypeBox, because commands load it.
import { PET_STATUSES, type PetStatus } from '../../contract/pet-status.ts'
import { parseDateTime } from '../../values/date-time.ts'
import { INT64_SCHEMA } from '../../values/int64.ts'

type FilterValue = string | bigint

export interface PetFilter<Value extends FilterValue = never> {
  /** The JSON schema of the parameter, without its description. */
  schema: { type: string; format?: string; enum?: readonly string[]; minLength?: number; maxLength?: number }
  /** Completes "only pets". */
  text: string
  /** A value, for the docs. */
  example: string
  /** The option of the commands. */
  option: string
  /** The type of its value in PostgreSQL. With `timestamptz`, the value is a date-time: `{ type: 'string', format: 'date-time' }`. */
  sqlType: string
  /** The value as a parameter of a statement. Default: the value itself. */
  toSql?: (value: Value) => unknown
  /**
   * The condition in SQL, for the value. The row of the table `pets` is `pet`. It may read one row of another table by its key,
   * such as `(select breed from pet_profiles where pet_id = pet.id) = ${value}`. With `exists` instead, PostgreSQL may read
   * the whole table.
   */
  matches: (value: string) => string
  /**
   * RANGES in queries.ts has a range of an index for each combination of these filters. A list with other filters examines
   * the pets of the range, EXAMINED_MAX for a page: a page can then be short.
   */
  hasIndex: boolean
  /** At most one pet matches: no page is short. */
  isOfOnePet?: true
}

/** Gives the entry the type of its values. */
const filter = <Value extends FilterValue>(entry: PetFilter<Value>) => entry

export const FILTERS = {
  status: filter<PetStatus>({
    schema: { type: 'string', enum: PET_STATUSES },
    text: 'with this status',
    example: 'available',
    option: '--status <status>',
    sqlType: 'pet_status',
    matches: (value) => `pet.status = ${value}`,
    hasIndex: true,
  }),
  categoryId: filter<bigint>({
    schema: INT64_SCHEMA,
    text: 'in this category',
    example: '1',
    option: '--category <id>',
    sqlType: 'bigint',
    matches: (value) => `pet.category_id = ${value}`,
    hasIndex: true,
  }),
  /** At most one pet has it: petByReference in queries.ts finds it. */
  reference: filter<string>({
    schema: { type: 'string', format: 'single-line', minLength: 1, maxLength: 100 },
    text: 'with this reference',
    example: 'SKU-4711',
    option: '--reference <text>',
    sqlType: 'text',
    matches: (value) => `pet.id = (select pet_id from pet_profiles where reference = ${value})`,
    hasIndex: false,
    isOfOnePet: true,
  }),
}

export type FilterName = keyof typeof FILTERS
export type FilterValueOf<Name extends FilterName> =
  (typeof FILTERS)[Name] extends PetFilter<infer Value> ? Value : never
export type PetFilters = { [Name in FilterName]?: FilterValueOf<Name> | undefined }

/** The entries with their names, in the order of the parameters. */
export const FILTER_ENTRIES = Object.entries(FILTERS) as [FilterName, PetFilter][]

export const FILTER_NAMES = FILTER_ENTRIES.map(([name]) => name)
const INDEXED = FILTER_NAMES.filter((name) => FILTERS[name].hasIndex)

/** The filters that select a range of an index. */
export function indexedFilters(filters: PetFilters): PetFilters {
  return Object.fromEntries(INDEXED.map((name) => [name, filters[name]]))
}

/** Whether a filter is set that is none of these. Default: those with an index. */
export function hasOtherFilters(filters: PetFilters, known: readonly FilterName[] = INDEXED): boolean {
  return FILTER_NAMES.some((name) => filters[name] !== undefined && !known.includes(name))
}

/** The condition of all filters in SQL. Their values are the parameters after the first `count`. */
export function filterCondition(
  count: number,
  entries: readonly [string, PetFilter][] = FILTER_ENTRIES,
): string {
  return entries
    .map(([, { sqlType, matches }], index) => {
      const value = sqlValue(`$${count + index + 1}`, sqlType)
      return `(${value} is null or ${matches(value)})`
    })
    .join(' and ')
}

/** PostgreSQL reads other years than RFC 3339, so a time is a number of microseconds. */
function sqlValue(parameter: string, sqlType: string): string {
  if (sqlType !== 'timestamptz') return `${parameter}::${sqlType}`
  return `(timestamptz 'epoch' + ${parameter}::bigint * interval '1 microsecond')`
}

/** The parameters of `filterCondition`. A filter that is not set matches every pet. */
export function filterValues(
  filters: Record<string, FilterValue | undefined>,
  entries: readonly [string, PetFilter][] = FILTER_ENTRIES,
): unknown[] {
  return entries.map(([name, { sqlType, toSql }]) => {
    const value = filters[name]
    if (value === undefined) return null
    if (toSql !== undefined) return toSql(value as never)
    return sqlType === 'timestamptz' ? parseDateTime(String(value)) : value
  })
}
