// How long each migration took, from the server log. With the settings below, PostgreSQL logs every statement of
// petstore_migrator with the time at which it ended.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Settings of the server. */
export const LOG_SETTINGS = {
  logging_collector: 'on',
  log_destination: 'jsonlog',
  log_directory: 'log',
  log_filename: 'server.log',
  log_timezone: 'UTC',
}
/** Run as the superuser, after the role was created. */
export const LOG_MIGRATIONS = 'alter role petstore_migrator set log_min_duration_statement = 0'

export interface LoggedMigration {
  name: string
  /** Start of the first attempt; like the other times, a Unix time in ms. */
  firstAttemptAt: number
  /** The attempt that succeeded. In a transaction, it took and released all its locks between these times. */
  startedAt: number
  endedAt: number
  isTransaction: boolean
  /** Attempts that did not get a lock. */
  failedAttempts: number
}

interface Line {
  timestamp: string
  application_name?: string
  message?: string
}

/** The migrations that `petstore migrate` has run. */
export function readMigrationLog(dataFolder: string): LoggedMigration[] {
  const migrations: LoggedMigration[] = []
  let attempt = { startedAt: 0, isTransaction: false }
  let firstAttemptAt = 0
  let failedAttempts = 0
  let name: string | undefined
  for (const { at, statement } of readStatements(dataFolder)) {
    if (failedAttempts === 0 && statement.startsWith('set lock_timeout')) firstAttemptAt = at
    if (statement.startsWith('set lock_timeout')) attempt = { startedAt: at, isTransaction: false }
    else if (statement === 'begin;') attempt = { startedAt: at, isTransaction: true }
    else if (statement === 'rollback') failedAttempts += 1
    name = INSERTED_NAME.exec(statement)?.[1] ?? name
    if (name === undefined || (attempt.isTransaction && statement !== 'commit;')) continue
    migrations.push({ name, firstAttemptAt, ...attempt, endedAt: at, failedAttempts })
    name = undefined
    failedAttempts = 0
  }
  return migrations
}

const INSERTED_NAME = /^insert into "public"."petstore_migrations" \(name, run_on\) values \('(\w+)'/

/** The statements of `petstore migrate`, each with the time at which it ended. */
function readStatements(dataFolder: string): { at: number; statement: string }[] {
  const lines = readFileSync(join(dataFolder, 'log/server.json'), 'utf8').trim().split('\n')
  return lines
    .map((line) => JSON.parse(line) as Line)
    .filter((line) => line.application_name === 'petstore-migrate')
    .map(({ timestamp, message = '' }) => ({
      at: Date.parse(timestamp.replace(' UTC', 'Z').replace(' ', 'T')),
      statement: /^duration: \S+ ms {2}statement: (.*)/s.exec(message)?.[1]?.toLowerCase() ?? '',
    }))
}
