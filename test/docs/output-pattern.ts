// Compares output with the output that a document shows. `…` in a document matches any text, a line with only `…` any
// lines. Any time matches any other time, and any request id any other, but the lifetime of an order must be equal. The id of
// something that the reader has added matches any id, but always the same one. Counts of pets match any counts.
import { parseExactly } from '../support/client.ts'
import type { Block } from '../support/documents.ts'

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const REQUEST_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const ANYTHING = '…'

/** The ids of the output by the ids that a document shows for them. */
export type Ids = Map<string, string>

/** Above the 500 pets and about 430 orders of `npm run dev`. What the reader has added before determines the next id. */
const ADDED_ID = /(?<!\w)(?<!\d[.:-])(?:5(?!00)\d\d|43\d)(?!\w|[.:-]\d)/
const COUNTS = 'available,pending,sold'

/** Returns values that are equal if the output matches; otherwise their difference shows what does not match. */
export function toCompare(shown: Block, printed: string, ids: Ids): { shown: unknown; printed: unknown } {
  if (shown.language === 'json') {
    const expected = parseExactly(shown.text)
    if (expected === undefined) throw new Error(`the JSON at line ${shown.line} does not parse`)
    return { shown: expected, printed: jsonLike(expected, parseExactly(printed) ?? printed, ids) }
  }
  const expected = shown.text.trim()
  const given = printed.replaceAll('\r', '').trim()
  return { shown: expected, printed: isLike(expected, given, ids) ? expected : given }
}

/** Text that differs between runs: `…`, a time in a table, the request id of a client, an id that the reader has added. */
const VOLATILE = new RegExp(
  `(${[/…/, /\d{4}-\d\d-\d\d \d\d:\d\d/, /[0-9a-f]{32}\.\d+/, ADDED_ID].map(({ source }) => source).join('|')})`,
)
const IS_ADDED_ID = new RegExp(`^${ADDED_ID.source}$`)

function isLike(shown: string, given: string, ids: Ids): boolean {
  const named = new Set<string>()
  const toPattern = (part: string, index: number): string => {
    // `split` puts the text that matches VOLATILE at odd places.
    if (index % 2 === 0) return RegExp.escape(part)
    if (part === ANYTHING) return '.*'
    if (!IS_ADDED_ID.test(part)) return part.replaceAll(/\w+/g, '\\w+').replaceAll('.', '\\.')
    const known = ids.get(part)
    if (known !== undefined) return known
    if (named.has(part)) return `\\k<id${part}>`
    named.add(part)
    return `(?<id${part}>\\d+)`
  }
  const lines = shown.split('\n').map((line) => {
    if (line.trim() === ANYTHING) return '(?:.*\\n)*?'
    return `${line.split(VOLATILE).map(toPattern).join('')}\\n`
  })
  const match = new RegExp(`^${lines.join('')}$`).exec(`${given}\n`)
  if (match === null) return false
  return Object.entries(match.groups ?? {}).every(([name, id]) => isSameId(name.slice(2), id, ids))
}

/** True if the output has always this id where the document shows that one, and nowhere else. */
function isSameId(shown: string, given: string, ids: Ids): boolean {
  const known = ids.get(shown)
  if (known !== undefined) return known === given
  if ([...ids.values()].includes(given)) return false
  ids.set(shown, given)
  return true
}

type Fields = Record<string, unknown>
const isObject = (value: unknown): value is Fields => typeof value === 'object' && value !== null

/** Returns the given value with each matching part replaced by the shown part. */
function jsonLike(shown: unknown, given: unknown, ids: Ids): unknown {
  if (shown === ANYTHING) return shown
  if (typeof shown === 'string' && typeof given === 'string') return textLike(shown, given, ids)
  if (Array.isArray(shown) && Array.isArray(given)) {
    const open = shown.at(-1) === ANYTHING
    const like = given.map((item, index) => jsonLike(shown[index], item, ids))
    return open && given.length >= shown.length - 1 ? [...like.slice(0, shown.length - 1), ANYTHING] : like
  }
  if (isObject(shown) && isObject(given)) {
    const like = Object.fromEntries(
      Object.entries(given).map(([name, value]) => [name, fieldLike(shown, name, value, ids)]),
    )
    const isOpen = shown['expiresAt'] === ANYTHING
    return isOpen || lifetimeOf(given) === lifetimeOf(shown)
      ? like
      : { ...like, expiresAt: given['expiresAt'] }
  }
  return given
}

function fieldLike(object: Fields, name: string, given: unknown, ids: Ids): unknown {
  const shown = object[name]
  if (typeof shown !== 'number' || typeof given !== 'number') return jsonLike(shown, given, ids)
  const isCount = Object.keys(object).join() === COUNTS
  const isId = /^(?:id|petId|orderId)$/.test(name) && IS_ADDED_ID.test(String(shown))
  return isCount || (isId && isSameId(String(shown), String(given), ids)) ? shown : given
}

function textLike(shown: string, given: string, ids: Ids): string {
  const bothAre = (pattern: RegExp) => pattern.test(shown) && pattern.test(given)
  return bothAre(TIME) || bothAre(REQUEST_ID) || isLike(shown, given, ids) ? shown : given
}

function lifetimeOf({ createdAt, expiresAt }: Fields): number | undefined {
  if (typeof createdAt !== 'string' || typeof expiresAt !== 'string') return undefined
  return Math.round((Date.parse(expiresAt) - Date.parse(createdAt)) / 1000)
}
