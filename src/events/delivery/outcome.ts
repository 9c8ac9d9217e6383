// The result of sending a webhook, as it is stored and shown to callers. It contains no address and no text of the system
// or of the receiver. Otherwise callers could use the service to explore networks.

export const FAILURE_REASONS = [
  /** No response within the timeout. This includes the time to resolve the name, to connect and to wait for a connection. */
  'timeout',
  /** The host name has no address, or DNS is unavailable. */
  'dns_failed',
  /** An address of the host is not allowed. No connection was opened. */
  'address_blocked',
  'connection_refused',
  /** The network has no route to the host. */
  'unreachable',
  /** The connection was closed before the response. */
  'connection_lost',
  /** The certificate is not valid for the host, or there was no TLS handshake. */
  'tls_failed',
  /** The response is not HTTP/1.1, or its headers are too large. */
  'malformed_response',
  /** The URL or a header cannot be sent. */
  'invalid_request',
  /** The caller of `send` cancelled the request, or the sender was closed. */
  'aborted',
] as const

export type FailureReason = (typeof FAILURE_REASONS)[number]

export type SendOutcome =
  /** `durationMs` ends when the headers of the response arrive. Redirects are responses too: they are not followed. */
  | { kind: 'response'; status: number; retryAfterSeconds?: number; durationMs: number }
  | { kind: 'failure'; reason: FailureReason; durationMs: number }

/** Why a message was not sent at all. */
interface Skipped {
  kind: 'failure'
  reason: 'not_stored' | 'not_subscribed'
  durationMs: 0
}

export const NOT_STORED: Skipped = { kind: 'failure', reason: 'not_stored', durationMs: 0 }
export const NOT_SUBSCRIBED: Skipped = { kind: 'failure', reason: 'not_subscribed', durationMs: 0 }

export type AttemptOutcome = SendOutcome | Skipped
