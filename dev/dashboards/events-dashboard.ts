// The dashboard of the event feed and the webhooks.
import { BytesIEC, CountsPerSecond, Seconds, Short } from '@grafana/grafana-foundation-sdk/units'
import type { DashboardSpec } from './dashboard.ts'
import { of, quantile, rate, sumBy } from './expressions.ts'
import { stat, timeSeries } from './panels.ts'

const ENTRY = 'Events or webhooks are late'
const FEED_AGE = { warn: 5 }
const WEBHOOK_LAG = { warn: 60 }
const ATTEMPTS = 'petstore_webhook_attempt_seconds'

/** As in the alert: an instance that cannot read from PostgreSQL keeps its last value, so the min counts. */
const AGE = `min(${of('petstore_events_unnumbered_seconds')})`
const EVENTS_PER_SECOND = `max(${rate('petstore_events_newest_number')})`
const LAG = of('petstore_webhook_lag_seconds')
/** All processes read the same number of enabled and disabled webhooks. Each counts the failing ones that it delivers. */
const webhooks = (state: string, aggregate = 'max') =>
  `${aggregate}(${of('petstore_webhooks', `state="${state}"`)})`

const top = [
  stat({
    title: 'Age of the feed',
    shows: 'The age of the oldest change that is not in the event feed yet.',
    good: 'below 1 s.',
    alert: 'PetstoreFeedLate',
    unit: Seconds,
    width: 4,
    limits: FEED_AGE,
    queries: [{ expr: AGE, legend: 'age' }],
  }),
  stat({
    title: 'Events',
    shows: 'New events per second.',
    good: 'the usual value for this time of day.',
    entry: ENTRY,
    unit: CountsPerSecond,
    width: 4,
    queries: [{ expr: EVENTS_PER_SECOND, legend: 'events' }],
  }),
  stat({
    title: 'Open event streams',
    shows: 'Clients that follow the events, over all instances.',
    good: 'the number of programs that follow the store.',
    entry: 'Too many requests',
    unit: Short,
    width: 4,
    queries: [{ expr: `sum(${of('petstore_event_streams')})`, legend: 'streams' }],
  }),
  stat({
    title: 'Largest webhook lag',
    shows:
      'The age of the oldest event that a webhook has not received, for the webhook that is furthest behind.',
    good: 'below 1 s.',
    alert: 'PetstoreWebhookLate',
    unit: Seconds,
    width: 4,
    none: 'no webhook',
    limits: WEBHOOK_LAG,
    queries: [{ expr: `max(${LAG})`, legend: 'lag' }],
  }),
  stat({
    title: 'Failing webhooks',
    shows: 'Webhooks whose receiver fails now.',
    good: '0.',
    entry: ENTRY,
    unit: Short,
    width: 4,
    none: 'no delivery',
    limits: { warn: 1 },
    queries: [{ expr: webhooks('failing', 'sum'), legend: 'failing' }],
  }),
  stat({
    title: 'Disabled webhooks',
    shows:
      'Webhooks that get no events: an operator or their receiver disabled them, or they failed for 3 days.',
    good: '0, or those that you disabled.',
    entry: ENTRY,
    unit: Short,
    width: 4,
    none: 'no delivery',
    limits: { warn: 1 },
    queries: [{ expr: webhooks('disabled'), legend: 'disabled' }],
  }),
]

