// `petstore migrate`: brings the schema up to date.
import type { Command } from 'commander'
import { readConfig } from '../config.ts'
import { migrate } from '../db/migrate.ts'
import { say } from './terminal.ts'

export function addMigrate(program: Command): void {
  program
    .command('migrate')
    .description('bring the schema of the database up to date')
    .addHelpText(
      'after',
      '\nUses MIGRATION_DATABASE_URL, or DATABASE_URL. Many at once are safe: one works, the others wait.\n\nExample:\n  DATABASE_URL=postgres://… petstore migrate',
    )
    .action(async () => {
      const config = readConfig()
      const ran = await migrate(config.MIGRATION_DATABASE_URL ?? config.DATABASE_URL)
      for (const name of ran) say(`ran ${name}`)
      say(ran.length === 0 ? 'The schema is up to date.' : 'The schema is up to date now.')
    })
}
