// The dashboard of the store: holds, sales, batches, sign-ins, API keys and backups.
import { BigValueTextMode } from '@grafana/grafana-foundation-sdk/common'
import { MappingType, type RangeMap, type ValueMap } from '@grafana/grafana-foundation-sdk/dashboard'
import { CountsPerSecond, Seconds, Short } from '@grafana/grafana-foundation-sdk/units'
import { ALERTS, DAY_SECONDS } from '../../src/telemetry/alerts.ts'
import type { DashboardSpec } from './dashboard.ts'
import { aboveZero, mean, of, quantile, rate, sumBy } from './expressions.ts'
import { stat, timeSeries } from './panels.ts'

const OVERDUE_WARN_SECONDS = 5
/** An age since 1970 means that there was no check. */
const NEVER_SECONDS = 1e9

const daysOf = (alert: 'PetstoreApiKeyExpires' | 'PetstoreRemovalNear') => ALERTS[alert].limit / DAY_SECONDS
/** Every process reports the same value, so the max is the value of the store. */
const holds = (state: string) => `max(${of('petstore_holds', `state="${state}"`)})`
const OVERDUE = `min(${of('petstore_hold_overdue_seconds')})`
const PROVEN_AGE = `time() - max(${of('petstore_restore_proven_timestamp_seconds')})`
const REMOVAL = of('petstore_removal_timestamp_seconds')
const KEY_EXPIRY = of('petstore_api_key_next_expiry_timestamp_seconds')
const calls = (operations: string, status: string) =>
  rate('petstore_http_request_seconds_count', `operation=~"${operations}", status=~"${status}"`)

const never: RangeMap = {
  type: MappingType.RangeToText,
  options: { from: NEVER_SECONDS, to: null, result: { text: 'never', color: 'red' } },
}
const yesOrNo: ValueMap = {
  type: MappingType.ValueToText,
  options: { 0: { text: 'no', color: 'green' }, 1: { text: 'yes', color: 'red' } },
}

const top = [
  stat({
    title: 'Open holds',
    shows: 'Pets that are on hold for a customer.',
    good: 'the usual value for this time of day.',
    entry: 'First look',
    unit: Short,
    width: 3,
    queries: [{ expr: holds('open'), legend: 'open' }],
  }),
  stat({
    title: 'Expire within 5 minutes',
    shows: 'Holds that expire soon. Their pets become available again.',
    good: 'a small part of the open holds. Many at once mean that customers do not complete their orders.',
    entry: 'First look',
    unit: Short,
    width: 4,
    queries: [{ expr: holds('expiring'), legend: 'expiring' }],
  }),
  stat({
    title: 'Oldest overdue hold',
    shows: 'How long the oldest expired hold still blocks its pet.',
    good: '0 s.',
    alert: 'PetstoreHoldsNotSwept',
    unit: Seconds,
    width: 4,
    limits: { warn: OVERDUE_WARN_SECONDS },
    queries: [{ expr: OVERDUE, legend: 'overdue' }],
  }),
  stat({
    title: 'Next API key expires in',
    shows: 'The time until the next API key of a program that uses it expires.',
    good: `more than ${daysOf('PetstoreApiKeyExpires')} days.`,
    alert: 'PetstoreApiKeyExpires',
    unit: Seconds,
    width: 4,
    none: 'none expires',
    limits: {},
    queries: [{ expr: `max(${KEY_EXPIRY} > 0) - time()`, legend: 'expires in' }],
  }),
  stat({
    title: 'Last proven backup',
    shows: 'The time since a backup was last restored and verified.',
    good: 'less than a day, because the check runs daily.',
    alert: 'PetstoreRestoreNotProven',
    unit: Seconds,
    width: 3,
    mappings: [never],
    limits: { warn: 1.5 * DAY_SECONDS },
    queries: [{ expr: PROVEN_AGE, legend: 'age' }],
  }),
  stat({
    title: 'Backup check failed',
    shows: 'Whether the newest check could not restore or verify the backup.',
    good: 'no.',
    alert: 'PetstoreRestoreNotProven',
    unit: Short,
    width: 3,
    mappings: [yesOrNo],
    limits: { bad: 1 },
    queries: [{ expr: `max(${of('petstore_restore_check_failed')})`, legend: 'failed' }],
  }),
  stat({
    title: 'WAL archiving fails',
    shows: 'Whether PostgreSQL could not archive WAL in its newest attempt.',
    good: 'no.',
    alert: 'PetstoreArchivingFails',
    unit: Short,
    width: 3,
    mappings: [yesOrNo],
    limits: { bad: 1 },
    queries: [{ expr: `max(${of('petstore_wal_archiving_failing')})`, legend: 'fails' }],
  }),
]

