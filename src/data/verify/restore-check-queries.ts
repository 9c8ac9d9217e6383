// SQL statements on the results of restore checks. The table has about 1,000 rows, so the statements need no index except
// the primary key.
import type { Reader, Writer } from '../../db/database.ts'
import { PROVEN_SECONDS_AGO_MAX } from './restore-check-rules.ts'

export interface NewRestoreCheck {
  /** The number of the repository of pgBackRest. */
  repository: number
  backup: string | undefined
  recoveredTo: Date | null
  isProven: boolean
  durationMs: number
  message: string
}

export interface RestoreCheck {
  checkedAt: Date
  repository: number
  backup: string | null
  recoveredTo: Date | null
  isProven: boolean
  durationMs: bigint
  message: string
}

export interface RestoreState {
  /** When a backup was last proven; null if none was. */
  provenAt: Date | null
  /** The time since then, by the clock of the database. */
  provenSecondsAgo: number | null
  /** True if the newest check of every repository succeeded; null if there was no check. */
  isNewestProven: boolean | null
  /** The messages of the newest checks that failed. */
  newestMessage: string | null
}

/** The role petstore_verify can insert, but not update or delete: it cannot remove the record of a failure. */
export async function insertRestoreCheck(db: Writer, check: NewRestoreCheck): Promise<void> {
  await db.write({
    name: 'insert_restore_check',
    bounded: 'by the given rows',
    text: `insert into restore_checks (repository, backup, recovered_to, is_proven, duration_ms, message)
      values ($1, $2, $3, $4, $5, $6)`,
    values: [
      check.repository,
      check.backup,
      check.recoveredTo,
      check.isProven,
      check.durationMs,
      check.message,
    ],
  })
}

/** Newest first. */
export async function listRestoreChecks(db: Reader, max: number): Promise<RestoreCheck[]> {
  return db.read<RestoreCheck>({
    name: 'list_restore_checks',
    bounded: 'by a small table',
    text: `select checked_at as "checkedAt", repository, backup, recovered_to as "recoveredTo", is_proven as "isProven",
        duration_ms as "durationMs", message
      from restore_checks
      order by id desc
      limit $1`,
    values: [max],
  })
}

export async function readRestoreState(db: Reader): Promise<RestoreState> {
  const [state] = await db.read<RestoreState>({
    name: 'read_restore_state',
    bounded: 'by a small table',
    // A repository that has not been checked for long is no longer in use.
    text: `with newest as (
        select distinct on (repository) repository, is_proven, message
        from restore_checks
        where checked_at >= (select max(checked_at) from restore_checks) - $1 * interval '1 second'
        order by repository, id desc
      )
      select proven.checked_at as "provenAt",
        extract(epoch from now() - proven.checked_at)::float8 as "provenSecondsAgo",
        newest.is_proven as "isNewestProven", newest.message as "newestMessage"
      from (
        select bool_and(is_proven) as is_proven,
          string_agg(message, '; ' order by repository) filter (where not is_proven) as message
        from newest
      ) as newest
      left join (select * from restore_checks where is_proven order by id desc limit 1) as proven on true`,
    values: [PROVEN_SECONDS_AGO_MAX],
  })
  return state ?? { provenAt: null, provenSecondsAgo: null, isNewestProven: null, newestMessage: null }
}

/** False if the table does not exist yet, or if the role cannot read it. */
export async function canReadRestoreChecks(db: Reader): Promise<boolean> {
  const [table] = await db.read<{ isReadable: boolean | null }>({
    name: 'can_read_restore_checks',
    bounded: 'by unique keys',
    text: `select has_table_privilege(to_regclass('restore_checks'), 'select') as "isReadable"`,
    values: [],
  })
  return table?.isReadable === true
}

/** Deletes all rows except the newest ones. */
export async function deleteOldRestoreChecks(db: Writer, kept: number): Promise<void> {
  await db.write({
    name: 'delete_old_restore_checks',
    bounded: 'by a small table',
    text: `delete from restore_checks
      where id <= (select id from restore_checks order by id desc offset $1 limit 1)`,
    values: [kept],
    isIdempotent: true,
  })
}
