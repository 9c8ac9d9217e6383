// Verifies the webhooks of Petstore (Standard Webhooks 1.0). Uses only Web Crypto, because receivers also run on platforms
// without the modules of Node.
import { readJson } from './ids.ts'
import type { WebhookMessage } from './interface.ts'

export type {
  FutureMessage,
  MessageEntry,
  MessageOrder,
  OrderCancelledMessage,
  OrderCompletedMessage,
  OrderEntryAddedMessage,
  OrderExpiredMessage,
  OrderPlacedMessage,
  OrderUpdatedMessage,
  PetCreatedMessage,
  PetDeletedMessage,
  PetProfileUpdatedMessage,
  PetUpdatedMessage,
  WebhookTestMessage,
  WebhookMessage,
} from './interface.ts'

/** A message, told apart by its `type`. Ignore types that you do not know. */
export type WebhookEvent = WebhookMessage & {
  /** The header `webhook-id`. It is the same in every attempt: store it, and ignore a message whose id you have stored. */
  id: string
}

/** Petstore signs with two secrets at most. More signatures only cost CPU time. */
const SIGNATURES_MAX = 10
/** Petstore sends less than 20 kB. */
const BODY_BYTES_MAX = 65_536
const TOLERANCE_SECONDS = 300
const SECRET_PREFIX = 'whsec_'
const SECRET_BYTES_MIN = 24
const SECRET_BYTES_MAX = 64
/** Decimal digits without a sign or leading zeros: the same number has only one text, which is what is signed. */
const TIMESTAMP = /^(?:0|[1-9]\d{0,14})$/
const HMAC = { name: 'HMAC', hash: 'SHA-256' }

/** `Headers`, or an object such as `request.headers` of Node. The names can be in any case. */
export type WebhookHeaders =
  | { get(name: string): string | null }
  | Record<string, string | readonly string[] | undefined>

export interface VerifyOptions {
  /** Max difference between `webhook-timestamp` and your clock. Default: 300 */
  toleranceSeconds?: number | undefined
  /** Your clock. Default: the system clock */
  now?: (() => Date) | undefined
}

/** The complete list. */
export type WebhookErrorCode =
  /** One of the three `webhook-*` headers is absent: the request is not a webhook, or a proxy removed the header. */
  | 'missing_header'
  /** The header `webhook-timestamp` is not a number of seconds. */
  | 'invalid_timestamp'
  /** The message was sent too long ago. It may be a replay. */
  | 'timestamp_too_old'
  /** The message was sent in the future: one of the two clocks is wrong. */
  | 'timestamp_too_new'
  /** No signature matches. Another sender made the request, the body was changed, or the secret is of another webhook. */
  | 'invalid_signature'
  /** You passed no secret, or a text that is not a secret. */
  | 'invalid_secret'
  /** The body is too large, or you passed parsed JSON. With a valid signature: the body is not a message of Petstore. */
  | 'invalid_body'

export class WebhookVerificationError extends Error {
  override readonly name = 'WebhookVerificationError'
  readonly code: WebhookErrorCode

  constructor(code: WebhookErrorCode, message: string) {
    super(message)
    this.code = code
  }
}

/**
 * Returns the event of a webhook, or throws a `WebhookVerificationError`.
 *
 * Pass the body as it was received. JSON that was parsed and serialized again has another signature.
 * During a rotation of the secret, pass both secrets.
 */
export async function verifyWebhook(
  body: string | Uint8Array | ArrayBuffer,
  headers: WebhookHeaders,
  secrets: string | readonly string[],
  { toleranceSeconds = TOLERANCE_SECONDS, now = () => new Date() }: VerifyOptions = {},
): Promise<WebhookEvent> {
  const keys = readSecrets(secrets)
  const bytes = bytesOf(body)
  const id = readHeader(headers, 'webhook-id')
  const timestamp = readHeader(headers, 'webhook-timestamp')
  const signatures = readSignatures(readHeader(headers, 'webhook-signature'))
  checkTimestamp(timestamp, toleranceSeconds, now())
  const prefix = encode(`${id}.${timestamp}.`)
  // A copy: the caller cannot change the bytes between the verification and the parsing.
  const signed = new Uint8Array(prefix.length + bytes.length)
  signed.set(prefix)
  signed.set(bytes, prefix.length)
  if (!(await matches(signed, signatures, keys))) {
    fail(
      'invalid_signature',
      'No signature matches. Check that the secret is of this webhook, and pass the raw body of the request, not JSON that was parsed and serialized again.',
    )
  }
  return { id, ...readMessage(signed.subarray(prefix.length)) }
}

const encode = (text: string) => new TextEncoder().encode(text)

function fail(code: WebhookErrorCode, message: string): never {
  throw new WebhookVerificationError(code, message)
}

