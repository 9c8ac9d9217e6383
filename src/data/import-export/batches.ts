// Validates rows and groups them into batches in the text format of PostgreSQL's COPY.
//
// Rows are written directly into two alternating buffers. With rows as objects, the process used more than 200 MB.
import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { PROFILE_FIELD_NAMES, type ProfileFields } from '../../contract/profile-fields.ts'
import { count, countOf } from '../../values/count-text.ts'
import { parseId } from '../../values/int64.ts'
import type { NewPetProfile } from '../../store/profiles/schema.ts'
import type { CsvPosition, CsvRecord } from './csv.ts'
import { profileReader } from './profile-columns.ts'
import {
  type Columns,
  ImportError,
  isRejected,
  type ListedRow,
  readRow,
  type RejectedRow,
  rejectCategory,
  rejectReference,
  type Row,
} from './schema.ts'
import type { OpenSource } from './source.ts'

/** Max rows of a batch. With 10,000 rows, the fixed cost is 5% of a batch, and an interruption loses 0.2 s of work. */
const BATCH_ROWS = 10_000
const BATCH_REJECTED_ROWS = 1_000
/** Size of each buffer for accepted rows. */
const BATCH_BYTES = 2_097_152
/** A batch is complete once its rejected rows and profiles have more characters than this. One row may be long. */
const BATCH_TEXT_CHARACTERS = 2_097_152
/** Max rows whose categories one query looks up. One query for all rows of a chunk took 60 MB of memory. */
const SLICE_ROWS = 256
/** Upper bound for the length of a line: the longest name, escaped, and the other fields. */
const LINE_BYTES_MAX = 8_192
const NAMED_CATEGORIES_CACHED_MAX = 100_000

/** Takes ids of categories; returns the categories among them that have a name. */
export type FindNamed = (ids: bigint[]) => Promise<{ id: bigint }[]>

export interface Batch {
  /** Rows read, including rejected rows. */
  read: number
  /** The accepted rows as lines for COPY. The batch after the next one overwrites this buffer. */
  lines: Buffer
  /** The profiles of accepted rows. */
  profiles: ProfileLine[]
  rejected: ListedRow[]
  /** The accepted rows with a reference, which another pet can have. */
  references: ReferencedRow[]
  /** The position after the last row of the batch. */
  end: CsvPosition
}

/** A profile as the end of a line for COPY, which starts with the id of its pet. */
export interface ProfileLine {
  /** The index of its row among the accepted rows of the batch. */
  row: number
  text: string
}

/** An accepted row, and how it is listed if it is rejected after all. */
export interface ReferencedRow {
  /** The index of the row among the accepted rows of the batch. */
  row: number
  reference: string
  listed: ListedRow
}

export interface BatchOptions {
  columns: Columns
  /** The currency of the prices. */
  currency: string
  requestId: string
  /** Number of rows to skip at the start, because an earlier run has read them. */
  skip: number
  /** Undefined if categories without a name are accepted too. */
  findNamed: FindNamed | undefined
}

