// Paging by key: the parameters of a list, its cursors, and the Link header that carries them (RFC 8288).
import { isUtf8 } from 'node:buffer'
import { hash } from 'node:crypto'
import { Type } from 'typebox'
import { AppError } from './errors.ts'
import { idInRange } from './int64.ts'

export const LIST_LIMIT_MAX = 100

export const LimitParameter = (byDefault: number, more = '') =>
  Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: LIST_LIMIT_MAX,
      default: byDefault,
      description: `The most to answer.${more}`,
    }),
  )

export const CursorParameter = Type.Optional(
  Type.String({
    minLength: 1,
    description: 'Where to go on: taken from the `Link` header of the page before, with the same filters.',
  }),
)

// A cursor is one byte of version, the id to go on from, the first bytes of a hash of the filters it belongs
// to, and, where a list is sorted by more than the id, that too. It tells nothing that the list did not, so it
// is bound to its filters but not signed.
const VERSION = 1
const FILTERS_AT = 9
const SORT_KEY_AT = 15

/** The filters of a list by their names; absent ones are undefined. */
export type Filters = Record<string, string | bigint | undefined>

/** The last animal, order or entry of a page. */
export interface Position {
  id: bigint
  /** What the list is sorted by before the id; empty where that is nothing. */
  sortKey: string
}

export function writeCursor({ id, sortKey }: Position, filters: Filters): string {
  const head = Buffer.alloc(SORT_KEY_AT)
  head.writeUInt8(VERSION)
  head.writeBigInt64BE(id, 1)
  filtersMark(filters).copy(head, FILTERS_AT)
  return Buffer.concat([head, Buffer.from(sortKey)]).toString('base64url')
}

function readCursor(text: string, filters: Filters): Position {
  const bytes = Buffer.from(text, 'base64url')
  // Decoding forgives stray characters; a cursor of ours comes out as it went in.
  const ours = bytes.length >= SORT_KEY_AT && bytes[0] === VERSION && bytes.toString('base64url') === text
  const id = ours ? idInRange(bytes.readBigInt64BE(1)) : undefined
  const sortKey = bytes.subarray(SORT_KEY_AT)
  if (
    id === undefined ||
    !bytes.subarray(FILTERS_AT, SORT_KEY_AT).equals(filtersMark(filters)) ||
    !isUtf8(sortKey) ||
    sortKey.includes(0)
  ) {
    throw new AppError('invalid_cursor')
  }
  return { id, sortKey: sortKey.toString() }
}

/** What a list asks of its page: where to go on, and how much at most. */
export interface PageRequest {
  after: Position | undefined
  limit: number
}

export interface Page<Item> {
  items: Item[]
  /** Where the next page goes on; undefined on the last one. */
  next: Position | undefined
}

/** Makes a page of what a statement found, which was asked for one more than the limit. */
export function toPage<Item>(found: Item[], limit: number, positionOf: (item: Item) => Position): Page<Item> {
  const items = found.slice(0, limit)
  const last = items.at(-1)
  return { items, next: found.length > limit && last !== undefined ? positionOf(last) : undefined }
}

/** The page that a request asks for; its cursor must have been made with the same filters. */
export function readPage(
  { limit, cursor }: { limit?: number; cursor?: string },
  filters: Filters,
  limitDefault: number,
): PageRequest {
  return {
    after: cursor === undefined ? undefined : readCursor(cursor, filters),
    limit: limit ?? limitDefault,
  }
}

type Parameters = Record<string, string | number | bigint | undefined>

/** `Link` to the page after this one, with everything that was asked for this one; nothing on the last page. */
export function nextPageHeaders(
  address: string,
  next: Position | undefined,
  filters: Filters,
  parameters: Parameters,
): { link?: string } {
  if (next === undefined) return {}
  const query = new URLSearchParams()
  const all: Parameters = { ...parameters, cursor: writeCursor(next, filters) }
  for (const [name, value] of Object.entries(all)) {
    if (value !== undefined) query.set(name, String(value))
  }
  return { link: `<${address}?${query}>; rel="next"` }
}

function filtersMark(filters: Filters): Buffer {
  const given = Object.entries(filters)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}=${value}`)
  return hash('sha256', given.sort().join('&'), 'buffer').subarray(0, SORT_KEY_AT - FILTERS_AT)
}
