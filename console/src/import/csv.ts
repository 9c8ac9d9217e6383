// Reads the records of a CSV file (RFC 4180). The rules are those of `petstore import`: a missing quote makes only its own
// line unreadable, and so does a byte that is not UTF-8.

/** A longer record is rejected, so that a quote that is not closed does not swallow the rest of the file. */
const RECORD_BYTES_MAX = 1_048_576
/** The list of rejected rows shows at most this much of a row. */
const TEXT_BYTES_MAX = 65_536

const QUOTE = 0x22
const COMMA = 0x2c
const LF = 0x0a
const CR = 0x0d
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf]

const UTF_8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
/** The most likely encoding of a row that is not UTF-8. */
const WINDOWS_1252 = new TextDecoder('windows-1252')

export interface CsvRecord {
  /** The line where the record starts, counted from 1. */
  line: number
  /** Empty if the record cannot be read. */
  fields: string[]
  /** Why the record cannot be read. */
  fault: string | undefined
  bytes: Uint8Array
}

/** Skips empty lines. */
export function* readCsv(bytes: Uint8Array): Generator<CsvRecord> {
  let at = BYTE_ORDER_MARK.every((byte, index) => bytes[index] === byte) ? BYTE_ORDER_MARK.length : 0
  let line = 1
  while (at < bytes.length) {
    const scanned = isBlankLine(bytes, at) ? { ranges: [], end: lineEnd(bytes, at) } : scanRecord(bytes, at)
    const end = 'fault' in scanned ? lineEnd(bytes, at) : scanned.end
    const record = bytes.subarray(at, end)
    if ('fault' in scanned) yield { line, fields: [], fault: scanned.fault, bytes: record }
    else if (scanned.ranges.length > 0) yield { line, bytes: record, ...decoded(bytes, at, scanned) }
    for (let lf = record.indexOf(LF); lf !== -1; lf = record.indexOf(LF, lf + 1)) line += 1
    at = end
  }
}

/** The text of a record without its line break. */
export function recordText({ bytes }: CsvRecord): string {
  const shown = bytes.subarray(0, TEXT_BYTES_MAX)
  let text: string
  try {
    text = UTF_8.decode(shown)
  } catch {
    text = WINDOWS_1252.decode(shown)
  }
  return shown.length < bytes.length ? `${text}…` : text.replace(/\r?\n?$/, '')
}

/** Where a field starts and ends, without its quotes. */
type Range = [from: number, to: number]

interface Scanned {
  ranges: Range[]
  end: number
}

function scanRecord(bytes: Uint8Array, start: number): Scanned | { fault: string } {
  const end = Math.min(bytes.length, start + RECORD_BYTES_MAX)
  const tooLong =
    end < bytes.length
      ? { fault: 'The row is longer than 1 MiB, or a quote in it is not closed.' }
      : undefined
  const ranges: Range[] = []
  for (let at = start; ; at += 1) {
    if (bytes[at] === QUOTE) {
      const close = closingQuote(bytes, at, end)
      if (close === -1) return tooLong ?? { fault: 'A quote is not closed.' }
      ranges.push([at + 1, close])
      at = close + 1
      if (bytes[at] === CR && (at + 1 === bytes.length || bytes[at + 1] === LF)) at += 1
      if (at < end && bytes[at] !== COMMA && bytes[at] !== LF)
        return { fault: 'Text follows a closing quote.' }
    } else {
      const from = at
      while (at < end && bytes[at] !== COMMA && bytes[at] !== LF) {
        if (bytes[at] === QUOTE) return { fault: 'A field that is not quoted contains a quote.' }
        at += 1
      }
      const isLineEnd = at === end || bytes[at] === LF
      ranges.push([from, isLineEnd && at > from && bytes[at - 1] === CR ? at - 1 : at])
    }
    if (at >= end) return tooLong ?? { ranges, end }
    if (bytes[at] === LF) return { ranges, end: at + 1 }
  }
}

/** The quote that closes the field, after all pairs of quotes; -1 if there is none. */
function closingQuote(bytes: Uint8Array, open: number, end: number): number {
  for (let at = bytes.indexOf(QUOTE, open + 1); at !== -1 && at < end; at = bytes.indexOf(QUOTE, at + 2)) {
    if (bytes[at + 1] !== QUOTE) return at
  }
  return -1
}

function decoded(
  bytes: Uint8Array,
  start: number,
  { ranges, end }: Scanned,
): Pick<CsvRecord, 'fields' | 'fault'> {
  try {
    const text = UTF_8.decode(bytes.subarray(start, end))
    // Decoding each field takes much longer. In a text of ASCII only, characters and bytes have the same positions.
    const isAscii = text.length === end - start
    const fields = ranges.map(([from, to]) => {
      const field = isAscii ? text.slice(from - start, to - start) : UTF_8.decode(bytes.subarray(from, to))
      return from > start && bytes[from - 1] === QUOTE ? field.replaceAll('""', '"') : field
    })
    return { fields, fault: undefined }
  } catch {
    return { fields: [], fault: 'The row is not valid UTF-8.' }
  }
}

function isBlankLine(bytes: Uint8Array, at: number): boolean {
  return bytes[at] === LF || (bytes[at] === CR && (bytes[at + 1] === LF || at + 1 === bytes.length))
}

function lineEnd(bytes: Uint8Array, at: number): number {
  const end = bytes.indexOf(LF, at)
  return end === -1 ? bytes.length : end + 1
}
