// The background jobs of the service: what each of them does, and how often.
// background.ts runs them.
import type { Usage } from '../access/api-keys/usage.ts'
import { purgeSignIns, SIGN_INS_PURGED_EVERY_MS } from '../access/sign-in/sign-ins.ts'
import type { Config } from '../config/config.ts'
import { deleteOldRestoreChecks, readRestoreState } from '../data/verify/restore-check-queries.ts'
import {
  OLD_RESTORE_CHECKS_DELETED_EVERY_MS,
  RESTORE_CHECKS_KEPT,
  RESTORE_CHECKS_READ_EVERY_MS,
} from '../data/verify/restore-check-rules.ts'
import type { Db } from '../db/database.ts'
import { isArchivingFailing, readArchiving } from '../db/inspect/archiving.ts'
import {
  OLD_EVENTS_DELETED_EVERY_MS,
  purgeEvents,
  SEQUENCED_EVERY_MS,
  sequenceDueEvents,
} from '../events/feed/sequencer.ts'
import type { EventStreams } from '../events/feed/streams.ts'
import { OLD_FIGURES_DELETED_EVERY_MS, purgeFigures } from '../store/figures/figures.ts'
import { type Holds, SWEPT_EVERY_MS } from '../store/holds/sweep.ts'
import { purgeIdempotencyKeys } from '../store/idempotency/idempotency.ts'
import {
  EMPTY_COUNTS_DELETED_EVERY_MS,
  FOLDED_EVERY_MS,
  foldDueCounts,
} from '../store/inventory/inventory.ts'
import { deleteEmptyCounts } from '../store/inventory/queries.ts'
import type { BackgroundJob } from './background.ts'
import { readStoreState } from './store-metrics/queries.ts'
import { readReplicationState } from './store-metrics/replication.ts'
import type { StoreMetrics } from './store-metrics/store-metrics.ts'
import { openWakeup, type Wakeup } from './wakeup.ts'

/**
 * How often the jobs that follow changes look for changes of other processes. A process must also send its primary one
 * query a second, so that it notices a frozen server (docs/decisions/0009-trusted-servers.md).
 */
const CHECKED_EVERY_MS = 1_000
const USAGE_WRITTEN_EVERY_MS = 60_000
const DAY_SECONDS = 24 * 3_600
const IDEMPOTENCY_KEYS_PURGED_EVERY_MS = 600_000
const STORE_MEASURED_EVERY_MS = 10_000

interface JobServices {
  db: Db
  config: Pick<Config, 'EVENT_RETENTION_DAYS'>
  holds: Pick<Holds, 'sweep'>
  usage: Pick<Usage, 'flush'>
  eventStreams: Pick<EventStreams, 'advance' | 'hasOpen'>
  metrics: StoreMetrics
  wakeups: Wakeups
  checkedEveryMs?: number
}

/** Starts jobs as soon as there is work for them. */
export interface Wakeups {
  sweep: Wakeup
  fold: Wakeup
  sequence: Wakeup
  /** Call it when this process has changed pets or orders. */
  onChange: () => void
}

export function openWakeups(): Wakeups {
  const fold = openWakeup(FOLDED_EVERY_MS)
  const sequence = openWakeup(SEQUENCED_EVERY_MS)
  return {
    sweep: openWakeup(SWEPT_EVERY_MS),
    fold,
    sequence,
    onChange: () => {
      fold.wake()
      sequence.wake()
    },
  }
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
          replication: await readReplicationState(db),
          isArchivingFailing: isArchivingFailing(await readArchiving(db)),
        }),
    },
    {
      name: 'read restore checks',
      everyMs: RESTORE_CHECKS_READ_EVERY_MS,
      work: async () => metrics.observeRestores(await readRestoreState(db)),
    },
  ]
}

/** The jobs that follow changes of pets and orders. */
export function followingJobs({
  db,
  holds,
  eventStreams,
  metrics,
  wakeups,
  checkedEveryMs = CHECKED_EVERY_MS,
}: Omit<JobServices, 'config' | 'usage'>): BackgroundJob[] {
  const everyMs = checkedEveryMs
  return [
    { name: 'sweep expired holds', everyMs, wakeup: wakeups.sweep, work: holds.sweep },
    // A fold is due two seconds after the last one, so a check once a second would find nothing to do half the time.
    { name: 'fold counts', everyMs: 2 * everyMs, wakeup: wakeups.fold, work: () => foldDueCounts(db) },
    {
      name: 'sequence events',
      everyMs,
      wakeup: wakeups.sequence,
      work: async () => {
        try {
          const state = await sequenceDueEvents(db, metrics.observeFeed)
          if (state.foundWork) wakeups.sequence.wake()
          await eventStreams.advance(state)
        } finally {
          // Streams also send the events of other processes.
          if (eventStreams.hasOpen()) wakeups.sequence.wake()
        }
      },
    },
  ]
}

export function storeJobs({
  db,
  config,
  usage,
}: Pick<JobServices, 'db' | 'config' | 'usage'>): BackgroundJob[] {
  let purgedTo = 0n
  return [
    {
      name: 'delete empty counts',
      everyMs: EMPTY_COUNTS_DELETED_EVERY_MS,
      work: () => deleteEmptyCounts(db),
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
