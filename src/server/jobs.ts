// The background jobs of the service: what each of them does, and how often.
// background.ts runs them.
import type { Usage } from '../api-keys/usage.ts'
import type { Config } from '../config.ts'
import type { Db } from '../db/database.ts'
import {
  OLD_EVENTS_DELETED_EVERY_MS,
  purgeEvents,
  SEQUENCED_EVERY_MS,
  sequenceDueEvents,
} from '../events/sequencer.ts'
import type { EventStreams } from '../events/streams.ts'
import { OLD_FIGURES_DELETED_EVERY_MS, purgeFigures } from '../figures/figures.ts'
import { purgeIdempotencyKeys } from '../idempotency/idempotency.ts'
import { EMPTY_COUNTS_DELETED_EVERY_MS, FOLDED_EVERY_MS, foldDueCounts } from '../inventory/inventory.ts'
import { deleteEmptyCounts } from '../inventory/queries.ts'
import { readStoreState } from '../monitoring/queries.ts'
import { readReplicationFigures } from '../monitoring/replication.ts'
import { type Holds, SWEPT_EVERY_MS } from '../orders/holds.ts'
import { purgeSignIns, SIGN_INS_PURGED_EVERY_MS } from '../people/sign-ins.ts'
import { deleteOldRestoreChecks, readRestoreState } from '../restore-checks/queries.ts'
import {
  OLD_RESTORE_CHECKS_DELETED_EVERY_MS,
  RESTORE_CHECKS_KEPT,
  RESTORE_CHECKS_READ_EVERY_MS,
} from '../restore-checks/rules.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { BackgroundJob } from './background.ts'

const USAGE_WRITTEN_EVERY_MS = 60_000
const DAY_SECONDS = 24 * 3_600
const IDEMPOTENCY_KEYS_PURGED_EVERY_MS = 600_000
const STORE_MEASURED_EVERY_MS = 10_000

interface JobServices {
  db: Db
  config: Pick<Config, 'EVENT_RETENTION_DAYS'>
  holds: Pick<Holds, 'sweep'>
  usage: Pick<Usage, 'flush'>
  eventStreams: Pick<EventStreams, 'advance'>
  metrics: Metrics
}

/** The jobs that read metrics from the database. They also run once at the start. */
export function measuringJobs({ db, metrics }: Pick<JobServices, 'db' | 'metrics'>): BackgroundJob[] {
  return [
    {
      name: 'measure the store',
      everyMs: STORE_MEASURED_EVERY_MS,
      work: async () =>
        metrics.observeStore({
          ...(await readStoreState(db)),
          replication: await readReplicationFigures(db),
        }),
    },
    {
      name: 'read restore checks',
      everyMs: RESTORE_CHECKS_READ_EVERY_MS,
      work: async () => metrics.observeRestores(await readRestoreState(db)),
    },
  ]
}

export function storeJobs({ db, config, holds, usage, eventStreams, metrics }: JobServices): BackgroundJob[] {
  let purgedTo = 0n
  return [
    { name: 'sweep expired holds', everyMs: SWEPT_EVERY_MS, work: holds.sweep },
    { name: 'fold counts', everyMs: FOLDED_EVERY_MS, work: () => foldDueCounts(db) },
    {
      name: 'delete empty counts',
      everyMs: EMPTY_COUNTS_DELETED_EVERY_MS,
      work: () => deleteEmptyCounts(db),
    },
    {
      name: 'sequence events',
      everyMs: SEQUENCED_EVERY_MS,
      work: async () => eventStreams.advance(await sequenceDueEvents(db, metrics.observeFeed)),
    },
    {
      name: 'purge events',
      everyMs: OLD_EVENTS_DELETED_EVERY_MS,
      work: async () => {
        purgedTo = await purgeEvents(db, config.EVENT_RETENTION_DAYS * DAY_SECONDS, purgedTo)
      },
    },
    { name: 'purge figures', everyMs: OLD_FIGURES_DELETED_EVERY_MS, work: () => purgeFigures(db) },
    { name: 'write usage', everyMs: USAGE_WRITTEN_EVERY_MS, work: () => usage.flush(db) },
    {
      name: 'purge idempotency keys',
      everyMs: IDEMPOTENCY_KEYS_PURGED_EVERY_MS,
      work: () => purgeIdempotencyKeys(db),
    },
    { name: 'purge sign-ins', everyMs: SIGN_INS_PURGED_EVERY_MS, work: () => purgeSignIns(db) },
    {
      name: 'delete old restore checks',
      everyMs: OLD_RESTORE_CHECKS_DELETED_EVERY_MS,
      work: () => deleteOldRestoreChecks(db, RESTORE_CHECKS_KEPT),
    },
  ]
}
