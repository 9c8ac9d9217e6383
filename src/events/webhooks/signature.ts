// Secrets and signatures of webhooks, as Standard Webhooks 1.0 defines them.
import { createHmac, randomBytes } from 'node:crypto'

const SECRET_PREFIX = 'whsec_'
const SECRET_BYTES = 32
/** The limits of Standard Webhooks. */
const SECRET_BYTES_MIN = 24
const SECRET_BYTES_MAX = 64

export interface SignedMessage {
  id: string
  /** Seconds since 1970 of this attempt. */
  timestamp: number
  /** Exactly the text that is sent: the receiver verifies its bytes before it parses them. */
  body: string
}

/** Returns the header `webhook-signature`, with one signature for each secret. */
export function signMessage({ id, timestamp, body }: SignedMessage, secrets: readonly Buffer[]): string {
  return secrets
    .map((secret) => createHmac('sha256', secret).update(`${id}.${timestamp}.${body}`).digest('base64'))
    .map((signature) => `v1,${signature}`)
    .join(' ')
}

/** The headers of an attempt to deliver a message, with the time of this attempt. */
export function messageHeaders(id: string, body: string, secrets: readonly Buffer[]) {
  const timestamp = Math.floor(Date.now() / 1_000)
  return {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signMessage({ id, timestamp, body }, secrets),
  }
}

export function makeSecret(): Buffer {
  return randomBytes(SECRET_BYTES)
}

export function writeSecret(secret: Buffer): string {
  return SECRET_PREFIX + secret.toString('base64')
}

/** Returns undefined if the text is not exactly what `writeSecret` returns for 24 to 64 bytes. */
export function readSecret(text: string): Buffer | undefined {
  const secret = Buffer.from(text.slice(SECRET_PREFIX.length), 'base64')
  const hasValidLength = secret.length >= SECRET_BYTES_MIN && secret.length <= SECRET_BYTES_MAX
  // Buffer.from ignores characters that are not base64.
  return hasValidLength && writeSecret(secret) === text ? secret : undefined
}
