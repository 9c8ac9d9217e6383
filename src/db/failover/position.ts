// The position in the WAL that a standby must have replayed before it can serve a request.
import type { Db, Reader } from '../database.ts'
import { BARRIER } from './incarnation.ts'

/** Size of a page of the WAL. PostgreSQL can be built with another one, but no distribution does. */
const WAL_PAGE_BYTES = 8_192n

export interface Position {
  /** The incarnation of the primary. Positions of different terms cannot be compared. */
  term: string
  /** Everything that is committed and acknowledged is at or before this position, such as `0/1A2B3C4`. */
  lsn: string
  /** `synchronous_standby_names` of the primary. */
  standbyNames: string
}

/** Returns the current position of the primary. A write that was acknowledged before the call is at or before it. */
export async function readPosition(db: Reader): Promise<Position> {
  const [position] = await db.read<Position>({
    name: 'read_position',
    // Without a term, no standby has the same one.
    text: `select coalesce((select term from primary_term), '') as term, pg_current_wal_flush_lsn()::text as lsn,
        current_setting('synchronous_standby_names') as "standbyNames"`,
    values: [],
  })
  return position as Position
}

/** Whether the position may lie inside a record: without a commit, PostgreSQL flushes whole pages of the WAL. */
export function isPageEnd(lsn: string): boolean {
  const [, low = ''] = lsn.split('/')
  return BigInt(`0x${low}`) % WAL_PAGE_BYTES === 0n
}

/** Completes the record at the end of the WAL, so that the standbys can replay it. Does not wait for them. */
export async function completeRecord(db: Db): Promise<void> {
  await db.write({
    name: 'complete_record',
    text: `select set_config('synchronous_commit', 'local', true), ${BARRIER}`,
    values: [],
    isIdempotent: true,
  })
}

/**
 * Whether each of this many standbys is part of the quorum, so that a failover keeps what any of them has shown: `ANY 1
 * (n2,n3)`, or as many required as named. Patroni leaves a standby out while it is not connected.
 */
export function isWholeQuorum(standbyNames: string, standbys: number): boolean {
  const [, method = 'first', required = '1', list = standbyNames] =
    /^\s*(?:(any|first)\s+)?(\d+)\s*\((.*)\)\s*$/is.exec(standbyNames) ?? []
  // PostgreSQL compares the names without case, and quotes change nothing: `"*"` also means every standby.
  const names = list.split(',').map((name) => name.replaceAll('"', '').trim().toLowerCase())
  if (names.includes('') || names.includes('*') || new Set(names).size !== standbys) return false
  return method.toLowerCase() === 'any' || Number(required) === names.length
}
