// `petstore serve`: answers requests.
import type { Command } from 'commander'
import { readConfig } from '../config.ts'
import { migrate } from '../db/migrate.ts'
import { sayWaiting } from './migrate.ts'

/** The service could not start. Ports and timers that are already open would keep the process alive. */
export class StartFailure extends Error {
  constructor(cause: unknown) {
    super('The service could not start.', { cause })
  }
}

export function addServe(program: Command): void {
  program
    .command('serve')
    .description('answer requests until SIGTERM or SIGINT')
    .option('--migrate', 'bring the schema up to date first; safe for many instances at once')
    .addHelpText('after', '\nExample:\n  DATABASE_URL=postgres://… petstore serve --migrate')
    .action(async (options: { migrate?: boolean }) => {
      const config = readConfig()
      try {
        if (options.migrate) {
          await migrate(config.MIGRATION_DATABASE_URL ?? config.DATABASE_URL, { onWait: sayWaiting })
        }
        // Loaded here alone: the other commands start in half the time without the web framework.
        const { runService } = await import('../server/process.ts')
        await runService(config)
      } catch (error) {
        throw new StartFailure(error)
      }
    })
}
