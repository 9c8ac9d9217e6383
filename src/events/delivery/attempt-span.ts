// The span of an attempt to deliver a message, named by the stable conventions of OpenTelemetry for HTTP clients.
// It contains the scheme, host and port of the receiver, and nothing of the message.
import { type Attributes, endSpan, type Trace, type Tracing } from '../../telemetry/tracing/tracing.ts'
import type { LeasedWebhook } from './lease-queries.ts'
import type { Message } from './message.ts'
import type { AttemptOutcome } from './outcome.ts'

/** Stands for the path and the query of a URL. A path can be a secret, as in the incoming webhooks of Slack. */
const REDACTED = '/REDACTED'

/** Every attempt is a trace of its own. */
export function startAttemptSpan(tracing: Tracing, message: Message, webhook: LeasedWebhook) {
  return tracing.startOutgoing('POST', () => attributesOf(message, webhook))
}

function attributesOf({ attempts }: Message, { id, url }: LeasedWebhook): Attributes {
  const target = URL.canParse(url) ? new URL(url) : undefined
  return {
    'http.request.method': 'POST',
    'url.full': target && target.origin + REDACTED,
    'server.address': target?.hostname,
    'server.port': target && Number(target.port || (target.protocol === 'https:' ? 443 : 80)),
    // `attempts` does not count this one yet.
    'http.request.resend_count': attempts === 0 ? undefined : attempts,
    'petstore.webhook_id': String(id),
  }
}

export function endAttemptSpan({ span }: Trace, outcome: AttemptOutcome): void {
  if (span === undefined) return
  if (outcome.kind === 'failure') return endSpan(span, outcome.reason)
  span.setAttribute('http.response.status_code', outcome.status)
  endSpan(span, outcome.status >= 400 ? String(outcome.status) : undefined)
}
