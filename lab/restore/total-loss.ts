// Kills all nodes at once under load and removes their data, then restores the cluster as docs/backups.md describes.
// Measures what is lost, and how long it takes until the service responds.
import type { ClusterNode } from '../cluster/node.ts'
import { findLeader } from '../cluster/patroni.ts'
import { waitUntil } from '../parts/wait-until.ts'
import type { RestoredRows } from './compare.ts'
import { readRows } from './contents.ts'
import { onPrimary, type RestoreContext } from './context.ts'
import { ASIDE_HBA, COPY_PORT, connectAsSuperuser, writeAsideHba } from './copy.ts'
import type { Change, Journal } from './journal.ts'
import { runBackrest } from './repository.ts'
import { checkService, request, startEpoch, verify } from './service-check.ts'

const STEP_TIMEOUT_MS = 300_000
const POLL_MS = 100
const HEALTHY_TIMEOUT_MS = 180_000
/** `archive_timeout`, and the time that pgBackRest needs for one segment. */
const LOST_SECONDS_MAX = 65

export interface TotalLoss {
  /** Acknowledged changes that are lost, and the age of the oldest one at the moment of the loss. */
  lostChanges: number
  lostSeconds: number
  acknowledgedBefore: number
  /** Seconds from the decision to restore. */
  restoredAfter: number
  replayedAfter: number
  verifiedAfter: number
  firstReadAfter: number
  firstWriteAfter: number
  healthyAfter: number
}

export async function loseEverything(context: RestoreContext): Promise<TotalLoss> {
  const { lab, load, repository, journal, violations, say } = context
  say('killing all nodes at once, and removing their data')
  const lostAt = performance.now()
  await Promise.all(lab.nodes.map((node) => node.kill()))
  // The clients would repeat their lost requests on the restored service.
  void load.gate.pause(1)
  await load.follower.stop()
  for (const node of lab.nodes) await node.removeData()
  const decidedAt = performance.now()
  const seconds = () => (performance.now() - decidedAt) / 1000
  const [first, ...others] = lab.nodes
  if (first === undefined) throw new Error('The cluster has no nodes.')

  await repository.startServers()
  await Promise.all(lab.nodes.map((node) => node.startEtcd()))
  say(`restoring ${first.name} to the end of the archive`)
  const restored = await runBackrest(first, ['restore'])
  if (restored.exitCode !== 0)
    throw new Error(`pgbackrest restore failed: ${restored.stderr}${restored.stdout}`)
  const restoredAfter = seconds()
  await startAlone(context, first)
  const replayedAfter = seconds()
  const urlOf = (role: string) => `postgres://${role}@${first.address}:${COPY_PORT}/petstore`
  await verify(context, urlOf('petstore_verify'), 'after the loss of all nodes')
  const verifiedAfter = seconds()
  await startEpoch(context, urlOf('petstore_app'))
  await pgCtl(first, ['-m', 'fast', 'stop'])

  say('starting Patroni on the restored data')
  await first.startPatroni()
  await waitUntil('Patroni makes the restored node the leader', STEP_TIMEOUT_MS, async () => {
    return (await findLeader(lab.nodes)) === first
  })
  // The service reads only from a primary whose commits a standby confirms.
  for (const node of others) await node.startPatroni()
  const firstReadAfter = await untilStatus(context, 'GET', 200, seconds)
  const firstWriteAfter = await untilStatus(context, 'POST', 201, seconds)
  await lab.waitUntilHealthy(HEALTHY_TIMEOUT_MS)
  const healthyAfter = seconds()
  await checkService(context, lab.baseUrl, 'after the loss of all nodes')
  const lost = findLost(journal, await onPrimary(lab, readRows), lostAt)
  if (lost.lostSeconds > LOST_SECONDS_MAX) {
    const text = `${lost.lostChanges} acknowledged changes are lost, the oldest from ${lost.lostSeconds.toFixed(1)} s before the loss`
    violations.add({ kind: 'restoredTooLittle', subject: 'total loss', text })
  }
  return {
    ...lost,
    restoredAfter,
    replayedAfter,
    verifiedAfter,
    firstReadAfter,
    firstWriteAfter,
    healthyAfter,
  }
}

