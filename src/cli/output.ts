// How an answer of the service is shown: tables for people, JSON for machines.
import { type Command, Option } from 'commander'
import { writeJson } from '../../client/src/ids.ts'
import type { List } from '../../client/src/petstore.ts'
import { parseWhole } from './arguments.ts'
import type { Remote, RemoteOptions } from './remote.ts'
import { type Cell, openTable, paint, printPart, say, visible } from './terminal.ts'

/** The most that the service gives at once. */
const PAGE_SIZE_MAX = 100
const LIMIT = 20
const LIMIT_MAX = 1_000_000

export interface ListOptions extends RemoteOptions {
  limit: number
  all?: boolean
}

export function addListOptions(command: Command): void {
  command
    .option('--limit <n>', 'the most to list', parseWhole(1, LIMIT_MAX), LIMIT)
    .addOption(new Option('--all', 'list to the end, however long').conflicts('limit'))
}

export interface Columns<Item> {
  heads: readonly string[]
  toRow: (item: Item) => Cell[]
}

/** JSON as the interface has it: ids are numbers with all their digits. Nothing in it can command a terminal. */
export function toJson(value: object): string {
  return visible(writeJson(value))
}

/** Everything at once, in the sequence given. */
export async function printItems<Item extends object>(
  items: readonly Item[],
  asJson: boolean,
  columns: Columns<Item>,
): Promise<void> {
  const show = asJson ? jsonArray() : rows(columns)
  await printPart(show.next(items) + show.end())
}

export function pageSize({ limit, all }: ListOptions): number {
  return all ? PAGE_SIZE_MAX : Math.min(limit, PAGE_SIZE_MAX)
}

/** Page by page, as they come: a list of any length takes the memory of one page. */
export async function printList<Item extends object>(
  list: List<Item>,
  options: ListOptions,
  columns: Columns<Item>,
  { goesOn }: Remote,
): Promise<void> {
  const show = options.json ? jsonArray() : rows(columns)
  let left = options.all ? Number.POSITIVE_INFINITY : options.limit
  let hasMore = false
  for await (const { items, nextCursor } of list.pages()) {
    const wanted = items.slice(0, left)
    await printPart(show.next(wanted))
    goesOn()
    left -= wanted.length
    hasMore = wanted.length < items.length || nextCursor !== undefined
    if (left === 0) break
  }
  await printPart(show.end())
  if (left === 0 && hasMore) say(paint('dim', 'There are more: see --limit and --all.'))
}

interface Shown<Item> {
  next: (items: readonly Item[]) => string
  end: () => string
}

function rows<Item>({ heads, toRow }: Columns<Item>): Shown<Item> {
  const table = openTable()
  let isEmpty = true
  return {
    next: (items) => {
      if (items.length === 0) return ''
      const head = isEmpty ? [heads.map((text) => ({ text, style: 'dim' as const }))] : []
      isEmpty = false
      return `${table([...head, ...items.map(toRow)])}\n`
    },
    end: () => {
      if (isEmpty) say('There are none.')
      return ''
    },
  }
}

/** One array with an item on each line. It is closed at the very end, so that nobody takes a part for the whole. */
function jsonArray(): Shown<object> {
  let before = '[\n'
  return {
    next: (items) =>
      items
        .map((item) => {
          const text = before + toJson(item)
          before = ',\n'
          return text
        })
        .join(''),
    end: () => (before === '[\n' ? '[]\n' : '\n]\n'),
  }
}
