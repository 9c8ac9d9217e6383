// Formats responses of the service: tables for people, JSON for programs.
import { type Command, Option } from 'commander'
import { writeJson } from '../../../client/src/ids.ts'
import type { List } from '../../../client/src/petstore.ts'
import { LIST_PETS } from '../../../client/src/rules.ts'
import { parseInteger } from './arguments.ts'
import type { Remote, RemoteOptions } from './remote.ts'
import { type Cell, openTable, paint, printPart, say, visible } from './terminal.ts'

/** All lists have the same. */
const PAGE_SIZE_MAX = LIST_PETS.limit.maximum
const LIMIT = 20
const LIMIT_MAX = 1_000_000

export interface ListOptions extends RemoteOptions {
  limit: number
  all?: boolean
}

export function addListOptions(command: Command): void {
  command
    .option('--limit <n>', 'max number of entries to list', parseInteger(1, LIMIT_MAX), LIMIT)
    .addOption(new Option('--all', 'list all entries; cannot be combined with --limit').conflicts('limit'))
}

export interface Columns<Item> {
  headings: readonly string[]
  toRow: (item: Item) => Cell[]
}

/** JSON as the API returns it: ids are numbers with all their digits. Control characters are escaped. */
export function toJson(value: object): string {
  return visible(writeJson(value))
}

/** Prints all items at once, in the order given. */
export async function printItems<Item extends object>(
  items: readonly Item[],
  asJson: boolean,
  columns: Columns<Item>,
): Promise<void> {
  const format = asJson ? jsonArray() : rows(columns)
  await printPart(format.next(items) + format.end())
}

export function pageSize({ limit, all }: ListOptions): number {
  return all ? PAGE_SIZE_MAX : Math.min(limit, PAGE_SIZE_MAX)
}

/** Prints each page when it arrives, so that only one page is in memory. */
export async function printList<Item extends object>(
  list: List<Item>,
  options: ListOptions,
  columns: Columns<Item>,
  { restartWaiting }: Remote,
): Promise<void> {
  const format = options.json ? jsonArray() : rows(columns)
  let remaining = options.all ? Number.POSITIVE_INFINITY : options.limit
  let hasMore = false
  for await (const { items, nextCursor } of list.pages()) {
    const wanted = items.slice(0, remaining)
    await printPart(format.next(wanted))
    restartWaiting()
    remaining -= wanted.length
    hasMore = wanted.length < items.length || nextCursor !== undefined
    if (remaining === 0) break
  }
  await printPart(format.end())
  if (remaining === 0 && hasMore) say(paint('dim', 'More entries exist: use --limit or --all.'))
}

interface Formatter<Item> {
  next: (items: readonly Item[]) => string
  end: () => string
}

function rows<Item>({ headings, toRow }: Columns<Item>): Formatter<Item> {
  const table = openTable()
  let isEmpty = true
  return {
    next: (items) => {
      if (items.length === 0) return ''
      const head = isEmpty ? [headings.map((text) => ({ text, style: 'dim' as const }))] : []
      isEmpty = false
      return `${table([...head, ...items.map(toRow)])}\n`
    },
    end: () => {
      if (isEmpty) say('No entries.')
      return ''
    },
  }
}

/** One array with one item per line. The closing bracket comes last, so incomplete output is not valid JSON. */
function jsonArray(): Formatter<object> {
  let separator = '[\n'
  return {
    next: (items) =>
      items
        .map((item) => {
          const text = separator + toJson(item)
          separator = ',\n'
          return text
        })
        .join(''),
    end: () => (separator === '[\n' ? '[]\n' : '\n]\n'),
  }
}
