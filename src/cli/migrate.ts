// `petstore migrate`: updates the database schema.
import { type Command, InvalidArgumentError } from 'commander'
import { readConfig } from '../config/config.ts'
import { LOCK_WAIT_SECONDS, migrate } from '../db/migrations/migrate.ts'
import { say } from './terminal/terminal.ts'

const LOCK_WAIT_MAX_SECONDS = 86_400

export const reportLockWait = (blockers: string) => say(`Waiting for a lock held by ${blockers}.`)

export function addMigrate(program: Command): void {
  program
    .command('migrate')
    .description('update the database schema, and grant the database roles their privileges')
    .option(
      '--lock-wait <seconds>',
      'how long to retry if another session, such as an export, locks a table that a migration changes',
      parseLockWait,
      LOCK_WAIT_SECONDS,
    )
    .addHelpText(
      'after',
      '\nThe command connects with MIGRATION_DATABASE_URL or, if that is not set, with DATABASE_URL. The connection must\nbe direct: through PgBouncer, the command fails.\n\nConcurrent runs are safe: one migrates, the others wait. The service can keep running: a migration waits at most\nhalf a second for a lock, so requests are delayed only briefly. If the migration does not get\nthe lock, it retries two seconds later.\n\nThe command also grants the roles of deploy/roles.sql, as far as they exist, exactly the privileges that they need.\n\nExample:\n  DATABASE_URL=postgres://… petstore migrate',
    )
    .action(async ({ lockWait }: { lockWait: number }) => {
      const config = readConfig()
      const databaseUrl = config.MIGRATION_DATABASE_URL ?? config.DATABASE_URL
      const applied = await migrate(databaseUrl, {
        initialSettings: config,
        lockWaitSeconds: lockWait,
        onWait: reportLockWait,
        onWarning: say,
      })
      for (const name of applied) say(`Applied ${name}`)
      say('The schema is up to date.')
    })
}

function parseLockWait(text: string): number {
  const seconds = Number(text)
  if (/^[0-9]{1,9}$/.test(text) && seconds <= LOCK_WAIT_MAX_SECONDS) return seconds
  throw new InvalidArgumentError(`Use a whole number of seconds from 0 to ${LOCK_WAIT_MAX_SECONDS}.`)
}
