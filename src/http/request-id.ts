// The name of a request: the caller's own, when it is safe to repeat, or a new one.
import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'

const SAFE = /^[A-Za-z0-9._:/+=@-]{1,128}$/

export function requestId({ headers }: Pick<IncomingMessage, 'headers'>): string {
  const sent = headers['x-request-id']
  return typeof sent === 'string' && SAFE.test(sent) ? sent : randomUUID()
}
