// Identifies an incarnation of a PostgreSQL server, and finds out which of two is older.
// Runs no queries; server-trust.ts and hosts.ts do.

/**
 * SQL expression; null on a standby. An incarnation of a server ends when PostgreSQL restarts, recovers from a crash, or
 * is promoted. Each end changes one part: a restart changes the start time, a crash of a backend changes only
 * `stats_reset`, and a promotion changes the timeline.
 */
export const INCARNATION = `case when pg_is_in_recovery() then null else concat_ws(' ',
    (select system_identifier from pg_control_system()),
    substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8),
    extract(epoch from pg_postmaster_start_time()),
    (select extract(epoch from stats_reset) from pg_stat_bgwriter)
  ) end`

/** SQL expression that writes a commit record, which waits for the synchronous standbys, and leaves no dead row. */
export const BARRIER = `pg_logical_emit_message(true, 'petstore', '')`

/** The cluster of the server. Its identifier stays the same after a restart and after a failover. */
export function clusterOf(incarnation: string): string {
  const [system = ''] = incarnation.split(' ')
  return system
}

/** True if a failover has replaced the first server: both are of one cluster, and the other has a newer timeline. */
export function isOlder(incarnation: string, other: string): boolean {
  const [system = '', timeline = ''] = incarnation.split(' ')
  const [otherSystem, otherTimeline = ''] = other.split(' ')
  return system === otherSystem && timeline < otherTimeline
}
