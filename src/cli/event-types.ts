// The types of events in arguments and in tables, shared by the commands that follow the feed and those for webhooks.
import type { EventType } from '../../client/src/petstore.ts'
import type { Style } from './terminal/terminal.ts'

export const TYPE_STYLES: Record<EventType, Style> = {
  'pet.created': 'green',
  'pet.updated': 'yellow',
  'pet.profile_updated': 'yellow',
  'pet.deleted': 'red',
  'order.placed': 'yellow',
  'order.updated': 'yellow',
  'order.completed': 'green',
  'order.cancelled': 'dim',
  'order.expired': 'dim',
  'order.entry_added': 'dim',
}
export const TYPES = Object.keys(TYPE_STYLES)
export const TYPE_WIDTH = Math.max(...TYPES.map((type) => type.length))
/** The value of --after that stands for the start of the feed. The service starts there without a position. */
export const START = 'start'
export const LATEST = 'latest'
