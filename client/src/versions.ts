// Versions of pets, profiles and settings: the `etag` of a response, and the option `ifMatch` of a change.
import type { CallOptions } from './call.ts'

export interface Versioned {
  etag: string
}

export interface IfMatchOptions extends CallOptions {
  /** The `etag` that you read. After a change since then, the call fails with `precondition_failed`. */
  ifMatch?: string | undefined
}

/** Whether only one version matches. With `*` or a list, a retry could match a later version and overwrite it. */
export function isOneVersion(ifMatch = ''): boolean {
  return /^"[^"]*"$/.test(ifMatch)
}

export function versioned<Value>({ value, headers }: { value: Value; headers: Headers }): Value & Versioned {
  // An empty ETag matches no version. If the header is missing, a change with `ifMatch` fails instead of overwriting.
  return { ...value, etag: headers.get('etag') ?? '' }
}
