// The health report: reads what is known about the store and what timers reported, and judges it. `petstore doctor` tells
// operators more, from the same statements and limits.
import { readRestoreState, type RestoreState } from '../../data/verify/restore-check-queries.ts'
import { PROVEN_SECONDS_AGO_MAX } from '../../data/verify/restore-check-rules.ts'
import type { Reader } from '../../db/database.ts'
import { type ArchivingState, isArchivingFailing, readArchiving } from '../../db/inspect/archiving.ts'
import { findFeedState } from '../../events/feed/queries.ts'
import { readWebhookLeases } from '../../events/webhooks/inspect.ts'
import { type AlertName, isBeyond } from '../../telemetry/alerts.ts'
import { VERSION } from '../../values/version.ts'
import { readStoreState } from '../store-metrics/queries.ts'
import { readReplicationState, type ReplicationState } from '../store-metrics/replication.ts'
import { listHealthReports, readDatabaseFacts, type Report } from './queries.ts'
import {
  BACKUP_SECONDS_AGO_MAX,
  CERTIFICATE_SECONDS_LEFT_MIN,
  DISK_USED_SHARE_MAX,
  REPORT_SECONDS_AGO_MAX,
  type ReportName,
} from './rules.ts'
import type { CheckName, CheckState, HealthCheck, HealthReport } from './schema.ts'

export async function getHealthReport(db: Reader): Promise<HealthReport> {
  const { now, version, sizeBytes } = await readDatabaseFacts(db)
  const reports = new Map((await listHealthReports(db)).map((report) => [report.name, report]))
  const store = await readStoreState(db)
  const { unnumberedSeconds } = await findFeedState(db)
  const webhooks = await readWebhookLeases(db)
  const report = (name: ReportName) => judgeReport(name, reports.get(name), now)
  return {
    checkedAt: now,
    version: VERSION,
    database: { version, sizeBytes },
    checks: [
      report('backup'),
      report('secondPlace'),
      judgeRestores(await readRestoreState(db)),
      ...judgeArchiving(await readArchiving(db), now),
      ...judgeStandbys(await readReplicationState(db)),
      report('disk'),
      report('certificate'),
      judgeLateness('events', 'PetstoreFeedLate', unnumberedSeconds ?? 0, now),
      judgeLateness('holds', 'PetstoreHoldsNotSwept', store.overdueSeconds, now),
      ...(webhooks.enabled === 0 ? [] : [toCheck('delivery', webhooks.leased === webhooks.enabled)]),
      ...(webhooks.all === 0 ? [] : [toCheck('webhooks', webhooks.failing === 0)]),
      ...judgeKeyExpiry(store.nextKeyExpiry, now),
    ],
  }
}

const stateOf = (isOk: boolean): CheckState => (isOk ? 'ok' : 'attention')

function toCheck(name: CheckName, isOk: boolean, more: Partial<HealthCheck> = {}): HealthCheck {
  return { name, state: stateOf(isOk), ...more }
}

const secondsBetween = (from: Date, to: Date) => (to.getTime() - from.getTime()) / 1_000
const secondsBefore = (now: Date, seconds: number) => new Date(now.getTime() - seconds * 1_000)

function judgeReport(name: ReportName, report: Report | undefined, now: Date): HealthCheck {
  if (report === undefined) return { name, state: 'unknown' }
  const { at, usedBytes, totalBytes, note, reportedAt } = report
  return {
    name,
    state: stateOfReport(report, now),
    reportedAt,
    at: at ?? undefined,
    usedBytes: usedBytes ?? undefined,
    totalBytes: totalBytes ?? undefined,
    note: note ?? undefined,
  }
}

/** A backup is reported when it is made, so without a report there was none. The others are values that grow old. */
function stateOfReport({ name, at, usedBytes, totalBytes, reportedAt }: Report, now: Date): CheckState {
  if (name === 'backup' || name === 'secondPlace')
    return stateOf(at !== null && secondsBetween(at, now) <= BACKUP_SECONDS_AGO_MAX)
  if (secondsBetween(reportedAt, now) > REPORT_SECONDS_AGO_MAX) return 'unknown'
  return name === 'certificate'
    ? stateOf(at !== null && secondsBetween(now, at) >= CERTIFICATE_SECONDS_LEFT_MIN)
    : stateOf(Number(usedBytes) <= Number(totalBytes) * DISK_USED_SHARE_MAX)
}

function judgeRestores({
  provenAt,
  provenSecondsAgo,
  isNewestProven,
  newestMessage,
}: RestoreState): HealthCheck {
  const name = 'restore'
  const at = provenAt ?? undefined
  if (isNewestProven === null) return { name, state: 'unknown' }
  if (!isNewestProven) return { name, state: 'attention', at, note: newestMessage ?? undefined }
  return toCheck(name, provenSecondsAgo !== null && provenSecondsAgo <= PROVEN_SECONDS_AGO_MAX, { at })
}

function judgeArchiving(state: ArchivingState, now: Date): HealthCheck[] {
  if (!state.isOn) return []
  if (!isArchivingFailing(state)) return [toCheck('archiving', true)]
  return [toCheck('archiving', false, { at: secondsBefore(now, state.failingSeconds ?? 0) })]
}

/** As the alert PetstoreReplicationNotProtecting: a commit waits for a standby, and the loss of one more does not stop writes. */
function judgeStandbys({ connected, required }: ReplicationState): HealthCheck[] {
  if (connected === 0 && required === 0) return []
  return [toCheck('standby', required > 0 && connected > required)]
}

function judgeLateness(name: CheckName, alert: AlertName, seconds: number, now: Date): HealthCheck {
  return isBeyond(alert, seconds)
    ? toCheck(name, false, { at: secondsBefore(now, seconds) })
    : toCheck(name, true)
}

function judgeKeyExpiry(at: Date | null, now: Date): HealthCheck[] {
  if (at === null) return []
  return [toCheck('apiKeys', !isBeyond('PetstoreApiKeyExpires', secondsBetween(now, at)), { at })]
}
