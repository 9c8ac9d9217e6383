// Compares output with the output that a document shows. `…` in a document matches any text, a line with only `…` any
// lines. Any time matches any other time, and any request id any other, but the lifetime of an order must be equal.
import { parseExactly } from '../support/client.ts'
import type { Block } from './documents.ts'

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const REQUEST_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const ANYTHING = '…'

/** Returns values that are equal if the output matches; otherwise their difference shows what does not match. */
export function toCompare(shown: Block, printed: string): { shown: unknown; printed: unknown } {
  if (shown.language === 'json') {
    const expected = parseExactly(shown.text)
    if (expected === undefined) throw new Error(`the JSON at line ${shown.line} does not parse`)
    return { shown: expected, printed: jsonLike(expected, parseExactly(printed) ?? printed) }
  }
  const expected = shown.text.trim()
  const given = printed.replaceAll('\r', '').trim()
  return { shown: expected, printed: isLike(expected, given) ? expected : given }
}

/** Text that differs between runs: `…`, a time in a table, the request id of a client. */
const VOLATILE = /(…|\d{4}-\d\d-\d\d \d\d:\d\d|[0-9a-f]{32}\.\d+)/

function isLike(shown: string, given: string): boolean {
  const lines = shown.split('\n').map((line) => {
    if (line.trim() === ANYTHING) return '(?:.*\\n)*?'
    const parts = line.split(VOLATILE).map((part) => {
      if (part === ANYTHING) return '.*'
      return VOLATILE.test(part)
        ? part.replaceAll(/\w+/g, '\\w+').replaceAll('.', '\\.')
        : RegExp.escape(part)
    })
    return `${parts.join('')}\\n`
  })
  return new RegExp(`^${lines.join('')}$`).test(`${given}\n`)
}

type Fields = Record<string, unknown>
const isObject = (value: unknown): value is Fields => typeof value === 'object' && value !== null

/** Returns the given value with each matching part replaced by the shown part. */
function jsonLike(shown: unknown, given: unknown): unknown {
  if (shown === ANYTHING) return shown
  if (typeof shown === 'string' && typeof given === 'string') return textLike(shown, given)
  if (Array.isArray(shown) && Array.isArray(given)) {
    const open = shown.at(-1) === ANYTHING
    const like = given.map((item, index) => jsonLike(shown[index], item))
    return open && given.length >= shown.length - 1 ? [...like.slice(0, shown.length - 1), ANYTHING] : like
  }
  if (isObject(shown) && isObject(given)) {
    const like = Object.fromEntries(
      Object.entries(given).map(([name, value]) => [name, jsonLike(shown[name], value)]),
    )
    return lifetimeOf(given) === lifetimeOf(shown) ? like : { ...like, expiresAt: given['expiresAt'] }
  }
  return given
}

function textLike(shown: string, given: string): string {
  const bothAre = (pattern: RegExp) => pattern.test(shown) && pattern.test(given)
  return bothAre(TIME) || bothAre(REQUEST_ID) || isLike(shown, given) ? shown : given
}

function lifetimeOf({ createdAt, expiresAt }: Fields): number | undefined {
  if (typeof createdAt !== 'string' || typeof expiresAt !== 'string') return undefined
  return Math.round((Date.parse(expiresAt) - Date.parse(createdAt)) / 1000)
}
