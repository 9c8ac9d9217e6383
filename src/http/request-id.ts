// The id of a request: the client's X-Request-Id if it is safe to log and to return, otherwise a new one.
import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'

const SAFE = /^[A-Za-z0-9._:/+=@-]{1,128}$/
/** Matches an API key that was sent as the request id by mistake. It must not be logged or returned. */
const API_KEY = /petstore_(live|test)_/i

/** Also finds a key in a path with URL encoding. */
export function containsApiKey(text: string): boolean {
  return API_KEY.test(text) || (text.includes('%') && API_KEY.test(decoded(text)))
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

export function requestId({ headers }: Pick<IncomingMessage, 'headers'>): string {
  const sent = headers['x-request-id']
  return typeof sent === 'string' && SAFE.test(sent) && !API_KEY.test(sent) ? sent : randomUUID()
}
