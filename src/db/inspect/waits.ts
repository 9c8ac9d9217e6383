// What the statements of the service wait for: locks of other sessions, and standbys that must confirm a commit.
// Every role can read the locks of all sessions, but only the waits of its own ones.
import type { Reader } from '../database.ts'
import type { SessionName } from './blockers.ts'

export interface LockHolder extends SessionName {
  /** When its transaction began; null if it has none, or if another role runs it. */
  startedAt: string | null
  /** Tables that the session locks so that the service cannot write to them. Empty if it locks rows. */
  tables: string[]
}

export interface Waits {
  /** Sessions that block the service and are not blocked themselves. */
  holders: LockHolder[]
  /** Sessions of the service whose commit waits for a standby, each with the start of its statement. */
  commits: string[]
}

export async function readWaits(db: Reader): Promise<Waits> {
  const [waits] = await db.read<Waits>({
    name: 'read_waits',
    bounded: 'without a table',
    // A prepared transaction has no process id; pg_blocking_pids() calls it 0.
    text: `with recursive own as (
        select pid, query_start, wait_event_type, wait_event
        from pg_stat_activity
        where datname = current_database() and usename = current_user
      ), blockers (pid) as (
        select unnest(pg_blocking_pids(pid)) from own where wait_event_type = 'Lock'
        union
        select unnest(pg_blocking_pids(pid)) from blockers
      ), locks (pid, relation) as (
        select pid, null from blockers where cardinality(pg_blocking_pids(pid)) = 0
        union all
        select coalesce(locks.pid, 0), relname
        from pg_locks locks
        join pg_class on pg_class.oid = locks.relation
        where locks.granted
          and locks.locktype = 'relation'
          and locks.database = (select oid from pg_database where datname = current_database())
          and locks.mode in ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')
          and pg_class.relnamespace = current_schema()::regnamespace
          and pg_class.relkind in ('r', 'p')
      ), holders as (
        select locks.pid, nullif(application_name, '') as application, usename as role,
          xact_start as "startedAt",
          coalesce(jsonb_agg(distinct relation) filter (where relation is not null), '[]') as tables
        from locks
        left join pg_stat_activity using (pid)
        group by 1, 2, 3, 4
      )
      select
        coalesce((select jsonb_agg(to_jsonb(holders) order by pid) from holders), '[]') as holders,
        coalesce(
          (select jsonb_agg(pid || ' ' || query_start) from own where wait_event = 'SyncRep'), '[]'
        ) as commits`,
    values: [],
  })
  if (waits === undefined) throw new Error('PostgreSQL returned no waits')
  return waits
}
