// The check `connections`: how many processes of the service fit into the connection limits of PostgreSQL.
import type { Config } from '../../config/config.ts'
import { splitDatabaseUrl } from '../../config/database-url.ts'
import type { Reader } from '../../db/database.ts'
import { readConnectionLimits } from '../../db/inspect/connection-limits.ts'
import { DELIVERY_ROLE } from '../../db/inspect/privileges.ts'
import { countOf } from '../../values/count-text.ts'
import type { Finding } from './finding.ts'

export async function checkConnections(
  db: Reader,
  { DATABASE_URL, DATABASE_POOL_SIZE: poolSize }: Config,
  isPooled: boolean,
): Promise<Finding> {
  const check = 'connections'
  // With several hosts, the service has one more connection to each, which watches for failovers.
  const ofProcess = poolSize + (splitDatabaseUrl(DATABASE_URL).length > 1 ? 1 : 0)
  const { role, database, server, ofRole, ofDatabase } = await readConnectionLimits(db)
  const limits = [
    { limit: server, name: 'PostgreSQL', raise: 'raise max_connections' },
    {
      limit: ofRole,
      name: `the role ${role}`,
      raise: `run: alter role ${role} connection limit …`,
    },
    {
      limit: ofDatabase,
      name: `the database ${database}`,
      raise: `run: alter database ${database} connection limit …`,
    },
  ].filter(({ limit }) => limit >= 0)
  const lowest = limits.reduce((one, other) => (other.limit < one.limit ? other : one))
  const accepts = `${lowest.name} accepts ${countOf(lowest.limit, 'connection')}`
  if (isPooled) {
    return {
      check,
      state: 'ok',
      message: `${accepts}: the pools of the pooler must not be larger in total (default_pool_size of PgBouncer)`,
    }
  }
  const processes = Math.floor(lowest.limit / ofProcess)
  if (processes === 0) {
    const result = role === DELIVERY_ROLE ? 'webhooks are delivered late' : 'requests fail with 503'
    return {
      check,
      state: 'warning',
      message: `${accepts}, fewer than DATABASE_POOL_SIZE = ${poolSize}: under load, ${result}`,
      remedy: `Lower DATABASE_POOL_SIZE, or ${lowest.raise}`,
    }
  }
  return {
    check,
    state: 'ok',
    message: `${accepts}, enough for ${processes === 1 ? 'one process' : `${processes} processes`} with DATABASE_POOL_SIZE = ${poolSize}`,
  }
}