function readSecrets(secrets: string | readonly string[]): Uint8Array<ArrayBuffer>[] {
  const texts: readonly unknown[] = Array.isArray(secrets) ? secrets : [secrets]
  if (texts.length === 0) fail('invalid_secret', 'Pass at least one secret.')
  return texts.map((text) => {
    const isSecret = typeof text === 'string' && text.startsWith(SECRET_PREFIX)
    const key = isSecret ? fromBase64(text.slice(SECRET_PREFIX.length)) : undefined
    if (key !== undefined && key.length >= SECRET_BYTES_MIN && key.length <= SECRET_BYTES_MAX) return key
    // The message must not contain the text: it may be a secret with a typing error, and messages are logged.
    return fail(
      'invalid_secret',
      'A secret is missing or incomplete. Pass all of the text that starts with whsec_, without spaces or line breaks.',
    )
  })
}

function bytesOf(body: string | Uint8Array | ArrayBuffer): Uint8Array {
  const bytes = typeof body === 'string' ? encode(body) : viewOf(body)
  if (bytes === undefined) {
    return fail('invalid_body', 'Pass the raw body of the request as a string or bytes, not the parsed JSON.')
  }
  if (bytes.length <= BODY_BYTES_MAX) return bytes
  return fail('invalid_body', `The body is larger than ${BODY_BYTES_MAX} bytes. Petstore does not send it.`)
}

/** Returns undefined for other values. `instanceof` would be false for bytes of another realm, as in Jest. */
function viewOf(body: Uint8Array | ArrayBuffer): Uint8Array | undefined {
  if (ArrayBuffer.isView(body)) return new Uint8Array(body.buffer, body.byteOffset, body.byteLength)
  const isBuffer = Object.prototype.toString.call(body) === '[object ArrayBuffer]'
  return isBuffer ? new Uint8Array(body) : undefined
}

function readHeader(headers: WebhookHeaders, name: string): string {
  const value =
    typeof headers.get === 'function'
      ? headers.get(name)
      : Object.entries(headers).find(([other]) => other.toLowerCase() === name)?.[1]
  const text = Array.isArray(value) ? value.join(' ') : value
  if (typeof text === 'string' && text !== '') return text
  return fail('missing_header', `The request has no header ${name}. Pass all headers of the request.`)
}

/** Ignores signatures of other versions, such as `v1a`, as the standard requires. */
function readSignatures(header: string): Uint8Array<ArrayBuffer>[] {
  const signatures = header
    .split(' ', SIGNATURES_MAX)
    .map((signature) => (signature.startsWith('v1,') ? fromBase64(signature.slice('v1,'.length)) : undefined))
    .filter((signature) => signature !== undefined)
  if (signatures.length > 0) return signatures
  return fail('invalid_signature', 'The header webhook-signature contains no signature of version v1.')
}

function checkTimestamp(text: string, toleranceSeconds: number, now: Date): void {
  if (!TIMESTAMP.test(text)) {
    fail('invalid_timestamp', 'The header webhook-timestamp is not a number of seconds since 1970.')
  }
  const ageSeconds = Math.floor(now.getTime() / 1000) - Number(text)
  // If the tolerance or the clock is NaN, neither comparison is true, and the message is rejected.
  if (!(ageSeconds <= toleranceSeconds)) {
    fail(
      'timestamp_too_old',
      `The message was sent ${ageSeconds} seconds ago; the limit is ${toleranceSeconds}. Check your clock. Reject the message: it may be a replay.`,
    )
  }
  if (!(-ageSeconds <= toleranceSeconds)) {
    fail(
      'timestamp_too_new',
      `The message was sent ${-ageSeconds} seconds in the future; the limit is ${toleranceSeconds}. Check your clock.`,
    )
  }
}

/** `subtle.verify` compares in constant time. */
async function matches(
  signed: Uint8Array<ArrayBuffer>,
  signatures: readonly Uint8Array<ArrayBuffer>[],
  secrets: readonly Uint8Array<ArrayBuffer>[],
): Promise<boolean> {
  const { subtle } = globalThis.crypto
  for (const secret of secrets) {
    const key = await subtle.importKey('raw', secret, HMAC, false, ['verify'])
    for (const signature of signatures) {
      if (await subtle.verify(HMAC, key, signature, signed)) return true
    }
  }
  return false
}

function readMessage(bytes: Uint8Array): WebhookMessage {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
    const { type, timestamp, data } = readJson(text) as WebhookMessage
    const isMessage = typeof type === 'string' && typeof timestamp === 'string' && typeof data === 'object'
    if (isMessage && data !== null) return { type, timestamp, data } as WebhookMessage
  } catch {
    // Not UTF-8, not JSON, or null.
  }
  return fail('invalid_body', 'The signature is valid, but the body is not a message of Petstore.')
}

/** Returns undefined if the text is not base64. `atob` also accepts spaces, missing padding and unused bits. */
function fromBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    const binary = atob(text)
    return btoa(binary) === text ? Uint8Array.from(binary, (char) => char.charCodeAt(0)) : undefined
  } catch {
    return undefined
  }
}
