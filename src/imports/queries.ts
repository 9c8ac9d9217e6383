// Every statement of import and export, each on one connection that may work for hours.
import { finished } from 'node:stream/promises'
import type { Client } from 'pg'
import { type CopyToStreamQuery, from as copyFrom, to as copyTo } from 'pg-copy-streams'

export interface ImportState {
  /** Where the next row begins. */
  bytes: number
  line: number
  /** Rows read so far, refused ones included. */
  rows: number
  refused: number
  refusedBytes: number
  finishedAt: Date | null
}

const STATE = `bytes::float8, line::float8, rows::float8, refused::float8, refused_bytes::float8 as "refusedBytes",
  finished_at as "finishedAt"`

/** The service's role gives up after seconds; a copy of a whole catalogue may not. */
export async function liftTimeouts(client: Client): Promise<void> {
  await client.query(
    `set statement_timeout = 0; set lock_timeout = 0; set idle_in_transaction_session_timeout = 0`,
  )
}

/** Held until the connection ends, however that happens. */
export async function tryLockImport(client: Client, source: string): Promise<boolean> {
  const { rows } = await client.query<{ locked: boolean }>(
    `select pg_try_advisory_lock(hashtextextended('petstore import ' || $1, 0)) as locked`,
    [source],
  )
  return rows[0]?.locked ?? false
}

export async function findOrInsertImport(
  client: Client,
  source: string,
  label: string,
): Promise<ImportState> {
  await client.query(`insert into imports (source, label) values ($1, $2) on conflict (source) do nothing`, [
    source,
    label,
  ])
  const { rows } = await client.query<ImportState>(`select ${STATE} from imports where source = $1`, [source])
  return rows[0] as ImportState
}

export async function restartImport(client: Client, source: string): Promise<ImportState> {
  const { rows } = await client.query<ImportState>(
    `update imports
      set started_at = now(), committed_at = now(), finished_at = null,
        bytes = 0, line = 1, rows = 0, refused = 0, refused_bytes = 0, times = times + 1
      where source = $1
      returning ${STATE}`,
    [source],
  )
  return rows[0] as ImportState
}

/**
 * False when somebody else has moved it since, whatever became of the lock: then the transaction must not commit.
 */
export async function advanceImport(
  client: Client,
  source: string,
  rowsBefore: number,
  state: ImportState,
): Promise<boolean> {
  const { rowCount } = await client.query(
    `update imports
      set bytes = $3, line = $4, rows = $5, refused = $6, refused_bytes = $7, committed_at = now()
      where source = $1 and rows = $2 and finished_at is null`,
    [source, rowsBefore, state.bytes, state.line, state.rows, state.refused, state.refusedBytes],
  )
  return rowCount === 1
}

export async function finishImport(client: Client, source: string): Promise<void> {
  await client.query(`update imports set finished_at = now() where source = $1`, [source])
}

/**
 * The lines are in PostgreSQL's text format: name, category id, status, request id. `onSent` is called when they are
 * on their way, and PostgreSQL works alone for a while.
 */
export async function copyPetsFrom(client: Client, lines: Buffer, onSent: () => void): Promise<void> {
  const copying = client.query(copyFrom('copy pets (name, category_id, status, request_id) from stdin'))
  copying.write(lines, onSent)
  copying.end()
  await finished(copying)
}

export type ExportFormat = 'csv' | 'ndjson'

/** Every animal as of one moment, as one stream of bytes; PostgreSQL waits where nobody reads. */
export function copyPetsTo(client: Client, format: ExportFormat): CopyToStreamQuery {
  const pets = 'select id, name, category_id as "categoryId", status from pets'
  const statement = {
    csv: `copy (${pets} order by id) to stdout with (format csv, header)`,
    // JSON holds no control characters: with two of them as quote and delimiter its lines leave as they are.
    ndjson: `copy (select row_to_json(pet) from (${pets}) as pet order by pet.id)
      to stdout with (format csv, quote e'\\x01', delimiter e'\\x02')`,
  }[format]
  return client.query(copyTo(statement))
}
