// What all steps of the restore drill share, and how they read the clock and the archive of the cluster.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Lab } from '../cluster/cluster.ts'
import type { Load } from '../load/load.ts'
import { connect } from '../load/sampler.ts'
import type { Violations } from '../parts/violations.ts'
import { waitUntil } from '../parts/wait-until.ts'
import type { Contents } from './contents.ts'
import type { Copy } from './copy.ts'
import type { Journal, Moment } from './journal.ts'
import type { Repository } from './repository.ts'

/** Longer than `archive_timeout`. */
const ARCHIVED_TIMEOUT_MS = 120_000
const ARCHIVED_POLL_MS = 250
const CONNECT_TIMEOUT_MS = 10_000
/** Load after a moment, so that the archive has a later commit. Otherwise no restore could stop at the moment. */
const LOAD_AFTER_MS = 2_000

export interface RestoreContext {
  lab: Lab
  repository: Repository
  load: Load
  journal: Journal
  violations: Violations
  say: (text: string) => void
  /** Folder of the service. */
  service: string
}

/** One line of the report: a restore and its durations. */
export interface RestoreFigures {
  databaseBytes: number
  archivedSeconds: number
  restoreSeconds: number
  replaySeconds: number
  verifySeconds: number
}

/** Reads the clock of the primary. */
export async function readMoment(lab: Lab): Promise<Moment> {
  const client = await connect(lab, CONNECT_TIMEOUT_MS)
  try {
    const from = performance.now()
    const { rows } = await client.query<{ text: string }>('select clock_timestamp()::text as text')
    const until = performance.now()
    return { text: rows[0]?.text ?? '', from, until }
  } finally {
    await client.end().catch(() => {})
  }
}

/** Waits until the archive has a commit after the moment that was just read. Returns the seconds since then. */
export async function waitUntilArchived(lab: Lab): Promise<number> {
  const startedAt = performance.now()
  await sleep(LOAD_AFTER_MS)
  const client = await connect(lab, CONNECT_TIMEOUT_MS)
  try {
    const { rows } = await client.query<{ name: string }>(
      'select pg_walfile_name(pg_current_wal_insert_lsn()) as name',
    )
    const name = rows[0]?.name ?? ''
    const isArchived = async () => {
      const { rows: archiver } = await client.query<{ last: string | null }>(
        'select last_archived_wal as last from pg_stat_archiver',
      )
      const last = archiver[0]?.last ?? ''
      return /^[0-9A-F]{24}$/.test(last) && last >= name
    }
    await waitUntil(`${name} is archived`, ARCHIVED_TIMEOUT_MS, isArchived, ARCHIVED_POLL_MS)
  } finally {
    await client.end().catch(() => {})
  }
  return (performance.now() - startedAt) / 1000
}

/** Runs SQL on the primary. */
export async function onPrimary<Result>(
  lab: Lab,
  work: (client: Awaited<ReturnType<typeof connect>>) => Promise<Result>,
): Promise<Result> {
  const client = await connect(lab, CONNECT_TIMEOUT_MS)
  try {
    return await work(client)
  } finally {
    await client.end().catch(() => {})
  }
}

/** Runs SQL on a copy. */
export async function onCopy<Result>(
  copy: Copy,
  work: (client: Awaited<ReturnType<Copy['connect']>>) => Promise<Result>,
): Promise<Result> {
  const client = await copy.connect()
  try {
    return await work(client)
  } finally {
    await client.end().catch(() => {})
  }
}

export function rowCount(contents: Contents): number {
  return Object.values(contents).reduce((sum, { rows }) => sum + rows, 0)
}
