// `petstore events`: commands for the feed of events.
import type { Command } from 'commander'
import { addNewEpoch } from './events-new-epoch.ts'
import { addTail } from './events-tail.ts'

export function addEvents(program: Command): void {
  const events = program.command('events').description('follow and manage the feed of events')
  addTail(events)
  addNewEpoch(events)
}