export async function* readBatches(
  opened: OpenSource,
  { columns, currency, requestId, skip, findNamed }: BatchOptions,
): AsyncGenerator<Batch> {
  const validate = rowValidator(columns, currency)
  const findNamedInSlice = findNamed && openCategoryCheck(findNamed, columns)
  const buffers = [Buffer.alloc(BATCH_BYTES), Buffer.alloc(BATCH_BYTES)] as const
  const end = `\t${requestId}\n`
  let toSkip = skip
  let filling = 0
  let length = 0
  let textLength = 0
  let batch: Omit<Batch, 'lines'> | undefined
  const take = (taken: Omit<Batch, 'lines'>): Batch => {
    const lines = (buffers[filling % 2] as Buffer).subarray(0, length)
    filling += 1
    length = 0
    textLength = 0
    batch = undefined
    return { ...taken, lines }
  }

  for await (const records of opened.records) {
    for (const slice of slicesOf(records)) {
      const named = findNamedInSlice && (await findNamedInSlice(slice))
      for (const record of slice) {
        if (toSkip > 0) {
          toSkip -= 1
          continue
        }
        batch ??= { read: 0, rejected: [], profiles: [], references: [], end: record.next }
        const row = validate(record, named)
        if (isRejected(row)) {
          const text = record.text()
          batch.rejected.push({ ...row, text })
          textLength += text.length + lengthOf(row)
        } else {
          length += (buffers[filling % 2] as Buffer).write(toCopyText(row) + end, length)
          const text = toProfileText(row.profile, currency)
          const index = batch.read - batch.rejected.length
          if (text !== '') batch.profiles.push({ row: index, text })
          const referenced = withReference(row, index, record)
          if (referenced !== undefined) batch.references.push(referenced)
          textLength += text.length + (referenced?.listed.text.length ?? 0)
        }
        batch.read += 1
        batch.end = record.next
        const isFull =
          batch.read === BATCH_ROWS ||
          batch.rejected.length === BATCH_REJECTED_ROWS ||
          textLength > BATCH_TEXT_CHARACTERS ||
          length > BATCH_BYTES - LINE_BYTES_MAX
        if (isFull) yield take(batch)
      }
    }
    // Lets the copy in flight continue. Otherwise it would stall until a whole batch is parsed.
    await yieldToEventLoop()
  }
  if (toSkip > 0) throw tooShort(skip - toSkip, skip)
  if (batch !== undefined) yield take(batch)
}

function withReference(row: Row, index: number, record: CsvRecord): ReferencedRow | undefined {
  const reference = row.profile?.reference
  if (reference === undefined) return undefined
  return { row: index, reference, listed: { ...rejectReference(row), text: record.text() } }
}

function tooShort(rows: number, skip: number): ImportError {
  return new ImportError(
    `The input has ${countOf(rows, 'row')}, but an earlier run with this --id read ${count(skip)}. ` +
      'Send the same input again, or choose another --id for a different input.',
  )
}

function* slicesOf(records: Iterable<CsvRecord>): Generator<CsvRecord[]> {
  let slice: CsvRecord[] = []
  for (const record of records) {
    if (slice.push(record) < SLICE_ROWS) continue
    yield slice
    slice = []
  }
  yield slice
}

function rowValidator(columns: Columns, currency: string) {
  const readProfile =
    columns.profile.length === 0 ? undefined : profileReader(columns.profile, currency, new Date())
  return (record: CsvRecord, named: Set<bigint> | undefined): Row | RejectedRow => {
    const row = readRow(record, columns, readProfile)
    if (named === undefined || isRejected(row) || named.has(BigInt(row.categoryId))) return row
    return rejectCategory(row)
  }
}

/**
 * Returns a function that looks up the categories of a slice with one query. It caches the categories that have a name.
 */
function openCategoryCheck(findNamed: FindNamed, { categoryId }: Columns) {
  const named = new Set<bigint>()
  return async (slice: readonly CsvRecord[]): Promise<Set<bigint>> => {
    if (named.size > NAMED_CATEGORIES_CACHED_MAX) named.clear()
    const unknown = new Set<bigint>()
    for (const { fields } of slice) {
      const id = parseId(fields[categoryId] ?? '')
      if (id !== undefined && !named.has(id)) unknown.add(id)
    }
    if (unknown.size > 0) for (const { id } of await findNamed([...unknown])) named.add(id)
    return named
  }
}

const ESCAPES: Record<string, string> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' }

function toCopyText({ name, categoryId, status }: Row): string {
  return `${escape(name)}\t${categoryId}\t${status}`
}

/** The values of WRITTEN_COLUMNS; empty without a profile. */
function toProfileText(profile: NewPetProfile | undefined, currency: string): string {
  if (profile === undefined) return ''
  const fields: ProfileFields = { ...profile, currency: profile.price && currency }
  return PROFILE_FIELD_NAMES.map((field) => fields[field])
    .map((value) => (value === undefined ? '\\N' : escape(value)))
    .join('\t')
}

function lengthOf({ name, categoryId, status, profileTexts }: RejectedRow): number {
  return [name, categoryId, status, ...profileTexts].join('').length
}

function escape(text: string): string {
  return text.replace(/[\\\t\n\r]/g, (character) => ESCAPES[character] ?? '')
}
