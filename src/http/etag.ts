// Entity tags (RFC 9110): the version of a resource as an ETag, and the If-Match header.
import { hash } from 'node:crypto'
import { Type } from 'typebox'
import { AppError } from '../contract/errors.ts'
import { emptyResponse } from './operation.ts'

const WEAK =
  'If-Match has a weak ETag, which never matches. Send the ETag as the service returned it, without W/; a proxy may have added it.'

type Resource = 'pet' | 'profile' | 'settings'

export const ifMatchHeaders = (resource: Resource) =>
  Type.Object({
    'if-match': Type.Optional(
      Type.String({
        'x-etags': true,
        description: `The \`ETag\` with which you read the ${resource}, in its quotes. After a change since then, the service returns 412 and changes nothing.`,
      }),
    ),
  })

export function etag(version: number): string {
  return `"${version}"`
}

const HASH_LENGTH = 22

/**
 * The entity tag of a pet with included fields, which can change without the version of the pet: the version, and a hash of the
 * text. As a precondition of a change of the pet, only the version counts.
 */
export function etagIncluding({ json, version }: { json: string; version: number }): string {
  return `"${version}-${hash('sha256', json, 'base64url').slice(0, HASH_LENGTH)}"`
}

export function etagOfText(text: string): string {
  return `"${hash('sha256', text, 'base64url').slice(0, HASH_LENGTH)}"`
}

/** Of a read of one thing. */
export const IfNoneMatchHeaders = Type.Object({
  'if-none-match': Type.Optional(
    Type.String({
      'x-etags': true,
      description:
        'The `ETag` of what you have, in its quotes. If it has not changed since, the service returns 304 without a body.',
    }),
  ),
})
/** The response to a read with If-None-Match. */
export const NOT_MODIFIED = { 304: emptyResponse('Not changed since the `ETag` in `If-None-Match`.') }
/** Of a response without a version. */
export const HASH_HEADERS = { ETag: 'Changes with the response. For `If-None-Match`.' }

/** Whether If-None-Match contains the ETag, according to the weak comparison (RFC 9110). */
export function isKnownTag(header: string | undefined, current: string): boolean {
  if (header === undefined) return false
  const opaque = (tag: string) => tag.trim().replace(/^W\//, '')
  return header.trim() === '*' || header.split(',').some((tag) => opaque(tag) === opaque(current))
}

/** Whether a text has the form of If-Match: `*`, or a list of entity tags. An empty list matches no version. */
export function isEntityTagList(text: string): boolean {
  return text.trim() === '*' || /^[ \t,]*$/.test(text.replaceAll(/(?:W\/)?"[^"]*"/g, ''))
}

/** Returns a function that checks whether If-Match lists a version. Without the header, every version matches. */
export function ifMatch(header: string | undefined, resource: Resource): (version: number) => boolean {
  if (header === undefined || header.trim() === '*') return () => true
  const tags = new Set(
    header.split(',').map((tag) => (resource === 'pet' ? withoutHash(tag.trim()) : tag.trim())),
  )
  const isWeak = [...tags].every((tag) => tag.startsWith('W/'))
  return (version) => {
    // RFC 9110: a weak ETag never matches. The usual message would send the client into a loop of reads and retries.
    if (isWeak) throw new AppError('precondition_failed', { message: WEAK })
    return tags.has(etag(version))
  }
}

function withoutHash(tag: string): string {
  return tag.replace(/^("\d+)-[\w-]{22}"$/, '$1"')
}
