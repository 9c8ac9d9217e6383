// Metrics of the data of the store: holds, API keys, deprecated calls and replication.
// Each process reads them from the database, so all processes report the same values.
import { Gauge, type Registry } from 'prom-client'

export interface StoreFigures {
  holds: number
  holdsExpiring: number
  overdueSeconds: number
  nextKeyExpiry: Date | null
  deprecatedCalls: Record<string, number>
  replication: { connected: number; required: number }
}

/** Adds the metrics. Those of the data have no value before the first call of the function that this returns. */
export function addStoreMetrics(
  registry: Registry,
  removals: Readonly<Record<string, Date>>,
): (figures: StoreFigures) => void {
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
  // A gauge without labels begins at 0, which would mean that nothing is overdue and that no key expires.
  overdue.remove()
  keyExpiry.remove()
  for (const [operation, time] of Object.entries(removals)) {
    removal.set({ operation }, time.getTime() / 1_000)
    calls.set({ operation }, 0)
  }

  return ({ nextKeyExpiry, deprecatedCalls, replication, ...store }) => {
    holds.set({ state: 'open' }, store.holds)
    holds.set({ state: 'expiring' }, store.holdsExpiring)
    overdue.set(store.overdueSeconds)
    keyExpiry.set((nextKeyExpiry?.getTime() ?? 0) / 1_000)
    for (const operation of Object.keys(removals)) calls.set({ operation }, deprecatedCalls[operation] ?? 0)
    standbys.set({ state: 'connected' }, replication.connected)
    standbys.set({ state: 'required' }, replication.required)
  }
}
