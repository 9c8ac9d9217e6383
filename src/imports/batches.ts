// Rows into batches, ready to be copied: judged, and written as PostgreSQL's COPY reads them.
// Rows go straight into bytes and two buffers take turns: kept as objects, they drove the process over 200 MB.
import { setImmediate as turn } from 'node:timers/promises'
import { count, countOf } from '../counts.ts'
import { parseId } from '../int64.ts'
import type { CsvPosition, CsvRecord } from './csv.ts'
import {
  type Columns,
  ImportError,
  isRejected,
  type ListedRow,
  readRow,
  type RejectedRow,
  rejectCategory,
  type Row,
} from './schema.ts'
import type { OpenSource } from './source.ts'

/** Measured: at 10,000 rows a batch's own cost is a twentieth of it, and a stop loses a fifth of a second's work. */
const BATCH_ROWS = 10_000
const BATCH_REJECTED_ROWS = 1_000
const BATCH_BYTES = 2_097_152
/** Of the text of rejected rows, which may be long. */
const BATCH_REJECTED_CHARACTERS = 2_097_152
/** Rows whose categories are asked for at once. All rows of a chunk lived long enough to cost 60 MB. */
const SLICE_ROWS = 256
/** More than the longest name, escaped, with what follows it. */
const LINE_BYTES_MAX = 8_192
const NAMED_CATEGORIES_KEPT_MAX = 100_000

/** Which of these categories have a name. */
export type FindNamed = (ids: bigint[]) => Promise<{ id: bigint }[]>

export interface Batch {
  /** Rows read, refused ones included. */
  read: number
  /** The rows that were taken; overwritten by the batch after the next. */
  lines: Buffer
  rejected: ListedRow[]
  end: CsvPosition
}

export interface BatchOptions {
  columns: Columns
  requestId: string
  /** Rows at the beginning that an earlier run has read. */
  pass: number
  /** Undefined where any category will do. */
  findNamed: FindNamed | undefined
}

export async function* readBatches(
  opened: OpenSource,
  { columns, requestId, pass, findNamed }: BatchOptions,
): AsyncGenerator<Batch> {
  const knowCategories = findNamed && openCategoryCheck(findNamed, columns)
  const buffers = [Buffer.alloc(BATCH_BYTES), Buffer.alloc(BATCH_BYTES)] as const
  const end = `\t${requestId}\n`
  let toPass = pass
  let filling = 0
  let length = 0
  let rejectedLength = 0
  let batch: Omit<Batch, 'lines'> | undefined
  const take = (taken: Omit<Batch, 'lines'>): Batch => {
    const lines = (buffers[filling % 2] as Buffer).subarray(0, length)
    filling += 1
    length = 0
    rejectedLength = 0
    batch = undefined
    return { ...taken, lines }
  }

  for await (const records of opened.records) {
    for (const slice of slicesOf(records)) {
      const named = knowCategories && (await knowCategories(slice))
      for (const record of slice) {
        if (toPass > 0) {
          toPass -= 1
          continue
        }
        batch ??= { read: 0, rejected: [], end: record.next }
        const row = judge(record, columns, named)
        if (isRejected(row)) {
          const text = record.text()
          batch.rejected.push({ ...row, text })
          rejectedLength += text.length + row.name.length + row.categoryId.length + row.status.length
        } else length += (buffers[filling % 2] as Buffer).write(toCopyText(row) + end, length)
        batch.read += 1
        batch.end = record.next
        const isFull =
          batch.read === BATCH_ROWS ||
          batch.rejected.length === BATCH_REJECTED_ROWS ||
          rejectedLength > BATCH_REJECTED_CHARACTERS ||
          length > BATCH_BYTES - LINE_BYTES_MAX
        if (isFull) yield take(batch)
      }
    }
    // The copy under way gets a word in: without this it stood still for as long as a whole batch was parsed.
    await turn()
  }
  if (toPass > 0) {
    throw new ImportError(
      `The input has ${countOf(pass - toPass, 'row')}, but ${count(pass)} were read under this id before. ` +
        'Is it the same input? For another one, choose another --id.',
    )
  }
  if (batch !== undefined) yield take(batch)
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

function judge(record: CsvRecord, columns: Columns, named: Set<bigint> | undefined): Row | RejectedRow {
  const row = readRow(record, columns)
  if (named === undefined || isRejected(row) || named.has(BigInt(row.categoryId))) return row
  return rejectCategory(row)
}

/** Asks once for all the categories of a slice, and not again for those that are known to have a name. */
function openCategoryCheck(findNamed: FindNamed, { categoryId }: Columns) {
  const named = new Set<bigint>()
  return async (slice: readonly CsvRecord[]): Promise<Set<bigint>> => {
    if (named.size > NAMED_CATEGORIES_KEPT_MAX) named.clear()
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
  const escaped = name.replace(/[\\\t\n\r]/g, (character) => ESCAPES[character] ?? '')
  return `${escaped}\t${categoryId}\t${status}`
}
