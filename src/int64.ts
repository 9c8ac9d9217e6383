// 64-bit ids. JavaScript numbers round above 2^53, so inside the service an id is always a bigint.
import { Type } from 'typebox'

export const INT64_MAX = 9_223_372_036_854_775_807n

/** An id in any body, query or path. validation.ts gives it its exact range; the document says format int64. */
export const Int64 = Type.Unsafe<bigint>({ type: 'integer', format: 'int64', minimum: 1 })

/** Reads an id written in plain decimal digits; undefined for anything else, however long. */
export function parseId(text: string): bigint | undefined {
  if (!/^[0-9]{1,19}$/.test(text)) return undefined
  return idInRange(BigInt(text))
}

export function idInRange(value: bigint): bigint | undefined {
  return value >= 1n && value <= INT64_MAX ? value : undefined
}
