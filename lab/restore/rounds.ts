// One round: an incremental backup, a change of the primary, a moment, and two restores to that moment, all under load.
import { rm } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ClusterNode } from '../cluster/node.ts'
import { findLeader } from '../cluster/patroni.ts'
import { waitUntil } from '../parts/wait-until.ts'
import { compareWithJournal } from './compare.ts'
import { type Contents, differingTables, readContents, readFeed, readRows } from './contents.ts'
import {
  onCopy,
  onPrimary,
  type RestoreContext,
  type RestoreFigures,
  readMoment,
  rowCount,
  waitUntilArchived,
} from './context.ts'
import { Copy } from './copy.ts'
import type { Moment } from './journal.ts'
import type { Backup } from './repository.ts'
import { serveCopy, verify } from './service-check.ts'

const LOAD_MS = 8_000
const HEALTHY_TIMEOUT_MS = 180_000
/** How long the repository is unreachable before the primary is lost. */
const UNREACHABLE_MS = 10_000
const PROMOTED_TIMEOUT_MS = 60_000

export const ROUND_EVENTS = {
  none: 'the primary stays the same',
  switchover: 'a switchover between the backup and the moment',
  'lose-primary':
    'the repository is unreachable, then the primary is killed, with its data and the WAL that it has not archived',
} as const

export type RoundEvent = keyof typeof ROUND_EVENTS

export interface RoundRow extends RestoreFigures {
  event: RoundEvent
  moment: string
  /** Timelines before and after the event. */
  timelines: [number, number]
  backup: Backup
  /** Changes that the journal requires, excludes and permits in the copy. */
  required: number
  excluded: number
  possible: number
  rows: number
  /** Whether both copies have the same content. */
  identical: boolean
  firstResponseSeconds: number
}

export async function runRound(
  context: RestoreContext,
  number: number,
  event: RoundEvent,
): Promise<RoundRow> {
  const { lab, repository, say } = context
  await lab.waitUntilHealthy(HEALTHY_TIMEOUT_MS)
  await sleep(LOAD_MS)
  const backup = await repository.backUp('incr')
  const before = await readTimeline(context)
  await sleep(LOAD_MS / 2)
  await causeEvent(context, event)
  await sleep(LOAD_MS / 2)
  const moment = await readMoment(lab)
  const timelines: [number, number] = [before, await readTimeline(context)]
  say(`round ${number}, ${event}: restoring twice to ${moment.text}`)
  const archivedSeconds = await waitUntilArchived(lab)
  const first = await inspectFirst(context, number, moment)
  const second = await inspectSecond(context, number, moment, first.contents)
  const { contents, ...figures } = first
  return {
    event,
    moment: moment.text,
    timelines,
    backup,
    databaseBytes: backup.databaseBytes,
    archivedSeconds,
    ...figures,
    rows: rowCount(contents),
    ...second,
  }
}

/** The first copy is compared with the journal and with the feed of the primary, and verified. */
async function inspectFirst(context: RestoreContext, number: number, moment: Moment) {
  const { lab, journal, violations } = context
  const copy = new Copy(context.repository, lab.root, { name: `round-${number}-first`, target: moment.text })
  try {
    await copy.start()
    const { rows, contents, feed } = await onCopy(copy, async (client) => ({
      rows: await readRows(client),
      contents: await readContents(client),
      feed: await readFeed(client),
    }))
    const { violations: found, ...counts } = compareWithJournal(journal, rows, moment)
    for (const { kind, subject, text } of found) {
      violations.add({ kind, subject: `${number} ${subject}`, text: `round ${number}: ${text}` })
    }
    const onServer = await onPrimary(lab, (client) => readFeed(client, feed.newest))
    if (onServer.checksum !== feed.checksum || onServer.rows !== feed.rows) {
      const text = `round ${number}: the first ${feed.newest} events of the primary are not those of the copy`
      violations.add({ kind: 'restoredWrong', subject: `feed ${number}`, text })
    }
    const verifySeconds = await verify(context, copy.url('petstore_verify'), `round ${number}`)
    const { restore: restoreSeconds, replay: replaySeconds } = copy.seconds
    return { ...counts, contents, restoreSeconds, replaySeconds, verifySeconds }
  } finally {
    await copy.remove()
  }
}

/** The second copy must have the content of the first. The service then runs on it. */
async function inspectSecond(context: RestoreContext, number: number, moment: Moment, expected: Contents) {
  const { lab, violations } = context
  const startedAt = performance.now()
  const copy = new Copy(context.repository, lab.root, { name: `round-${number}-second`, target: moment.text })
  try {
    await copy.start()
    const restoredMs = performance.now() - startedAt
    const differing = differingTables(await onCopy(copy, readContents), expected)
    for (const table of differing) {
      const text = `round ${number}: the table ${table} differs between two copies of ${moment.text}`
      violations.add({ kind: 'restoreDiffers', subject: `${number} ${table}`, text })
    }
    const servingAt = performance.now()
    await serveCopy(context, copy.url('petstore_app'), `round ${number}`)
    const firstResponseSeconds = (restoredMs + performance.now() - servingAt) / 1000
    return { identical: differing.length === 0, firstResponseSeconds }
  } finally {
    await copy.remove()
  }
}

async function causeEvent(context: RestoreContext, event: RoundEvent): Promise<void> {
  const { lab, say } = context
  if (event === 'switchover') {
    say((await lab.startFault('switchover')).detail)
  } else if (event === 'lose-primary') {
    await losePrimary(context)
  }
  await lab.waitUntilHealthy(HEALTHY_TIMEOUT_MS)
}

/** The primary has full segments of WAL that it could not archive. A standby is promoted, and must archive them. */
async function losePrimary({ lab, repository, say }: RestoreContext): Promise<void> {
  const primary = await primaryOf(lab.nodes)
  await repository.network.disconnect()
  for (let switched = 0; switched < 2; switched += 1) {
    await sleep(UNREACHABLE_MS / 2)
    await onPrimary(lab, (client) => client.query('select pg_switch_wal()'))
  }
  await primary.kill()
  await rm(lab.root.path(primary.dataFolder), { recursive: true, force: true })
  say(`killed ${primary.name} and removed its data, while the repository was unreachable`)
  await waitUntil('a standby is promoted', PROMOTED_TIMEOUT_MS, async () => {
    const leader = await findLeader(lab.nodes)
    return leader !== undefined && leader !== primary
  })
  await repository.network.connect()
  await primary.start()
  await repository.startServers()
}

async function primaryOf(nodes: ClusterNode[]): Promise<ClusterNode> {
  const primary = await findLeader(nodes)
  if (!primary) throw new Error('The cluster has no primary.')
  return primary
}

async function readTimeline({ lab }: RestoreContext): Promise<number> {
  return onPrimary(lab, async (client) => {
    // pg_control_checkpoint() has the new timeline only after the next checkpoint.
    const { rows } = await client.query<{ name: string }>(
      'select pg_walfile_name(pg_current_wal_lsn()) as name',
    )
    return Number.parseInt(rows[0]?.name.slice(0, 8) ?? '0', 16)
  })
}
