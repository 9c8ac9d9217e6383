// SQL statements of an import. They run on one connection, which may be open for hours.
import { finished } from 'node:stream/promises'
import type { Client } from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import { WRITTEN_COLUMNS } from '../../store/profiles/queries.ts'
import type { ProfileLine } from './batches.ts'

export interface ImportState {
  /** Byte offset at which the next row starts. */
  bytes: number
  /** Line on which the next row starts. */
  line: number
  /** Rows read so far, including rejected rows. */
  rows: number
  rejected: number
  /** Length of the list of rejected rows, in bytes. */
  rejectedBytes: number
  finishedAt: Date | null
}

const STATE = `bytes::float8, line::float8, rows::float8, rejected::float8, rejected_bytes::float8 as "rejectedBytes",
  finished_at as "finishedAt"`

/** Returns whether it got the lock, which is then held until the connection closes. */
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
        bytes = 0, line = 1, rows = 0, rejected = 0, rejected_bytes = 0, times = times + 1
      where source = $1
      returning ${STATE}`,
    [source],
  )
  return rows[0] as ImportState
}

/**
 * Saves the new state. Returns false if another process has advanced the import, for example because this process lost
 * its lock. The caller must not commit then.
 */
export async function advanceImport(
  client: Client,
  source: string,
  rowsBefore: number,
  state: ImportState,
): Promise<boolean> {
  const { rowCount } = await client.query(
    `update imports
      set bytes = $3, line = $4, rows = $5, rejected = $6, rejected_bytes = $7, committed_at = now()
      where source = $1 and rows = $2 and finished_at is null`,
    [source, rowsBefore, state.bytes, state.line, state.rows, state.rejected, state.rejectedBytes],
  )
  return rowCount === 1
}

export async function finishImport(client: Client, source: string): Promise<void> {
  await client.query(`update imports set finished_at = now() where source = $1`, [source])
}

export async function findStoredReferences(client: Client, references: string[]): Promise<string[]> {
  const { rows } = await client.query<{ reference: string }>(
    'select reference from pet_profiles where reference = any($1::text[])',
    [references],
  )
  return rows.map(({ reference }) => reference)
}

/**
 * Like copyPetsFrom, for a file with columns of profiles. The ids are drawn first, because COPY does not return them.
 */
export async function copyPetsWithProfiles(
  client: Client,
  {
    lines,
    profiles,
    skipped,
  }: { lines: Buffer; profiles: readonly ProfileLine[]; skipped: ReadonlySet<number> },
  onSent: () => void,
): Promise<void> {
  // Line breaks in values are escaped.
  const pets = lines.toString().split('\n').slice(0, -1)
  const { rows } = await client.query<{ id: string }>(
    `select nextval('pets_id_seq')::text as id from generate_series(1, $1)`,
    [pets.length],
  )
  const withIds = pets
    .map((line, index) => (skipped.has(index) ? '' : `${rows[index]?.id}\t${line}\n`))
    .join('')
  await copyLines(
    client,
    'copy pets (id, name, category_id, status, request_id) from stdin',
    Buffer.from(withIds),
    onSent,
  )
  const profileLines = profiles
    .map(({ row, text }) => (skipped.has(row) ? '' : `${rows[row]?.id}\t${text}\n`))
    .join('')
  await copyLines(
    client,
    `copy pet_profiles (pet_id, ${WRITTEN_COLUMNS}) from stdin`,
    Buffer.from(profileLines),
  )
}

/**
 * Copies lines in PostgreSQL's text format into pets. Their columns are name, category id, status and request id. Calls
 * `onSent` as soon as all lines are sent, while PostgreSQL may still be processing them.
 */
export async function copyPetsFrom(client: Client, lines: Buffer, onSent: () => void): Promise<void> {
  await copyLines(client, 'copy pets (name, category_id, status, request_id) from stdin', lines, onSent)
}

async function copyLines(
  client: Client,
  statement: string,
  lines: Buffer,
  onSent?: () => void,
): Promise<void> {
  const copying = client.query(copyFrom(statement))
  copying.write(lines, onSent)
  copying.end()
  await finished(copying)
}
