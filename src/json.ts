// Parses and serialises JSON without losing digits of integers: an integer beyond 2^53 becomes a bigint, and back.

// Missing in TypeScript's types.
const { rawJSON } = JSON as unknown as { rawJSON: (text: string) => unknown }

/**
 * Only a number of 16 digits or more can be rounded, and only one with an exponent such as -400 becomes 0. This check
 * takes a fiftieth of the time of exact parsing.
 */
const MAY_BE_ROUNDED = /(?<![\d.])\d[\d.]{15}|\d[eE]-\d{3}/

/** Matches numbers that may be rounded, and strings, to skip them. Also matches unclosed strings, to stay linear. */
const STRING_OR_LONG_NUMBER =
  /"[^"\\]*(?:\\[^]?[^"\\]*)*"?|-?(?=\d[\d.]{15}|[\d.]+[eE](?:-\d{3}|[+-]?\d{16}))(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/g

/** Longer integers are never converted to BigInt: a million digits take 150 ms. */
const INT64_DIGITS = /^-?\d{1,19}$/

const NUMBER = /^-?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/

export function parseJson(text: string): unknown {
  return MAY_BE_ROUNDED.test(text) ? parseExactly(text) : JSON.parse(text)
}

export function stringifyJson(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) =>
    typeof part === 'bigint' ? rawJSON(String(part)) : part,
  )
}

/**
 * Replaces each number that may be rounded with a placeholder, parses, and puts the exact numbers back. A reviver with
 * source text access is simpler, but takes up to 4 µs per value: 2 s for a body of 1 MiB.
 */
function parseExactly(text: string): unknown {
  const exact: (number | bigint)[] = []
  const withPlaceholders = text.replace(STRING_OR_LONG_NUMBER, (token) => {
    if (token.startsWith('"')) return token
    exact.push(readNumber(token))
    // Keeps the sign: `--1` must stay invalid.
    return (token.startsWith('-') ? '-' : '') + exact.length * Number.MIN_VALUE
  })
  return exact.length === 0 ? JSON.parse(text) : restore(JSON.parse(withPlaceholders), exact)
}

/** Iterative, because a deeply nested body would overflow the stack. */
function restore(parsed: unknown, exact: (number | bigint)[]): unknown {
  const root = [parsed]
  const unvisited: unknown[][] = [root]
  for (let values = unvisited.pop(); values !== undefined; values = unvisited.pop()) {
    const keys = Array.isArray(values) ? undefined : Object.keys(values)
    const count = keys?.length ?? values.length
    for (let index = 0; index < count; index += 1) {
      const key = (keys?.[index] ?? index) as number
      const value = values[key]
      if (typeof value === 'object' && value !== null) unvisited.push(value as unknown[])
      else if (isPlaceholder(value)) values[key] = exact[Math.abs(value) / Number.MIN_VALUE - 1]
    }
  }
  return root[0]
}

/** Unambiguous, because every nonzero number this small in the text was replaced with a placeholder. */
function isPlaceholder(value: unknown): value is number {
  return typeof value === 'number' && value !== 0 && Math.abs(value) < 1e-300
}

/** The exact value; NaN for a fraction that rounds to an integer and for an integer longer than any int64. */
function readNumber(source: string): number | bigint {
  const value = Number(source)
  if (Number.isSafeInteger(value)) return isWhole(source) ? value : Number.NaN
  if (INT64_DIGITS.test(source)) return BigInt(source)
  return /^-?\d+$/.test(source) ? Number.NaN : value
}

function isWhole(source: string): boolean {
  const [, whole = '', fraction = '', exponent = '0'] = NUMBER.exec(source) ?? []
  const pointAt = Math.max(0, whole.length + Number(exponent))
  return /^0*$/.test((whole + fraction).slice(pointAt))
}
