// Ids are 64-bit integers on the wire, and JSON.parse rounds those beyond 2^53. Here they are text: digits are
// quoted before they are parsed, and unquoted after a body was written. An id is told by its name.
import { PetstoreError } from './errors.ts'
import type { Id, IdInput } from './interface.ts'

// Inside a string JSON writes a quote as \", so that no text of an animal is ever taken for a field.
// A requestId is text, and no id in this sense.
const DIGITS_OF_IDS = /"(id|(?!requestId")\w+Id)"\s*:\s*(\d+)(?![\d.eE])/g
const QUOTED_IDS = /"(id|(?!requestId")\w+Id)":"(\d+)"/g
const ID_NAME = /^(?:id|(?!requestId$)\w+Id)$/
/** As JSON writes it: without a sign, without a zero in front. */
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

/** `?a=1&b=2` of whatever is not undefined; a list gives one parameter for each of its items. */
export function writeQuery(query: object = {}): string {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(query) as [string, IdInput | IdInput[] | undefined][]) {
    for (const item of Array.isArray(value) ? value : [value]) {
      if (item !== undefined) parameters.append(name, ID_NAME.test(name) ? idText(item) : String(item))
    }
  }
  const text = String(parameters)
  return text && `?${text}`
}

/** The digits of an id. Anything else is refused here: it must neither be rounded nor become another path. */
export function idText(value: unknown): Id {
  const isRounded = typeof value === 'number' && !Number.isSafeInteger(value)
  if (!isRounded && ID.test(String(value))) return String(value)
  const message = isRounded
    ? `The id ${value} is no integer below 2^53, so JavaScript may have rounded it: give it as text or as a bigint.`
    : `Not an id: ${JSON.stringify(String(value).slice(0, 40))}.`
  throw new PetstoreError({ code: 'invalid_id', message })
}
