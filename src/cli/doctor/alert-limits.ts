// The alerts of src/telemetry/alerts.ts in `petstore doctor`: their limits, the checks that report their conditions, and what to do.
import { type AlertName, alertOf, isBeyond } from '../../telemetry/alerts.ts'
import type { Finding } from './finding.ts'

/** The check that reports the condition of each alert; `processes` needs `--url`. One look cannot see restarts. */
export const CHECKS_OF_ALERTS = {
  PetstoreDown: 'processes',
  PetstoreRestarts: null,
  PetstoreRequestsFail: 'processes',
  PetstoreSlow: 'processes',
  PetstoreDatabaseUnreachable: 'processes',
  PetstoreWritesStalled: 'processes',
  PetstoreBackgroundJobFails: 'processes',
  PetstoreReplicationNotProtecting: 'replication',
  PetstoreFeedLate: 'events',
  PetstoreWebhookLate: 'processes',
  PetstoreHoldsNotSwept: 'holds',
  PetstoreApiKeyExpires: 'api-keys',
  PetstoreCertificateExpires: 'certificate',
  PetstoreMemoryHigh: 'processes',
  PetstoreArchivingFails: 'archiving',
  PetstoreRestoreNotProven: 'restores',
  PetstoreRemovalNear: 'deprecations',
} as const satisfies Record<AlertName, string | null>

/** Alerts whose condition is a value of the database, beyond a limit. */
type StoreAlert =
  | 'PetstoreFeedLate'
  | 'PetstoreHoldsNotSwept'
  | 'PetstoreApiKeyExpires'
  | 'PetstoreCertificateExpires'
  | 'PetstoreRemovalNear'

/** What to do first, and the entry of the runbook. */
export function runbookStep(alert: AlertName, step?: string): string {
  const entry = `See "${alertOf(alert).heading}" in docs/runbook.md.`
  return step === undefined ? entry : `${step} ${entry}`
}

/**
 * Judges a value of the database; null if there is nothing that could be late or end. Never a fault: the database cannot tell a job
 * that fails from a service that is not running, as before its first start or after a restore.
 */
export function judge(
  alert: StoreAlert,
  value: number | null,
  { ok, beyond, step }: { ok: string; beyond: (value: number) => string; step: string },
): Finding {
  const check = CHECKS_OF_ALERTS[alert]
  if (value === null || !isBeyond(alert, value)) return { check, state: 'ok', message: ok }
  return { check, state: 'warning', message: beyond(value), remedy: runbookStep(alert, step) }
}
