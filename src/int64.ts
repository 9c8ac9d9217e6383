// 64-bit ids. JavaScript numbers round above 2^53, so inside the service an id is always a bigint.

export const INT64_MAX = 9_223_372_036_854_775_807n

/** Reads an id written in plain decimal digits; undefined for anything else, however long. */
export function parseId(text: string): bigint | undefined {
  if (!/^[0-9]{1,19}$/.test(text)) return undefined
  return idInRange(BigInt(text))
}

export function idInRange(value: bigint): bigint | undefined {
  return value >= 1n && value <= INT64_MAX ? value : undefined
}
