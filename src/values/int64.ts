// 64-bit ids. JavaScript rounds numbers above 2^53, so the service represents every id as a bigint.

export const INT64_MAX = 9_223_372_036_854_775_807n

/** src/http/validation.ts checks the exact range; openapi.json shows `format: int64`. */
export const INT64_SCHEMA = { type: 'integer', format: 'int64', minimum: 1 } as const

/** Parses an id in plain decimal digits. Returns undefined for any other text, of any length. */
export function parseId(text: string): bigint | undefined {
  if (!/^[0-9]{1,19}$/.test(text)) return undefined
  return idInRange(BigInt(text))
}

export function idInRange(value: bigint): bigint | undefined {
  return value >= 1n && value <= INT64_MAX ? value : undefined
}
