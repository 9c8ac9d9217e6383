// Ids are 64-bit integers in JSON, and JSON.parse rounds integers above 2^53. The client represents ids as strings: it
// quotes their digits before parsing and unquotes them after serializing. Fields are recognized as ids by name.
import { PetstoreError } from './errors.ts'
import type { Id, IdInput } from './interface.ts'

// Quotes inside a JSON string are escaped as \", so these patterns never match inside a string value.
// `requestId` and `messageId` are excluded, because they are strings.
const DIGITS_OF_IDS = /"(id|(?!(?:request|message)Id")\w+Id)"\s*:\s*(\d+)(?![\d.eE])/g
const QUOTED_IDS = /"(id|(?!(?:request|message)Id")\w+Id)":"(\d+)"/g
const ID_NAME = /^(?:id|(?!(?:request|message)Id$)\w+Id)$/
/** Decimal digits without a sign or leading zeros, as in JSON. */
const ID = /^(?:0|[1-9]\d{0,18})$/

export function readJson(text: string): unknown {
  return JSON.parse(text.replace(DIGITS_OF_IDS, '"$1":"$2"'))
}

export function writeJson(value: object): string {
  const text = JSON.stringify(value, (name, part: unknown) =>
    ID_NAME.test(name) && part !== undefined ? idText(part) : part,
  )
  return text.replace(QUOTED_IDS, '"$1":$2')
}

/** Writes a query such as `?a=1&b=2`. Skips undefined values. An array becomes one parameter per item, `include` one parameter with commas. */
export function writeQuery(query: object = {}): string {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(query) as [string, IdInput | IdInput[] | undefined][]) {
    const items = Array.isArray(value) ? value : [value]
    for (const item of name === 'include' ? joined(items) : items) {
      if (item !== undefined) parameters.append(name, ID_NAME.test(name) ? idText(item) : String(item))
    }
  }
  const text = String(parameters)
  return text && `?${text}`
}

/** One text, or none without an item. */
function joined(items: readonly (IdInput | undefined)[]): string[] {
  const given = items.filter((item) => item !== undefined)
  return given.length === 0 ? [] : [given.join(',')]
}

/** Returns the digits of an id. Throws on any other value, because it may be rounded or may change the path. */
export function idText(value: unknown): Id {
  const isRounded = typeof value === 'number' && !Number.isSafeInteger(value)
  if (!isRounded && ID.test(String(value))) return String(value)
  const message = isRounded
    ? `The id ${value} is not an integer below 2^53, so JavaScript may have rounded it. Pass a string or a bigint.`
    : `Invalid id: ${JSON.stringify(String(value).slice(0, 40))}.`
  throw new PetstoreError({ code: 'invalid_id', message })
}
