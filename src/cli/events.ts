// `petstore events`: commands for the feed of events.
import type { Command } from 'commander'
import { addTail } from './events-tail.ts'

export function addEvents(program: Command): void {
  const events = program.command('events').description('follow the feed of events')
  addTail(events)
}
