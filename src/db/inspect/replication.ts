// Reads whether a commit of this session waits for a standby. Only reports; cli/doctor/replication.ts judges.
import type { Reader } from '../database.ts'

export interface ReplicationState {
  role: string
  database: string
  synchronousCommit: string
  /** Where `synchronous_commit` is set: a value of `pg_settings.source`, such as `user` for `alter role … set`. */
  setBy: string
  synchronousStandbyNames: string
  /** Connected standbys. Backups and logical replication are not counted. */
  connected: number
  /** Undefined if the role cannot see it. */
  synchronous: number | undefined
}

/** Requires a primary. Roles without pg_read_all_stats see how many standbys are connected, but not their state. */
export async function readReplication(db: Reader): Promise<ReplicationState> {
  const [row] = await db.read<ReplicationState & { seesStates: boolean }>({
    name: 'read_replication',
    bounded: 'without a table',
    text: `select current_user as role, current_database() as database,
        setting as "synchronousCommit", source as "setBy",
        current_setting('synchronous_standby_names') as "synchronousStandbyNames",
        pg_has_role('pg_read_all_stats', 'usage') as "seesStates",
        connected, synchronous
      from pg_settings
      cross join (
        select count(*)::int as connected,
          (count(*) filter (where sync_state in ('sync', 'quorum')))::int as synchronous
        from pg_stat_replication
        where application_name not in ('pg_basebackup', 'pg_receivewal')
          and not exists (
            select from pg_replication_slots where active_pid = pid and slot_type = 'logical'
          )
      ) standbys
      where name = 'synchronous_commit'`,
    values: [],
  })
  if (row === undefined) throw new Error('PostgreSQL returned no replication settings')
  const { seesStates, synchronous, ...state } = row
  return { ...state, synchronous: seesStates ? synchronous : undefined }
}

/** How many standbys must confirm a commit, by `synchronous_standby_names`, such as `ANY 1 (n2,n3)` or `n2`. */
export function requiredStandbys(names: string): number {
  if (names.trim() === '') return 0
  return Number(/^\s*(?:(?:first|any)\s+)?(\d+)\s*\(/i.exec(names)?.[1] ?? 1)
}
