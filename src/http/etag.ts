// Versions as entity tags (RFC 9110): what an answer carries, and what If-Match asks for.
import { Type } from 'typebox'

export const IfMatchHeaders = Type.Object({
  'if-match': Type.Optional(
    Type.String({ description: 'An `ETag` of the animal: changed since, it is 412 and nothing happens.' }),
  ),
})

export function etag(version: number): string {
  return `"${version}"`
}

/** Whether a version is one of those that the header names; any will do without it. */
export function ifMatch(header: string | undefined): (version: number) => boolean {
  if (header === undefined || header.trim() === '*') return () => true
  const tags = new Set(header.split(',').map((tag) => tag.trim()))
  return (version) => tags.has(etag(version))
}
