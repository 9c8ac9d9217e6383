// Finds the first mistake in a body that is not JSON in UTF-8. The messages of JSON.parse cannot be used: they quote the
// body, and most of them contain no position. Takes time linear in the length of the body, and no recursion.
import { isUtf8 } from 'node:buffer'

export interface TextPosition {
  line: number
  /** In code points. The first column is 1. */
  column: number
}

export function findJsonFault(body: Buffer): TextPosition {
  // One character for each byte, so that an index in the text is an offset in the body.
  const offset = faultAt(body.toString('latin1', 0, utf8End(body)))
  const position = { line: 1, column: 1 }
  for (let at = 0; at < offset; at += 1) {
    if (body[at] === LINE_FEED) {
      position.line += 1
      position.column = 1
    } else if (!isContinuation(body[at])) position.column += 1
  }
  return position
}

const LINE_FEED = 0x0a

/** Whether the byte is in a character of UTF-8, but not its first byte. */
function isContinuation(byte = 0): boolean {
  return (byte & 0xc0) === 0x80
}

/** The offset of the first character that is not UTF-8, or the length of the body. */
function utf8End(body: Buffer): number {
  if (isUtf8(body)) return body.length
  // Decoding replaces invalid bytes, so the first difference is in the first character that was replaced.
  const decoded = Buffer.from(body.toString())
  let at = 0
  while (body[at] === decoded[at]) at += 1
  while (isContinuation(decoded[at])) at -= 1
  return at
}

/** A string without its closing quote. Cannot fail after the opening quote, so it does not backtrack. */
const STRING = /"[ !#-[\]-\xff]*(?:\\(?:["\\/bfnrt]|u[\da-fA-F]{4})[ !#-[\]-\xff]*)*/y
const OTHER_VALUE = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y

/** The index at which the text stops being the beginning of JSON, or its length if only the rest is missing. */
function faultAt(text: string): number {
  /** The closing bracket of each open array or object. */
  const open: string[] = []
  let expected: 'value' | 'key' | 'colon' | 'comma' = 'value'
  /** Whether the closing bracket can follow. */
  let mayClose = false
  for (let at = skipBlanks(text, 0); at < text.length; at = skipBlanks(text, at)) {
    const sign = text.charAt(at)
    let end = at + 1
    if (mayClose && sign === open.at(-1)) {
      open.pop()
      expected = 'comma'
    } else if (expected === 'comma') {
      if (sign !== ',' || open.length === 0) return at
      expected = open.at(-1) === ']' ? 'value' : 'key'
    } else if (expected === 'colon') {
      if (sign !== ':') return at
      expected = 'value'
    } else if (sign === '"') {
      end = endOf(STRING, text, at) + 1
      if (text.charAt(end - 1) !== '"') return end - 1
      expected = expected === 'key' ? 'colon' : 'comma'
    } else if (expected === 'key') {
      return at
    } else if (sign === '[' || sign === '{') {
      open.push(sign === '[' ? ']' : '}')
      expected = sign === '[' ? 'value' : 'key'
    } else {
      end = endOf(OTHER_VALUE, text, at)
      if (end === at) return at
      expected = 'comma'
    }
    mayClose = expected === 'comma' || sign === '[' || sign === '{'
    at = end
  }
  return text.length
}

function skipBlanks(text: string, from: number): number {
  let at = from
  while (' \t\n\r'.includes(text.charAt(at) || 'x')) at += 1
  return at
}

/** The end of the match that starts at this index, or the index itself. */
function endOf(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at
  return pattern.test(text) ? pattern.lastIndex : at
}
