// `petstore serve`: runs the HTTP service.
import type { Command } from 'commander'
import { readConfig } from '../config/config.ts'
import { migrate } from '../db/migrations/migrate.ts'
import { reportLockWait } from './migrate.ts'
import { say } from './terminal/terminal.ts'

/** The service could not start. The process must exit explicitly, because open ports and timers keep it alive. */
export class StartFailure extends Error {
  constructor(cause: unknown) {
    super('The service could not start.', { cause })
  }
}

export function addServe(program: Command): void {
  program
    .command('serve')
    .description('serve HTTP requests until SIGTERM or SIGINT')
    .option('--migrate', 'update the database schema first; safe even if several instances start at once')
    .addHelpText('after', '\nExample:\n  DATABASE_URL=postgres://… petstore serve --migrate')
    .action(async (options: { migrate?: boolean }) => {
      const config = readConfig()
      try {
        if (options.migrate) {
          await migrate(config.MIGRATION_DATABASE_URL ?? config.DATABASE_URL, {
            initialSettings: config,
            onWait: reportLockWait,
            onWarning: say,
          })
        }
        // Imported on demand: without the web framework, other commands start in half the time.
        const { runService } = await import('../server/process.ts')
        await runService(config)
      } catch (error) {
        throw new StartFailure(error)
      }
    })
}
