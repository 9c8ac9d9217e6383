// The faults that the drill can cause. Each starts, is held for a time while the load goes on, and is then healed.
import { waitUntil } from '../parts/wait-until.ts'
import type { Instance } from './instances.ts'
import type { ClusterNode } from './node.ts'
import {
  findEtcdLeader,
  findLeader,
  findSynchronousStandbys,
  isNodeStreaming,
  switchover,
} from './patroni.ts'

const LEADER_TIMEOUT_MS = 300_000
const LEADER_POLL_MS = 200
const STREAMING_TIMEOUT_MS = 300_000
const LOST_PACKETS_PERCENT = 20

export interface RunningFault {
  /** How long to wait before `heal`. */
  holdMs: number
  /** What happened to which node or instance. */
  detail: string
  heal: () => Promise<void>
}

/** What faults act on. */
export interface FaultTargets {
  nodes: ClusterNode[]
  instances: Instance[]
  /** Folder of the Debian root. */
  root: string
  random: () => number
  patronictl: (args: string[]) => Promise<string>
}

interface Fault {
  description: string
  start: (targets: FaultTargets) => Promise<RunningFault>
}

export type FaultName =
  | 'kill-postgres'
  | 'kill-node'
  | 'kill-patroni'
  | 'kill-service'
  | 'partition'
  | 'isolate'
  | 'packet-loss'
  | 'freeze-postgres'
  | 'freeze-node'
  | 'switchover'
  | 'lose-etcd'
  | 'lose-etcd-leader'
  | 'freeze-standbys'
  | 'kill-synchronous-standby'
  | 'fill-disk'
  | 'restart-postgres'
  | 'rolling-restart'
  | 'upgrade-service'

export const FAULTS: Record<FaultName, Fault> = {
  'kill-postgres': {
    description: 'kill -9 of the PostgreSQL of the primary',
    start: async (targets) => {
      const { primary } = await rolesOf(targets)
      await primary.killPostgres()
      return { holdMs: 0, detail: `killed PostgreSQL on ${primary.name}`, heal: nothing }
    },
  },
  'kill-node': {
    description: 'kill -9 of all processes on the node of the primary',
    start: async (targets) => killNode((await rolesOf(targets)).primary, 30_000),
  },
  'kill-patroni': {
    description: 'kill -9 of the Patroni of the primary; its PostgreSQL keeps running',
    start: async (targets) => {
      const { primary } = await rolesOf(targets)
      await primary.killPatroni()
      return {
        holdMs: 30_000,
        detail: `killed Patroni on ${primary.name}`,
        heal: () => primary.startPatroni(),
      }
    },
  },
  'kill-service': {
    description: 'kill -9 of one of the two instances of the service',
    start: async (targets) => {
      const instance = pick(targets.instances, targets.random)
      await instance.kill()
      return {
        holdMs: 3_000,
        detail: `killed ${instance.name}`,
        heal: async () => {
          await instance.start()
          await instance.waitUntilReady()
        },
      }
    },
  },
  partition: {
    description: 'the node of the primary is cut off from everything',
    start: async (targets) => {
      const { primary } = await rolesOf(targets)
      await primary.network.disconnect()
      const detail = `cut off ${primary.name}`
      return { holdMs: 35_000, detail, heal: () => primary.network.connect() }
    },
  },
  isolate: {
    description: 'the primary is cut off from the other nodes; the service and HAProxy still reach it',
    start: async (targets) => {
      const { primary, standbys } = await rolesOf(targets)
      const peers = standbys.map(({ address }) => address)
      await primary.network.dropPacketsTo(peers)
      return {
        holdMs: 35_000,
        detail: `isolated ${primary.name} from ${namesOf(standbys)}`,
        heal: () => primary.network.sendPacketsTo(peers),
      }
    },
  },
  'packet-loss': {
    description: `${LOST_PACKETS_PERCENT} % of the packets that the primary sends are lost`,
    start: async (targets) => {
      const { primary } = await rolesOf(targets)
      await primary.network.losePackets(LOST_PACKETS_PERCENT, targets.root)
      return {
        holdMs: 30_000,
        detail: `${primary.name} loses ${LOST_PACKETS_PERCENT} % of the packets that it sends`,
        heal: () => primary.network.stopLosingPackets(targets.root),
      }
    },
  },
  'freeze-postgres': {
    description: 'SIGSTOP of all PostgreSQL processes of the primary',
    start: async (targets) => freeze([(await rolesOf(targets)).primary], 20_000, 'postgres'),
  },
  'freeze-node': {
    description: 'SIGSTOP of all processes on the node of the primary',
    start: async (targets) => freeze([(await rolesOf(targets)).primary], 30_000),
  },
  switchover: {
    description: 'a planned switchover to another node',
    start: async (targets) => {
      const { primary } = await rolesOf(targets)
      return { holdMs: 0, detail: await switchover(primary), heal: nothing }
    },
  },
  'lose-etcd': {
    description: 'kill -9 of the etcd of a node that is not the etcd leader',
    start: async ({ nodes, random }) => {
      const etcdLeader = await findEtcdLeader(nodes)
      return killEtcd(pick(without(nodes, etcdLeader), random))
    },
  },
  'lose-etcd-leader': {
    description: 'kill -9 of the etcd leader',
    start: async ({ nodes }) => killEtcd(await findEtcdLeader(nodes)),
  },
  'freeze-standbys': {
    description: 'SIGSTOP of all PostgreSQL processes of both standbys',
    start: async (targets) => freeze((await rolesOf(targets)).standbys, 20_000, 'postgres'),
  },
  'kill-synchronous-standby': {
    description: 'kill -9 of all processes on the node of a standby that confirms commits',
    start: async (targets) => {
      const { primary, standbys } = await rolesOf(targets)
      const names = await findSynchronousStandbys(primary)
      const synchronous = standbys.filter(({ name }) => names.includes(name))
      // With asynchronous replication, no standby is synchronous.
      return killNode(pick(synchronous.length > 0 ? synchronous : standbys, targets.random), 25_000)
    },
  },
  'fill-disk': {
    description: 'the data volume of the primary is full, then freed',
    start: async (targets) => {
      const { primary } = await rolesOf(targets)
      const free = await primary.fillVolume()
      return { holdMs: 15_000, detail: `filled the data volume of ${primary.name}`, heal: free }
    },
  },
  'restart-postgres': {
    description: 'restart of PostgreSQL: the standbys, then the primary',
    start: async (targets) => {
      const { primary, standbys } = await rolesOf(targets)
      await restartStandbys(targets, standbys)
      await targets.patronictl(['restart', 'petstore', primary.name, '--force'])
      const detail = `restarted ${namesOf(standbys)}, then ${primary.name}`
      return { holdMs: 0, detail, heal: nothing }
    },
  },
  'rolling-restart': {
    description: 'restart of PostgreSQL: the standbys, then the former primary after a switchover',
    start: async (targets) => {
      const { primary, standbys } = await rolesOf(targets)
      await restartStandbys(targets, standbys)
      await switchover(primary)
      await untilAllConfirm(targets)
      await restartStandbys(targets, [primary])
      const detail = `restarted ${namesOf(standbys)}, then ${primary.name} after a switchover`
      return { holdMs: 0, detail, heal: nothing }
    },
  },
  'upgrade-service': {
    description: 'rolling restart of the service: SIGTERM, exit, start, ready, one instance after the other',
    start: async ({ instances }) => {
      for (const instance of instances) {
        await instance.stop()
        await instance.start()
        await instance.waitUntilReady()
      }
      return { holdMs: 0, detail: `restarted ${namesOf(instances)}`, heal: nothing }
    },
  },
}

