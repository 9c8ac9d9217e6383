// Imports rows in batches. A batch and its position in the source commit together, so that a later run resumes there.
//
// The next batch is parsed while PostgreSQL copies the current one.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from 'pg'
import { liftTimeouts } from '../../db/connection/pool.ts'
import { findCategoriesByIds } from '../../store/categories/queries.ts'
import { countOf } from '../../values/count-text.ts'
import { type Batch, type FindNamed, readBatches, type ReferencedRow } from './batches.ts'
import {
  advanceImport,
  copyPetsFrom,
  copyPetsWithProfiles,
  findStoredReferences,
  findOrInsertImport,
  finishImport,
  type ImportState,
  restartImport,
  tryLockImport,
} from './queries.ts'
import { openRejectedList, type RejectedList } from './rejected.ts'
import { findColumns, ImportError, type RejectedRow } from './schema.ts'
import type { Source } from './source.ts'

/** How long to wait for the lock. A killed run holds it until PostgreSQL notices that the connection is lost. */
const LOCK_WAIT_MS = 2_000
const LOCK_TRIED_EVERY_MS = 100

export interface ImportOptions {
  /** Undefined if categories without a name are accepted too. */
  findNamed: FindNamed | undefined
  /** The currency of the prices. */
  currency: string
  rejectedPath: string
  /** Whether to import a finished source a second time. */
  again: boolean
  signal: AbortSignal
  onProgress: (progress: Progress) => void
}

export interface Progress {
  bytes: number
  rows: number
  rejected: number
}

export interface ImportResult {
  rows: number
  rejected: number
  /** Number of rows that earlier runs have read. */
  rowsBefore: number
  /** Whether the signal stopped the import. The rows counted here are committed. */
  interrupted: boolean
  /** Whether the list of rejected rows lacks rows of earlier runs. */
  listIncomplete: boolean
}

export async function importPets(
  client: Client,
  source: Source,
  options: ImportOptions,
): Promise<ImportResult> {
  await liftTimeouts(client)
  await lock(client, source)
  let state = await begin(client, source, options.again)
  const rowsBefore = state.rows
  const opened = await source.open(rowsBefore > 0 ? state : undefined)
  const columns = findColumns(opened.header, source.label)
  const list = await openRejectedList(options.rejectedPath, columns.profile, state.rejectedBytes)
  const result = () => ({
    rows: state.rows,
    rejected: state.rejected,
    rowsBefore,
    interrupted: options.signal.aborted,
    listIncomplete: list.isIncomplete,
  })

  let committing = Promise.resolve()
  const commit = async (batch: Batch, onSent: () => void) => {
    state = await commitBatch(client, source, batch, state, list, onSent)
    options.onProgress(state)
  }
  try {
    const batches = readBatches(opened, {
      columns,
      currency: options.currency,
      requestId: requestIdOf(source),
      skip: opened.startsOver ? rowsBefore : 0,
      findNamed: options.findNamed,
    })
    for await (const batch of batches) {
      await committing
      if (options.signal.aborted) return result()
      const { promise: sent, resolve: onSent } = Promise.withResolvers<void>()
      committing = commit(batch, onSent)
      // Sends this batch before the next one is parsed. Parsing first delayed the copy and cost 7% of the total time.
      // If the commit fails, the next `await committing` throws the error.
      await Promise.race([sent, committing.catch(() => {})])
    }
    await committing
    await opened.checkUnchanged()
    await finishImport(client, source.key)
    return { ...result(), interrupted: false }
  } catch (error) {
    await committing.catch(() => {})
    if (!options.signal.aborted || error instanceof ImportError) throw explainFailure(error, state)
    return result()
  } finally {
    await list.close()
  }
}

const requestIdOf = ({ shortKey }: Source) => `import:${shortKey}`

export interface CheckOptions {
  findNamed: FindNamed | undefined
  currency: string
  onProgress: (progress: Progress) => void
  onRejected: (row: RejectedRow) => void
}

