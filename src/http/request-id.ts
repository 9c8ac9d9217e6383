// The name of a request: the caller's own, when it is safe to repeat, or a new one.
import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'

const SAFE = /^[A-Za-z0-9._:/+=@-]{1,128}$/
/** A request id is logged and answered; a key that was put there by mistake must be neither. */
const API_KEY = /petstore_(live|test)_/i

export function requestId({ headers }: Pick<IncomingMessage, 'headers'>): string {
  const sent = headers['x-request-id']
  return typeof sent === 'string' && SAFE.test(sent) && !API_KEY.test(sent) ? sent : randomUUID()
}
