// Entity tags (RFC 9110): the version of a resource as an ETag, and the If-Match header.
import { Type } from 'typebox'

export const IfMatchHeaders = Type.Object({
  'if-match': Type.Optional(
    Type.String({
      description:
        'The `ETag` of the pet as you read it. If the pet has changed since, the service returns 412 and changes nothing.',
    }),
  ),
})

export function etag(version: number): string {
  return `"${version}"`
}

/** Returns a function that checks whether If-Match lists a version. Without the header, every version matches. */
export function ifMatch(header: string | undefined): (version: number) => boolean {
  if (header === undefined || header.trim() === '*') return () => true
  const tags = new Set(header.split(',').map((tag) => tag.trim()))
  return (version) => tags.has(etag(version))
}
