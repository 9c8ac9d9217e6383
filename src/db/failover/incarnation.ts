// Identifies an incarnation of a PostgreSQL server, and finds out whether a failover has replaced it.
// Runs no queries; server-trust.ts and hosts.ts do.

/**
 * SQL expression; null on a standby. An incarnation of a server ends when PostgreSQL restarts, recovers from a crash, or
 * is promoted. It has four parts:
 * 1. the identifier of the cluster, which a restart and a promotion keep
 * 2. the timeline, which begins the name of a WAL file; a promotion changes it
 * 3. the start time; a restart changes it
 * 4. `stats_reset`; a crash of a backend changes only this part: PostgreSQL recovers and resets its statistics
 */
export const INCARNATION = `case when pg_is_in_recovery() then null else concat_ws(' ',
    (select system_identifier from pg_control_system()),
    substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8),
    extract(epoch from pg_postmaster_start_time()),
    (select extract(epoch from stats_reset) from pg_stat_bgwriter)
  ) end`

/** SQL expression that makes the commit wait for the synchronous standbys, although the transaction changes no row. */
export const BARRIER = `pg_logical_emit_message(true, 'petstore', '')`

/** The cluster of the server. Its identifier stays the same after a restart and after a failover. */
export function clusterOf(incarnation: string): string {
  const [cluster = ''] = incarnation.split(' ')
  return cluster
}

/**
 * True if a failover has replaced the first server: both are of one cluster, and the other has a newer timeline. A
 * restart is no failover. A timeline has eight hexadecimal digits, so the order of the strings is that of the numbers.
 */
export function isReplacedBy(incarnation: string, other: string): boolean {
  const [cluster = '', timeline = ''] = incarnation.split(' ')
  const [otherCluster, otherTimeline = ''] = other.split(' ')
  return cluster === otherCluster && timeline < otherTimeline
}