const sales = [
  timeSeries({
    title: 'Holds',
    shows: 'Open holds, and those that expire within 5 minutes.',
    good: 'follows the sales. A line that only grows means that orders are not completed.',
    entry: 'Expired holds are not swept',
    unit: Short,
    width: 6,
    queries: [
      { expr: holds('open'), legend: 'open' },
      { expr: holds('expiring'), legend: 'expiring' },
    ],
  }),
  timeSeries({
    title: 'Orders per second',
    shows: 'Orders that clients placed, completed and cancelled.',
    good: 'placed orders are later completed or cancelled. The others expire.',
    entry: 'First look',
    unit: CountsPerSecond,
    width: 6,
    queries: [
      {
        expr: sumBy('operation', calls('placeOrder|completeOrder|cancelOrder', '2..')),
        legend: '{{operation}}',
      },
    ],
  }),
  timeSeries({
    title: 'Rejected orders per second',
    shows:
      'Orders that the state of the pet or the order did not allow. Two buyers who want one pet are the usual cause.',
    good: 'a small part of the placed orders.',
    entry: 'Requests fail',
    unit: CountsPerSecond,
    width: 6,
    queries: [
      { expr: `sum(${calls('placeOrder', '409')}) or vector(0)`, legend: 'pet not available' },
      { expr: `sum(${calls('completeOrder|cancelOrder', '409')}) or vector(0)`, legend: 'order closed' },
    ],
  }),
  timeSeries({
    title: 'Oldest overdue hold',
    shows:
      'How long the oldest expired hold still blocks its pet. Each instance sweeps a hold when it expires.',
    good: '0 s.',
    alert: 'PetstoreHoldsNotSwept',
    unit: Seconds,
    width: 6,
    softMax: 12,
    limits: { warn: OVERDUE_WARN_SECONDS },
    queries: [{ expr: OVERDUE, legend: 'overdue' }],
  }),
]

const catalogue = [
  timeSeries({
    title: 'Changes of pets per second',
    shows: 'Pets that clients created, updated and deleted. Imports are not counted.',
    good: 'the usual shape.',
    entry: 'First look',
    unit: CountsPerSecond,
    width: 8,
    queries: [
      { expr: sumBy('operation', calls('createPet|updatePet|deletePet', '2..')), legend: '{{operation}}' },
    ],
  }),
  timeSeries({
    title: 'Requests per batch',
    shows: 'How many concurrent requests one statement serves, by the kind of the batch.',
    good: '1 in an idle store. It grows with the load, which is expected.',
    entry: 'Responses are slow',
    unit: Short,
    width: 8,
    queries: [{ expr: mean('petstore_batch_size', 'kind'), legend: '{{kind}}' }],
  }),
  timeSeries({
    title: 'Wait for a batch, p99',
    shows: 'How long requests wait until their batch begins. This time is part of their latency.',
    good: 'about as long as one statement takes.',
    entry: 'Responses are slow',
    unit: Seconds,
    width: 8,
    queries: [{ expr: quantile(0.99, 'petstore_batch_wait_seconds', { by: 'kind' }), legend: '{{kind}}' }],
  }),
]

const callers = [
  timeSeries({
    title: 'Sign-ins in the last hour, by outcome',
    shows:
      'People who signed in, and the errors of others. provider_unavailable and provider_error mean that no person can sign in.',
    good: 'mostly signed_in.',
    entry: 'First look',
    unit: Short,
    width: 10,
    queries: [
      {
        expr: aboveZero('outcome', sumBy('outcome', `increase(${of('petstore_sign_ins_total')}[1h])`)),
        legend: '{{outcome}}',
      },
    ],
  }),
  timeSeries({
    title: 'Deprecated calls today',
    shows: 'Calls of operations that will be removed, since midnight in UTC.',
    good: `0, at the latest ${daysOf('PetstoreRemovalNear')} days before the removal.`,
    alert: 'PetstoreRemovalNear',
    unit: Short,
    width: 8,
    queries: [
      { expr: `max by (operation) (${of('petstore_deprecated_calls_today')})`, legend: '{{operation}}' },
    ],
  }),
  stat({
    title: 'Removed in',
    shows: 'The time until a deprecated operation is removed.',
    good: `more than ${daysOf('PetstoreRemovalNear')} days, or no calls.`,
    alert: 'PetstoreRemovalNear',
    unit: Seconds,
    width: 6,
    height: 8,
    text: BigValueTextMode.ValueAndName,
    none: 'nothing is deprecated',
    limits: {},
    queries: [{ expr: `max by (operation) (${REMOVAL}) - time()`, legend: '{{operation}}' }],
  }),
]

export const STORE: DashboardSpec = {
  name: 'store',
  title: 'Petstore: store',
  description: 'Are pets sold, do holds end in time, and which keys, backups and programs need attention?',
  top,
  rows: [
    { title: 'Sales', panels: sales },
    { title: 'Catalogue', panels: catalogue },
    { title: 'People and programs', panels: callers },
  ],
}
