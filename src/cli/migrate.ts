// `petstore migrate`: brings the schema up to date.
import type { Command } from 'commander'
import { readConfig } from '../config.ts'
import { LOCK_WAIT_SECONDS, migrate } from '../db/migrate.ts'
import { parseWhole } from './remote.ts'
import { say } from './terminal.ts'

const LOCK_WAIT_MAX_SECONDS = 86_400

/** For `onWait` of a migration. */
export const sayWaiting = (blockers: string) => say(`Waiting for a lock held by ${blockers}.`)

export function addMigrate(program: Command): void {
  program
    .command('migrate')
    .description('bring the schema of the database up to date')
    .option(
      '--lock-wait <seconds>',
      'how long to wait for sessions that use the tables, such as an export',
      parseWhole(0, LOCK_WAIT_MAX_SECONDS),
      LOCK_WAIT_SECONDS,
    )
    .addHelpText(
      'after',
      '\nUses MIGRATION_DATABASE_URL, or DATABASE_URL. Many at once are safe: one works, the others wait.\nRequests go on meanwhile: a lock that is not free within half a second is tried again later.\n\nExample:\n  DATABASE_URL=postgres://… petstore migrate',
    )
    .action(async ({ lockWait }: { lockWait: number }) => {
      const config = readConfig()
      const databaseUrl = config.MIGRATION_DATABASE_URL ?? config.DATABASE_URL
      const ran = await migrate(databaseUrl, { lockWaitSeconds: lockWait, onWait: sayWaiting })
      for (const name of ran) say(`ran ${name}`)
      say(ran.length === 0 ? 'The schema is up to date.' : 'The schema is up to date now.')
    })
}
