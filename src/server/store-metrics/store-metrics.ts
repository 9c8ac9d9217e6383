// Metrics of the data of the store: holds, API keys, deprecated calls, replication, the event feed and restore checks.
// Each process reads them from the database, so all processes report the same values.
import { Gauge, type Registry } from 'prom-client'
import type { ConnectionCounts } from '../../telemetry/database-metrics.ts'
import type { Log } from '../../telemetry/log.ts'
import { type Metrics, openMetrics } from '../../telemetry/metrics.ts'
import type { StoreState } from './queries.ts'
import type { ReplicationState } from './replication.ts'

export interface StoreMetrics {
  /** Called several times a minute. */
  observeStore: (state: StoreState & { replication: ReplicationState; isArchivingFailing: boolean }) => void
  /** Called many times a second, with the state of the event feed. */
  observeFeed: (state: { head: bigint; unnumberedSeconds: number | null }) => void
  /** Called with the results of restore checks. Before the first call, the metrics are absent. */
  observeRestores: (state: { provenAt: Date | null; isNewestProven: boolean | null }) => void
}

/**
 * Opens the metrics of `petstore serve`.
 * @param removals When each deprecated operation will be removed.
 */
export function openServiceMetrics(
  db: ConnectionCounts,
  log: Pick<Log, 'writer'>,
  removals: Readonly<Record<string, Date>> = {},
): Metrics & StoreMetrics {
  const metrics = openMetrics(db, log)
  const { registry } = metrics
  return {
    ...metrics,
    observeStore: addStoreGauges(registry, removals),
    observeFeed: addFeedGauges(registry),
    observeRestores: addRestoreGauges(registry),
  }
}

/** Those of the data have no value before the first call of the function that this returns. */
function addStoreGauges(
  registry: Registry,
  removals: Readonly<Record<string, Date>>,
): StoreMetrics['observeStore'] {
  const registers = [registry]
  const gauge = (name: string, help: string, label?: string) =>
    new Gauge({ name, help, labelNames: label === undefined ? [] : [label], registers })

  const holds = gauge(
    'petstore_holds',
    'Holds of the store: open, and those of them that expire within 5 minutes (expiring).',
    'state',
  )
  const overdue = gauge(
    'petstore_hold_overdue_seconds',
    'How long the oldest expired hold has not been swept; 0 if all are swept.',
  )
  const keyExpiry = gauge(
    'petstore_api_key_next_expiry_timestamp_seconds',
    'When the next API key of a program that was used in the last 7 days expires, in seconds since 1970; 0 if none does.',
  )
  const calls = gauge(
    'petstore_deprecated_calls_today',
    'Calls of deprecated operations since midnight, in UTC.',
    'operation',
  )
  const removal = gauge(
    'petstore_removal_timestamp_seconds',
    'When a deprecated operation will be removed, in seconds since 1970.',
    'operation',
  )
  const standbys = gauge(
    'petstore_replication_standbys',
    'Standbys of PostgreSQL: connected, and how many of them must confirm a write before it is acknowledged (required).',
    'state',
  )
  const archiving = gauge(
    'petstore_wal_archiving_failing',
    '1 if PostgreSQL could not archive WAL in its newest attempt, otherwise 0.',
  )
  // A gauge without labels begins at 0, which would mean that nothing is overdue, no key expires and WAL is archived.
  overdue.remove()
  keyExpiry.remove()
  archiving.remove()
  for (const [operation, time] of Object.entries(removals)) {
    removal.set({ operation }, time.getTime() / 1_000)
    calls.set({ operation }, 0)
  }

  return ({ nextKeyExpiry, deprecatedCalls, replication, isArchivingFailing, ...store }) => {
    holds.set({ state: 'open' }, store.holds)
    holds.set({ state: 'expiring' }, store.holdsExpiring)
    overdue.set(store.overdueSeconds)
    keyExpiry.set((nextKeyExpiry?.getTime() ?? 0) / 1_000)
    for (const operation of Object.keys(removals)) calls.set({ operation }, deprecatedCalls[operation] ?? 0)
    standbys.set({ state: 'connected' }, replication.connected)
    standbys.set({ state: 'required' }, replication.required)
    archiving.set(isArchivingFailing ? 1 : 0)
  }
}

function addFeedGauges(registry: Registry): StoreMetrics['observeFeed'] {
  const newestEvent = new Gauge({
    name: 'petstore_events_newest_number',
    help: 'Number of the newest event in the feed.',
    registers: [registry],
  })
  const unnumbered = new Gauge({
    name: 'petstore_events_unnumbered_seconds',
    help: 'Age of the oldest change that is not in the event feed yet; 0 if all changes are.',
    registers: [registry],
  })
  // A gauge begins at 0. Until the feed is read, 0 would mean that it is empty and up to date.
  newestEvent.remove()
  unnumbered.remove()

  return ({ head, unnumberedSeconds }) => {
    newestEvent.set(Number(head))
    unnumbered.set(unnumberedSeconds ?? 0)
  }
}

function addRestoreGauges(registry: Registry): StoreMetrics['observeRestores'] {
  // Not registered yet: until the results are read, 0 would mean that no backup was ever proven.
  const restoreProven = new Gauge({
    name: 'petstore_restore_proven_timestamp_seconds',
    help: 'Time of the last check that restored and verified a backup, in seconds since 1970; 0 if there was none.',
    registers: [],
  })
  const restoreFailed = new Gauge({
    name: 'petstore_restore_check_failed',
    help: '1 if the newest check of a backup failed, otherwise 0.',
    registers: [],
  })

  return ({ provenAt, isNewestProven }) => {
    restoreProven.set((provenAt?.getTime() ?? 0) / 1_000)
    restoreFailed.set(isNewestProven === false ? 1 : 0)
    registry.registerMetric(restoreProven)
    registry.registerMetric(restoreFailed)
  }
}
