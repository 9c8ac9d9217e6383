// Keyset pagination: the cursors of a list, and the Link header of the next page (RFC 8288).
import { isUtf8 } from 'node:buffer'
import { hash } from 'node:crypto'
import { idInRange } from '../values/int64.ts'
import { AppError } from './errors.ts'

export const LIST_LIMIT_MAX = 100
/**
 * A page of entries with profiles ends after the entry with which it reaches this size. The pages of all other lists are
 * smaller than that, because their entries are.
 */
export const PAGE_BYTES_MAX = 1_048_576

// A cursor contains a version byte, the id of the last item, the first bytes of a hash of the filters, and the sort key
// if the list is not sorted by id alone. It is not encrypted, because it reveals nothing
// that the list did not return, and not signed, because a forged cursor only starts the same list at another position.
const VERSION = 1
const FILTERS_AT = 9
const SORT_KEY_AT = 15

/** The filters of a list by name; the value of an absent filter is undefined. */
export type Filters = Record<string, string | bigint | undefined>

/** The position of an item in its list; the next page starts after it. */
export interface PagePosition {
  id: bigint
  /** The value that the list is sorted by before the id; empty if the list is sorted by id alone. */
  sortKey: string
}

export function writeCursor({ id, sortKey }: PagePosition, filters: Filters): string {
  const head = Buffer.alloc(SORT_KEY_AT)
  head.writeUInt8(VERSION)
  head.writeBigInt64BE(id, 1)
  filterHash(filters).copy(head, FILTERS_AT)
  return Buffer.concat([head, Buffer.from(sortKey)]).toString('base64url')
}

function readCursor(text: string, filters: Filters): PagePosition {
  const bytes = Buffer.from(text, 'base64url')
  // Buffer.from ignores invalid characters, so compare the re-encoded bytes with the text.
  const isWellFormed =
    bytes.length >= SORT_KEY_AT && bytes[0] === VERSION && bytes.toString('base64url') === text
  const id = isWellFormed ? idInRange(bytes.readBigInt64BE(1)) : undefined
  const sortKey = bytes.subarray(SORT_KEY_AT)
  if (
    id === undefined ||
    !bytes.subarray(FILTERS_AT, SORT_KEY_AT).equals(filterHash(filters)) ||
    !isUtf8(sortKey) ||
    sortKey.includes(0)
  ) {
    throw new AppError('invalid_cursor')
  }
  return { id, sortKey: sortKey.toString() }
}

/** A page starts after the item at `after` and has at most `limit` items. */
export interface PageRequest {
  after: PagePosition | undefined
  limit: number
}

export interface Page<Item> {
  items: Item[]
  /** The next page starts after this position; undefined on the last page. */
  next: PagePosition | undefined
}

/** Makes a page from the result of a query that asked for one item more than `limit`. */
export function toPage<Item>(
  found: Item[],
  limit: number,
  positionOf: (item: Item) => PagePosition,
): Page<Item> {
  const items = found.slice(0, limit)
  const last = items.at(-1)
  return { items, next: found.length > limit && last !== undefined ? positionOf(last) : undefined }
}

/** Reads the paging parameters of a request. Rejects a cursor that was made with other filters. */
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

/** What the documents say of the header `Link` of a list. */
export const LINKS =
  'URLs (RFC 8288) of the next page, `<…>; rel="next"`, unless this is the last one, and of the first page, `rel="first"`.'

type Parameters = Record<string, string | number | bigint | undefined>

/**
 * The `Link` header with the URLs of the next page, unless this is the last one, and of the first page. Both include the
 * parameters of this page. The next page is first, because it is what programs look for.
 */
export function pageLinks(
  address: string,
  next: PagePosition | undefined,
  filters: Filters,
  parameters: Parameters,
): { link: string } {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined) query.set(name, String(value))
  }
  const given = query.toString()
  const first = `<${address}${given && `?${given}`}>; rel="first"`
  if (next === undefined) return { link: first }
  const cursor = `cursor=${writeCursor(next, filters)}`
  return { link: `<${address}?${given && `${given}&`}${cursor}>; rel="next", ${first}` }
}

/** Hashing takes longer than the rest of reading and writing a cursor, and most requests have the same few filters. */
const MARKS_MAX = 1_000
const marks = new Map<string, Buffer>()

function filterHash(filters: Filters): Buffer {
  const given = Object.entries(filters)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}=${value}`)
  const text = given.sort().join('&')
  const known = marks.get(text)
  if (known !== undefined) return known
  const mark = hash('sha256', text, 'buffer').subarray(0, SORT_KEY_AT - FILTERS_AT)
  if (marks.size >= MARKS_MAX) marks.clear()
  marks.set(text, mark)
  return mark
}