/** PostgreSQL without Patroni, on a port that no client uses, until it has replayed the archive. */
async function startAlone({ lab }: RestoreContext, node: ClusterNode): Promise<void> {
  await writeAsideHba(lab.root)
  const settings = {
    listen_addresses: node.address,
    port: COPY_PORT,
    hba_file: ASIDE_HBA,
    // No standby can confirm a commit.
    synchronous_standby_names: '',
  }
  const options = Object.entries(settings).map(([name, value]) => `-c ${name}=${value}`)
  await pgCtl(node, [
    '-w',
    '-t',
    '300',
    '-l',
    `${node.folder}/volume/restore.log`,
    '-o',
    options.join(' '),
    'start',
  ])
  await waitUntil('the restored node accepts writes', STEP_TIMEOUT_MS, () => isPrimary(node.address), POLL_MS)
}

async function isPrimary(address: string): Promise<boolean> {
  const client = await connectAsSuperuser(address).catch(() => undefined)
  if (client === undefined) return false
  try {
    const { rows } = await client.query<{ standby: boolean }>('select pg_is_in_recovery() as standby')
    return rows[0]?.standby === false
  } finally {
    await client.end().catch(() => {})
  }
}

async function pgCtl(node: ClusterNode, args: string[]): Promise<void> {
  const command = ['pg_ctl', '-D', node.dataFolder, ...args]
  const { exitCode, stdout, stderr } = await node.run('postgres', command, { timeoutMs: STEP_TIMEOUT_MS })
  if (exitCode !== 0) throw new Error(`pg_ctl ${args.join(' ')} failed on ${node.name}:\n${stdout}${stderr}`)
}

async function untilStatus(
  context: RestoreContext,
  method: 'GET' | 'POST',
  status: number,
  seconds: () => number,
): Promise<number> {
  const { lab } = context
  const body = method === 'POST' ? { name: 'first write after the restore', categoryId: 1 } : undefined
  const path = method === 'POST' ? '/pets' : '/pets?limit=1'
  await waitUntil(`${method} ${path} returns ${status}`, STEP_TIMEOUT_MS, async () => {
    const received = await request(context, lab.baseUrl, method, path, body).catch(() => 0)
    return received === status
  })
  return seconds()
}

/** Changes acknowledged before the loss that the restored database does not have. */
export function findLost(
  journal: Journal,
  rows: RestoredRows,
  lostAt: number,
): Pick<TotalLoss, 'lostChanges' | 'lostSeconds' | 'acknowledgedBefore'> {
  const names = new Set(rows.pets.map(({ name }) => name))
  const orders = new Map(rows.orders.map((order) => [order.note, order]))
  const statusOf = new Map(rows.orders.map(({ id, status }) => [id, status]))
  const versions = new Map(rows.pets.map(({ id, version }) => [id, version]))
  const changes: [Change, isThere: boolean][] = [
    ...[...journal.pets].map(([name, change]): [Change, boolean] => [change, names.has(name)]),
    ...[...journal.orders].map(([note, change]): [Change, boolean] => [change, orders.has(note)]),
    ...[...journal.orderEnds].map(([id, end]): [Change, boolean] => [end, statusOf.get(id) === end.status]),
    ...[...journal.statuses].flatMap(([id, list]) =>
      list.map((change): [Change, boolean] => [change, (versions.get(id) ?? 0) >= change.version]),
    ),
  ]
  const acknowledged = changes.filter(
    ([{ acknowledgedAt = Number.POSITIVE_INFINITY }]) => acknowledgedAt < lostAt,
  )
  const lost = acknowledged
    .filter(([, isThere]) => !isThere)
    .map(([{ acknowledgedAt = lostAt }]) => acknowledgedAt)
  const oldest = lost.reduce((least, at) => Math.min(least, at), lostAt)
  return {
    lostChanges: lost.length,
    lostSeconds: (lostAt - oldest) / 1000,
    acknowledgedBefore: acknowledged.length,
  }
}
