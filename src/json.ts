// JSON with every digit of every integer: beyond 2^53 a number becomes a bigint, and back.

type Reviver = (key: string, value: unknown, context: { source?: string }) => unknown
// TypeScript does not know yet that a reviver is told the source text, nor rawJSON.
const parseWithSource = JSON.parse as (text: string, reviver: Reviver) => unknown
const { rawJSON } = JSON as unknown as { rawJSON: (text: string) => unknown }

/**
 * Only a number of 16 digits or more can be rounded, and only one with an exponent like -400 becomes 0. Looking for
 * them costs a fiftieth of a reviver.
 */
const MAY_BE_ROUNDED = /\d[\d.]{15}|\d[eE]-\d{3}/

export function parseJson(text: string): unknown {
  return MAY_BE_ROUNDED.test(text) ? parseWithSource(text, keepDigits) : JSON.parse(text)
}

export function stringifyJson(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) =>
    typeof part === 'bigint' ? rawJSON(String(part)) : part,
  )
}

/** Integers beyond 2^53 become bigints; a fraction so small that it was rounded away becomes no number. */
function keepDigits(_key: string, value: unknown, { source }: { source?: string }): unknown {
  if (typeof value !== 'number' || source === undefined) return value
  if (Number.isSafeInteger(value)) return isWhole(source) ? value : Number.NaN
  return /^-?\d+$/.test(source) ? BigInt(source) : value
}

function isWhole(source: string): boolean {
  const [mantissa = '', exponent = '0'] = source.toLowerCase().split('e')
  const [whole = '', fraction = ''] = mantissa.replace('-', '').split('.')
  const pointAt = Math.max(0, whole.length + Number(exponent))
  return /^0*$/.test((whole + fraction).slice(pointAt))
}