const feed = [
  timeSeries({
    title: 'Age of the feed, by instance',
    shows: 'The age of the oldest change that is not in the event feed yet, as each instance reads it.',
    good: 'below 1 s. One instance numbers the events. If all lines grow, none can.',
    alert: 'PetstoreFeedLate',
    unit: Seconds,
    width: 8,
    softMax: 12,
    limits: FEED_AGE,
    queries: [{ expr: of('petstore_events_unnumbered_seconds'), legend: '{{instance}}' }],
  }),
  timeSeries({
    title: 'New events per second',
    shows: 'How fast the number of the newest event grows.',
    good: 'follows the changes of pets and orders. 0 while clients change pets means that the feed has stopped.',
    entry: ENTRY,
    unit: CountsPerSecond,
    width: 8,
    queries: [{ expr: EVENTS_PER_SECOND, legend: 'events' }],
  }),
  timeSeries({
    title: 'Open event streams, by instance',
    shows: 'Clients that follow the events. EVENT_STREAMS_MAX is the limit of an instance, 1000 by default.',
    good: 'spread over the instances. A drop to 0 and a rise elsewhere: the clients have reconnected.',
    entry: 'Too many requests',
    unit: Short,
    width: 8,
    queries: [{ expr: of('petstore_event_streams'), legend: '{{instance}}' }],
  }),
  timeSeries({
    title: 'Failed reads of event streams',
    shows:
      'How often open streams could not read events, or whether their keys are valid (api_keys). They retry.',
    good: '0. It rises while the database is unreachable; the log of the service shows the reason.',
    entry: 'PostgreSQL is unreachable',
    unit: Short,
    width: 8,
    queries: [
      {
        expr: sumBy('read', `increase(${of('petstore_event_stream_failures_total')}[5m])`),
        legend: '{{read}}',
      },
    ],
  }),
]

const deliveries = [
  timeSeries({
    title: 'Lag, by webhook',
    shows:
      'The age of the oldest event that each webhook has not received. The name is the id of the webhook.',
    good: 'below 1 s. One webhook grows: its receiver fails or is slow. All grow: `petstore deliver` does not run.',
    alert: 'PetstoreWebhookLate',
    unit: Seconds,
    width: 8,
    limits: WEBHOOK_LAG,
    queries: [{ expr: `max by (webhook) (${LAG})`, legend: 'webhook {{webhook}}' }],
  }),
  timeSeries({
    title: 'Attempts per second, by outcome',
    shows:
      'delivered: the receiver accepted the message. failed: it is retried. given_up: it is not. skipped: the event is no longer stored.',
    good: 'mostly delivered, about as many as new events for each webhook.',
    entry: ENTRY,
    unit: CountsPerSecond,
    width: 8,
    queries: [{ expr: sumBy('outcome', rate(`${ATTEMPTS}_count`)), legend: '{{outcome}}' }],
  }),
  timeSeries({
    title: 'Duration of attempts, p99',
    shows: 'How long receivers take to respond, by the outcome.',
    good: 'below 1 s. Failed attempts of about 15 s are timeouts of the receiver.',
    entry: ENTRY,
    unit: Seconds,
    width: 8,
    queries: [{ expr: quantile(0.99, ATTEMPTS, { by: 'outcome' }), legend: '{{outcome}}' }],
  }),
  timeSeries({
    title: 'Webhooks, by state',
    shows: 'Enabled, disabled and failing webhooks.',
    good: 'no failing ones. A failing webhook that becomes disabled needs its owner.',
    entry: ENTRY,
    unit: Short,
    width: 12,
    queries: [
      { expr: webhooks('enabled'), legend: 'enabled' },
      { expr: webhooks('disabled'), legend: 'disabled' },
      { expr: webhooks('failing', 'sum'), legend: 'failing' },
    ],
  }),
  timeSeries({
    title: 'Attempts in flight',
    shows: 'Messages that were sent and have no response yet, for each process of `petstore deliver`.',
    good: 'few. Many at once mean slow receivers.',
    entry: ENTRY,
    unit: Short,
    width: 12,
    queries: [{ expr: of('petstore_webhook_attempts_in_flight'), legend: '{{instance}}' }],
  }),
  timeSeries({
    title: 'Memory for the delivery',
    shows:
      'Waiting messages, messages in flight and events in memory, for each process of `petstore deliver`, and the max.',
    good: 'below the max. Near it, many receivers are down or slow, and events are read again when they are sent.',
    entry: ENTRY,
    unit: BytesIEC,
    width: 24,
    queries: [
      { expr: sumBy('instance', of('petstore_webhook_memory_bytes')), legend: '{{instance}}' },
      { expr: `max(${of('petstore_webhook_memory_max_bytes')})`, legend: 'max' },
    ],
  }),
]

export const EVENTS: DashboardSpec = {
  name: 'events',
  title: 'Petstore: events and webhooks',
  description: 'Do changes reach the event feed, and do the receivers of webhooks get them?',
  top,
  rows: [
    { title: 'Event feed', panels: feed },
    { title: 'Webhooks', panels: deliveries },
  ],
}
