// `petstore events tail`: calls a running service to print changes as they happen.
import { type Command, Option } from 'commander'
import type { EventType, StoreEvent } from '../../client/src/petstore.ts'
import { LATEST, START, TYPE_STYLES, TYPE_WIDTH, TYPES } from './event-types.ts'
import { parseInteger } from './terminal/arguments.ts'
import { toJson } from './terminal/output.ts'
import { addRemoteOptions, callService, type Remote, type RemoteOptions } from './terminal/remote.ts'
import {
  type Cell,
  cut,
  localTime,
  openTable,
  paint,
  printPart,
  say,
  visible,
  widthOf,
} from './terminal/terminal.ts'

const LIMIT_MAX = 1_000_000_000
/** The width of a line. A longer name is cut, but not to less than the min. */
const LINE_WIDTH = 80
const NAME_WIDTH_MIN = 8

interface TailOptions extends RemoteOptions {
  type?: EventType[]
  after: string
  limit?: number
}

export function addTail(events: Command): void {
  const tail = events
    .command('tail')
    .description('print changes to pets and orders as they happen, until Ctrl-C')
    .addOption(new Option('--type <type...>', 'print only events of these types').choices(TYPES))
    .option(
      '--after <position>',
      `print the events after this position, which --json prints; "${START}" stands for the start of the feed`,
      LATEST,
    )
    .option('--limit <n>', 'stop after this many events', parseInteger(1, LIMIT_MAX))
    .action((options: TailOptions) => callService(options, (remote) => printEvents(options, remote)))
  addRemoteOptions(
    tail,
    [
      'petstore events tail',
      'petstore events tail --type order.placed order.completed',
      'petstore events tail --after start --json > events.ndjson',
    ],
    {
      json: 'print one JSON object per line; ids keep every digit',
      timeout: 'max time to wait for the first connection, including retries',
      success: 'stopped by Ctrl-C, or by --limit',
    },
  )
}

async function printEvents(options: TailOptions, { store, call, stopWaiting }: Remote): Promise<void> {
  const { after, type, limit = Number.POSITIVE_INFINITY, json } = options
  const table = openTable()
  let isLost = false
  let count = 0
  const events = store.events.follow({
    ...call,
    after: after === START ? undefined : after,
    type,
    onPosition: stopWaiting,
    onReconnect: ({ message }) => {
      // One message per outage.
      if (!isLost) say(paint('dim', `${visible(message)} Reconnecting.`))
      isLost = true
    },
  })
  try {
    for await (const event of events) {
      stopWaiting()
      isLost = false
      await printPart(`${json ? toJson(event) : table([toRow(event)])}\n`)
      count += 1
      if (count === limit) break
    }
  } catch (error) {
    // Ctrl-C is the usual end of this command.
    if (!call.signal?.aborted) throw error
  }
}

function toRow(event: StoreEvent): Cell[] {
  const { occurredAt, type, petId, actor } = event
  const by = actor === undefined ? '' : `by ${visible(actor)}`
  const details = detailsOf(event)
  const fixed = [localTime(occurredAt), type.padEnd(TYPE_WIDTH), petId, details, by].filter(
    (text) => text !== '',
  )
  // Two spaces separate columns, and ": " follows the name.
  const left = LINE_WIDTH - fixed.reduce((sum, text) => sum + widthOf(text) + 2, 0)
  const name = event.pet && `${cut(visible(event.pet.name), Math.max(left, NAME_WIDTH_MIN))}: `
  return [
    localTime(occurredAt),
    { text: type.padEnd(TYPE_WIDTH), style: TYPE_STYLES[type as EventType] ?? 'bold' },
    petId,
    [`${name ?? ''}${details}`, by].filter((text) => text !== '').join('  '),
  ]
}

/** What changed. */
function detailsOf({ type, pet, changed, profile, order }: StoreEvent): string {
  if (order !== undefined) return `order ${order.id}`
  if (profile?.price !== undefined) return `price ${profile.price} ${profile.currency}`
  if (pet === undefined) return ''
  if (type === 'pet.created') return pet.status
  const texts = { name: 'renamed', categoryId: `category ${pet.categoryId}`, status: pet.status }
  return (changed ?? []).map((field) => texts[field as keyof typeof texts] ?? field).join(', ')
}
