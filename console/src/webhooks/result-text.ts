// What a receiver did with a message, and what to do if it failed, in plain words.
import type { Delivery } from '@petstore/client'
import { inText, SOON } from '../layout/when-text.ts'
import { clockText } from '../layout/hold-time.ts'

export interface Explanation {
  /** What happened, such as "Responds with 500". */
  what: string
  /** Why, and what to do. */
  advice: string
}

type Result = Pick<Delivery, 'outcome' | 'responseStatus' | 'failure'>

/** By the reason of the service for having no response. */
const FAILURES: Record<string, Explanation> = {
  timeout: {
    what: 'No response within 15 seconds',
    advice:
      'The receiver is too slow, or a firewall drops the connection. It must respond first, and do slow work afterwards.',
  },
  dns_failed: {
    what: 'Host name not found',
    advice: 'Check the address for typing mistakes, and that the name of the host exists in the DNS.',
  },
  address_blocked: {
    what: 'Address not allowed',
    advice:
      'The host is in a private network. Use a public address, or ask the operator to allow the network (WEBHOOK_NETWORKS).',
  },
  connection_refused: {
    what: 'No connection: refused',
    advice:
      'No program listens at this address. Start the receiver, and check the port and the firewall of its server.',
  },
  unreachable: {
    what: 'No connection: server not reachable',
    advice: 'Check that the server of the receiver is on, and that the network lets the service reach it.',
  },
  connection_lost: {
    what: 'Connection closed without a response',
    advice:
      'The receiver, or a proxy in front of it, has crashed or closed the connection. Look into its log.',
  },
  tls_failed: {
    what: 'Certificate not valid',
    advice:
      'The certificate has expired, belongs to another host name, or its chain is not complete. Renew or correct it.',
  },
  malformed_response: {
    what: 'Response is not valid HTTP',
    advice: 'Another program than the receiver listens at this address. Check the address and the port.',
  },
  invalid_request: {
    what: 'Address cannot be used',
    advice: 'Edit the webhook and enter its address again.',
  },
  aborted: {
    what: 'Interrupted',
    advice: 'The service was stopped during the attempt. It tries again.',
  },
  not_stored: {
    what: 'Not sent: too old',
    advice: 'The service no longer stores the event. Read the pet itself instead.',
  },
  not_subscribed: {
    what: 'Not sent: not chosen',
    advice: 'The webhook no longer gets events of this type. Edit it to choose the type again.',
  },
}

/** By the status of the response. The first one that contains the status applies. */
const STATUSES: { from: number; to: number; advice: string }[] = [
  {
    from: 300,
    to: 399,
    advice:
      'The receiver redirects to another address, which the service does not follow. Enter the final address.',
  },
  {
    from: 401,
    to: 403,
    advice:
      'The receiver rejects the sender. Check that it uses the secret of this webhook, and that no login protects the address.',
  },
  {
    from: 404,
    to: 405,
    advice: 'The server has no receiver at this address. Check the path at the end of the address.',
  },
  {
    from: 410,
    to: 410,
    advice: 'The receiver wants no more messages, so the service has paused the webhook.',
  },
  {
    from: 429,
    to: 429,
    advice:
      'The receiver gets more messages than it wants. The service slows down by itself: there is nothing to do.',
  },
  {
    from: 400,
    to: 499,
    advice:
      'The receiver rejects the message. Often its secret is wrong: rotate the secret and enter the new one. Its log says more.',
  },
  {
    from: 502,
    to: 504,
    advice: 'The receiver is down, restarting or overloaded. Start it, and look into its log.',
  },
  {
    from: 500,
    to: 599,
    advice: 'The program of the receiver has an error. Its developers find it in the log of the receiver.',
  },
]

/** What went wrong. Undefined for a delivered message. */
export function explain({ outcome, responseStatus, failure }: Result): Explanation | undefined {
  if (outcome === 'delivered') return undefined
  if (responseStatus === undefined) {
    return (
      FAILURES[failure ?? ''] ?? { what: failure ?? 'Failed', advice: 'Look into the log of the receiver.' }
    )
  }
  const known = STATUSES.find(({ from, to }) => responseStatus >= from && responseStatus <= to)
  return {
    what: `Responds with ${responseStatus}`,
    advice: known?.advice ?? 'The receiver must respond with a status from 200 to 299.',
  }
}

const OUTCOMES: Record<string, string> = {
  delivered: 'Delivered',
  failed: 'Failed',
  given_up: 'Given up',
  skipped: 'Skipped',
}

/** The service can add outcomes that this page does not know. */
export function outcomeText(outcome: string): string {
  return OUTCOMES[outcome] ?? outcome
}

/** Such as "Responds with 204 after 38 ms". */
export function resultText(delivery: Result & Pick<Delivery, 'durationMs'>): string {
  const what = explain(delivery)?.what ?? `Responds with ${delivery.responseStatus}`
  return delivery.responseStatus === undefined ? what : `${what} after ${durationText(delivery.durationMs)}`
}

function durationText(ms: number): string {
  return ms < 1_000 ? `${ms} ms` : `${(ms / 1_000).toFixed(1)} s`
}

/** When the message is sent again, such as "in 4 minutes (at 14:32)". Undefined if it is not. */
export function nextTryText({ nextAttemptAt }: Delivery, nowMs: number): string | undefined {
  if (nextAttemptAt === undefined) return undefined
  const text = inText(nextAttemptAt, nowMs)
  return text === SOON ? text : `${text} (at ${clockText(nextAttemptAt, nowMs)})`
}
