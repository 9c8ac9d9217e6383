// The database as every long-running process uses it: its connections, and the check of its schema.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Config } from '../config/config.ts'
import { AppError } from '../contract/errors.ts'
import { NotTrusted } from '../db/connection/failures.ts'
import type { Db } from '../db/database.ts'
import { readSchemaState } from '../db/migrations/migrate.ts'
import { type DatabaseOptions, openDatabase } from '../db/open-database.ts'
import { instanceName } from '../telemetry/instance-name.ts'
import { limitedWarning } from '../telemetry/limited-warning.ts'
import type { Log } from '../telemetry/log.ts'

const SCHEMA_CHECKED_EVERY_MS = 1_000
const HOST_WARNED_EVERY_MS = 600_000

export function openServiceDatabase(
  config: Pick<Config, 'DATABASE_URL' | 'DATABASE_POOL_SIZE'>,
  log: Log,
  { observer, tracing }: Pick<DatabaseOptions, 'observer' | 'tracing'> = {},
): Db {
  return openDatabase({
    databaseUrl: config.DATABASE_URL,
    applicationName: instanceName(),
    size: config.DATABASE_POOL_SIZE,
    // Logs no stack: it is always the same, and a failover loses many connections at once.
    onError: ({ message, code }: Error & { code?: string }) =>
      log.warn({ code, reason: message }, 'a database connection was lost'),
    onPrimary: (host) => log.warn({ host }, 'another database host is now the primary'),
    onHostFailure: hostFailureWarning(log),
    ...(observer && { observer }),
    tracing,
  })
}

/** Warns about the first failure of a host, about each new reason, and every ten minutes while the host fails. */
function hostFailureWarning(log: Log): (host: string, error: Error & { code?: string }) => void {
  const message = 'a database host could not be asked whether it is the primary'
  const warnings = new Map<string, ReturnType<typeof limitedWarning>>()
  return (host, { message: reason, code }) => {
    const warn = warnings.get(host) ?? limitedWarning(log, 'failures', message, HOST_WARNED_EVERY_MS)
    warnings.set(host, warn)
    warn({ host, code, reason }, 1, reason)
  }
}

/**
 * Waits until the database has all migrations of this version. The database may also have newer migrations: during a
 * rolling upgrade, or after a return to this version. Rejects behind a pooler that does not keep sessions: no request can
 * succeed then. The database may be unreachable at the start, so only the first connection to it can show this.
 */
export async function waitForSchema(db: Db, log: Log): Promise<boolean> {
  for (let hasWarned = false; ; hasWarned = true) {
    try {
      const { missing, unknown } = await readSchemaState(db)
      if (unknown.length > 0) log.warn({ unknown }, 'the schema is newer than this version of Petstore')
      if (missing.length === 0) return true
      if (!hasWarned) log.warn({ missing }, 'the schema is out of date; run `petstore migrate`')
    } catch (err) {
      if (isPooled(err)) throw err.cause
      if (!hasWarned) log.warn({ err }, 'the schema could not be checked; retrying every second')
    }
    await sleep(SCHEMA_CHECKED_EVERY_MS, undefined, { ref: false })
  }
}

function isPooled(error: unknown): error is AppError & { cause: NotTrusted } {
  return error instanceof AppError && error.cause instanceof NotTrusted && error.cause.reason === 'pooled'
}
