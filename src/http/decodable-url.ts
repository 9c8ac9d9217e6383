// Rewrites URLs that the router would misread, so that routing and validation can reject them.
import { isUtf8 } from 'node:buffer'

const BROKEN_ESCAPE = /%(?![\da-fA-F]{2})/
const ESCAPES = /(?:%[\da-fA-F]{2})+/g

/**
 * Escapes every `%` of a path with invalid percent-encoding, so that the path is not found. Sets an invalid query
 * parameter to NUL, so that validation rejects it by name.
 */
export function makeDecodable(url: string): string {
  // The target `*` is no path, but the router would read it as `/`.
  if (url === '*') return '/*'
  if (!url.includes('%') || isDecodable(url)) return url
  const [path = '', ...query] = url.split('?')
  const decodablePath = isDecodable(path) ? path : path.replaceAll('%', '%25')
  const decodableQuery = query
    .join('?')
    .replaceAll(/[^&]+/g, (pair) => (isDecodable(pair) ? pair : pair.replace(/=.*/s, '=%00')))
  return query.length === 0 ? decodablePath : `${decodablePath}?${decodableQuery}`
}

/**
 * Returns true if decodeURIComponent accepts the text. Calling decodeURIComponent would be too slow, because it throws:
 * one URL of 16 KiB caused 8,000 errors, which took 20 ms before the API key was checked.
 */
export function isDecodable(part: string): boolean {
  if (BROKEN_ESCAPE.test(part)) return false
  return (part.match(ESCAPES) ?? []).every((run) => isUtf8(Buffer.from(run.replaceAll('%', ''), 'hex')))
}
