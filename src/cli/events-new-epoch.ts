// `petstore events new-epoch`: invalidates all positions in the event feed.
import type { Command } from 'commander'
import { readConfig } from '../config/config.ts'
import { print, say } from './terminal/terminal.ts'
import { withDatabase } from './with-database.ts'

export function addNewEpoch(events: Command): void {
  events
    .command('new-epoch')
    .description('invalidate all positions in the event feed, and print the name of the new epoch')
    .option('--json', 'print a JSON object')
    .addHelpText(
      'after',
      `
Needs DATABASE_URL. Run this after you have restored a backup, before the service starts. The restored database gives the numbers of lost
events to other events, so readers would skip events. With a new epoch, readers get 410 events_expired and start again
from an export.

Example:
  petstore events new-epoch`,
    )
    .action(async (options: { json?: boolean }) => {
      const { DATABASE_URL } = readConfig()
      // Imported on demand, so that other commands start faster.
      const { insertEpoch } = await import('../events/feed/queries.ts')
      const epoch = await withDatabase(DATABASE_URL, 'petstore-events', insertEpoch)
      say('All earlier positions are invalid. The new epoch:')
      print(options.json ? JSON.stringify({ epoch }) : epoch)
    })
}
