// `petstore deliver`: delivers webhooks.
import type { Command } from 'commander'
import { readConfig } from '../config/config.ts'
import { StartFailure } from './serve.ts'

export function addDeliver(program: Command): void {
  program
    .command('deliver')
    .description('deliver webhooks until SIGTERM or SIGINT')
    .addHelpText(
      'after',
      `
Sends the events of the feed to the URLs of the webhooks. Run it next to "petstore serve", on any host that can reach
PostgreSQL and the receivers. You can run several processes: each webhook is delivered by one of them at a time, and
another one takes over if that process stops. Uses the same settings as "petstore serve"; /live, /ready and /metrics
are on ADMIN_PORT. Use a database role of its own: petstore_deliver in deploy/roles.sql.

Example:
  DATABASE_URL=postgres://petstore_deliver:…@db.example/petstore ADMIN_PORT=9091 petstore deliver`,
    )
    .action(async () => {
      const config = readConfig()
      try {
        const { runDeliverer } = await import('../server/deliver-process.ts')
        await runDeliverer(config)
      } catch (error) {
        throw new StartFailure(error)
      }
    })
}