async function nothing(): Promise<void> {}

async function rolesOf({ nodes }: FaultTargets): Promise<{ primary: ClusterNode; standbys: ClusterNode[] }> {
  let primary: ClusterNode | undefined
  await waitUntil(
    'the cluster has a primary',
    LEADER_TIMEOUT_MS,
    async () => {
      primary = await findLeader(nodes)
      return primary !== undefined
    },
    LEADER_POLL_MS,
  )
  if (!primary) throw new Error('The cluster has no primary.')
  return { primary, standbys: without(nodes, primary) }
}

/** Restarts PostgreSQL on one standby at a time. */
async function restartStandbys(targets: FaultTargets, standbys: ClusterNode[]): Promise<void> {
  for (const standby of standbys) {
    await targets.patronictl(['restart', 'petstore', standby.name, '--force'])
    await untilAllConfirm(targets)
  }
}

/**
 * Patroni does not let a standby confirm commits while it restarts, and for some seconds after that. After a switchover
 * in this time, writes would wait for the former primary.
 */
async function untilAllConfirm(targets: FaultTargets): Promise<void> {
  const { primary, standbys } = await rolesOf(targets)
  await waitUntil(
    `${namesOf(standbys)} stream and confirm commits`,
    STREAMING_TIMEOUT_MS,
    async () => {
      const confirming = await findSynchronousStandbys(primary)
      const streaming = await Promise.all(standbys.map(isNodeStreaming))
      // With asynchronous replication, no standby confirms.
      return streaming.every(Boolean) && (confirming.length === 0 || confirming.length === standbys.length)
    },
    LEADER_POLL_MS,
  )
}

async function killNode(node: ClusterNode, holdMs: number): Promise<RunningFault> {
  await node.kill()
  return { holdMs, detail: `killed all processes on ${node.name}`, heal: () => node.start() }
}

async function killEtcd(node: ClusterNode): Promise<RunningFault> {
  await node.killEtcd()
  return { holdMs: 20_000, detail: `killed etcd on ${node.name}`, heal: () => node.startEtcd() }
}

async function freeze(nodes: ClusterNode[], holdMs: number, processes?: 'postgres'): Promise<RunningFault> {
  const continueAll = await Promise.all(nodes.map((node) => node.freeze(processes)))
  return {
    holdMs,
    detail: `stopped ${processes ?? 'all processes'} on ${namesOf(nodes)}`,
    heal: async () => {
      for (const resume of continueAll) resume()
    },
  }
}

function pick<Item>(items: Item[], random: () => number): Item {
  const item = items[Math.floor(random() * items.length)]
  if (item === undefined) throw new Error('There is nothing to select from.')
  return item
}

function without<Item>(items: Item[], excluded: Item): Item[] {
  return items.filter((item) => item !== excluded)
}

function namesOf(items: { name: string }[]): string {
  return items.map(({ name }) => name).join(' and ')
}
