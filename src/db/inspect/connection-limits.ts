// The limits of PostgreSQL on the number of connections. The role of the service can read all of them.
import type { Reader } from '../database.ts'

export interface ConnectionLimits {
  role: string
  database: string
  /** `max_connections` without the connections that PostgreSQL reserves for other roles. */
  server: number
  /** -1 means no limit. */
  ofRole: number
  /** -1 means no limit. */
  ofDatabase: number
}

export async function readConnectionLimits(db: Reader): Promise<ConnectionLimits> {
  const [limits] = await db.read<ConnectionLimits>({
    name: 'read_connection_limits',
    bounded: 'without a table',
    // `reserved_connections` exists since PostgreSQL 16.
    text: `select current_user as role, current_database() as database,
        current_setting('max_connections')::int
          - current_setting('superuser_reserved_connections')::int
          - coalesce(current_setting('reserved_connections', true)::int, 0) as server,
        (select rolconnlimit from pg_roles where rolname = current_user) as "ofRole",
        (select datconnlimit from pg_database where datname = current_database()) as "ofDatabase"`,
    values: [],
  })
  if (limits === undefined) throw new Error('PostgreSQL returned no connection limits')
  return limits
}
