// `petstore events`: commands for the feed of events.
import type { Command } from 'commander'
import { addNewEpoch } from './events-new-epoch.ts'
import { addTail } from './events-tail.ts'

export function addEvents(program: Command): void {
  const events = program
    .command('events')
    .description('follow and manage the feed of events')
    .addHelpText(
      'after',
      `
For tail, the API key needs the scope events:read. Events of orders also need orders:read. new-epoch is for operators: it
needs DATABASE_URL, and no API key.`,
    )
    .commandsGroup('Use a running service:')
  addTail(events)
  events.commandsGroup('Run the service:')
  addNewEpoch(events)
}