/** Validates every row and writes nothing. */
export async function checkPets(
  source: Source,
  { findNamed, currency, onProgress, onRejected }: CheckOptions,
): Promise<{ rows: number; rejected: number }> {
  const opened = await source.open(undefined)
  const columns = findColumns(opened.header, source.label)
  let rows = 0
  let rejected = 0
  for await (const batch of readBatches(opened, { columns, currency, requestId: '', skip: 0, findNamed })) {
    for (const row of batch.rejected) onRejected(row)
    rows += batch.read
    rejected += batch.rejected.length
    onProgress({ bytes: batch.end.bytes, rows, rejected })
  }
  return { rows, rejected }
}

/** Needs a separate connection, because that of the import is busy while it copies a batch. */
export function namedCategories(client: Client): FindNamed {
  const read = async <Found>({ text, values }: { text: string; values: unknown[] }) =>
    (await client.query(text, values)).rows as Found[]
  return (ids) => findCategoriesByIds({ read }, ids)
}

/** The rows whose reference a stored pet has, or an earlier row of the batch. */
async function findTakenReferences(client: Client, rows: readonly ReferencedRow[]): Promise<ReferencedRow[]> {
  if (rows.length === 0) return []
  const taken = new Set(
    await findStoredReferences(
      client,
      rows.map(({ reference }) => reference),
    ),
  )
  return rows.filter(({ reference }) => {
    if (taken.has(reference)) return true
    taken.add(reference)
    return false
  })
}

async function lock(client: Client, source: Source): Promise<void> {
  const giveUpAt = performance.now() + LOCK_WAIT_MS
  while (!(await tryLockImport(client, source.key))) {
    if (performance.now() > giveUpAt) {
      throw new ImportError(
        `Another process is importing ${source.label}. Wait until it finishes. If it was just killed, retry.`,
      )
    }
    await sleep(LOCK_TRIED_EVERY_MS)
  }
}

async function begin(client: Client, source: Source, again: boolean): Promise<ImportState> {
  const state = await findOrInsertImport(client, source.key, source.label)
  if (state.finishedAt === null) return state
  if (again) return restartImport(client, source.key)
  const added = countOf(state.rows - state.rejected, 'row')
  throw new ImportError(
    `${source.label} was already imported: ${added} added, finished at ${state.finishedAt.toISOString()}. ` +
      'To add its pets a second time, use --again.',
  )
}

/** Adds the pets and saves the new position in one transaction. The rejected rows are on disk before the commit. */
async function commitBatch(
  client: Client,
  source: Source,
  batch: Batch,
  before: ImportState,
  list: RejectedList,
  onSent: () => void,
): Promise<ImportState> {
  await client.query('begin')
  const taken = await findTakenReferences(client, batch.references)
  if (batch.profiles.length > 0) {
    const skipped = new Set(taken.map(({ row }) => row))
    await copyPetsWithProfiles(client, { ...batch, skipped }, onSent)
  } else if (batch.lines.length > 0) await copyPetsFrom(client, batch.lines, onSent)
  const rejected = [...batch.rejected, ...taken.map(({ listed }) => listed)].toSorted(
    (one, other) => one.line - other.line,
  )
  const state: ImportState = {
    ...before,
    ...batch.end,
    rows: before.rows + batch.read,
    rejected: before.rejected + rejected.length,
    rejectedBytes: await list.append(rejected),
  }
  if (!(await advanceImport(client, source.key, before.rows, state))) {
    throw new ImportError(
      `Another process has continued the import of ${source.label}. This process stopped; no row was added twice.`,
    )
  }
  await client.query('commit')
  return state
}

function explainFailure(error: unknown, state: ImportState): unknown {
  if (error instanceof ImportError || !(error instanceof Error)) return error
  return new ImportError(
    `The import stopped: ${error.message}\nCommitted so far: ${countOf(state.rows, 'row')}. ` +
      'Run the same command again to resume from there.',
    { cause: error },
  )
}
