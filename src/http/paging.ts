// Cursors, and the Link header that carries them (RFC 8288).
import { hash } from 'node:crypto'
import { AppError } from '../errors.ts'
import { idInRange } from '../int64.ts'

// A cursor is one byte of version, the id to go on from, and the first bytes of a hash of the filters it
// belongs to. It tells nothing that the list did not, so it is bound to them but not signed.
const VERSION = 1
const FILTERS_AT = 9
const LENGTH_BYTES = 15

/** The filters of a list by their names; absent ones are undefined. */
export type Filters = Record<string, string | bigint | undefined>

export function writeCursor(before: bigint, filters: Filters): string {
  const bytes = Buffer.alloc(LENGTH_BYTES)
  bytes.writeUInt8(VERSION)
  bytes.writeBigInt64BE(before, 1)
  filtersMark(filters).copy(bytes, FILTERS_AT)
  return bytes.toString('base64url')
}

export function readCursor(text: string, filters: Filters): bigint {
  const bytes = Buffer.from(text, 'base64url')
  // Decoding forgives stray characters; a cursor of ours comes out as it went in.
  const ours = bytes.length === LENGTH_BYTES && bytes[0] === VERSION && bytes.toString('base64url') === text
  const before = ours ? idInRange(bytes.readBigInt64BE(1)) : undefined
  if (before === undefined || !bytes.subarray(FILTERS_AT).equals(filtersMark(filters))) {
    throw new AppError('invalid_cursor')
  }
  return before
}

/** `Link` to the page after this one, with everything that was asked for this one. */
export function nextPageLink(
  address: string,
  filters: Filters,
  limit: number | undefined,
  cursor: string,
): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries({ ...filters, limit, cursor })) {
    if (value !== undefined) query.set(name, String(value))
  }
  return `<${address}?${query}>; rel="next"`
}

function filtersMark(filters: Filters): Buffer {
  const given = Object.entries(filters)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}=${value}`)
  return hash('sha256', given.sort().join('&'), 'buffer').subarray(0, LENGTH_BYTES - FILTERS_AT)
}
