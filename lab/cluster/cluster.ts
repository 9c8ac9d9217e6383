// The lab of a drill: a Patroni cluster of three nodes, two instances of the service, and the load balancers.
// Runs inside the namespaces of lab/cluster/namespaces.ts.
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Client } from 'pg'
import type { CommandResult, Daemon } from '../parts/processes.ts'
import { waitUntil } from '../parts/wait-until.ts'
import { APP_PASSWORD, installClusterFiles } from './cluster-files.ts'
import { connectTo, MIGRATOR_PASSWORD, setUpDatabase } from './database.ts'
import { FAULTS, type FaultName, type FaultTargets, type RunningFault } from './faults.ts'
import { Instance, runPetstore, type ServiceOptions } from './instances.ts'
import {
  CA_FILE,
  HAPROXY_ADDRESS,
  SERVICE_URL,
  startPostgresHaproxy,
  startServiceHaproxy,
} from './load-balancers.ts'
import { addressOf, createBridge, NodeNetwork, removeBridge } from './network.ts'
import { ClusterNode } from './node.ts'
import { findLeader, isClusterHealthy } from './patroni.ts'
import { Root } from './root-mounts.ts'

export type { RunningFault } from './faults.ts'
export type { CommandResult } from '../parts/processes.ts'

const NODES = [1, 2, 3]
const INSTANCES = [1, 2]
const START_TIMEOUT_MS = 600_000
const HEALTH_POLL_MS = 250
const KILL_TIMEOUT_MS = 10_000

/** How the service reaches PostgreSQL. */
export type Connection = 'haproxy' | 'multi-host'

export interface LabOptions {
  /** Folder of the Debian root. */
  root: string
  /** Checkout whose bin/petstore.ts is run. */
  service: string
  connection: Connection
  replication: 'quorum' | 'asynchronous'
  /** Seeded, from 0 to 1. */
  random: () => number
  /** Progress of long work. */
  say: (text: string) => void
  /** Folder for the output of every process. Default: a new folder for temporary files. The lab never removes it. */
  logFolder?: string
}

export interface Lab {
  /** The load balancer in front of both instances. */
  baseUrl: string
  adminUrls: string[]
  apiKey: string
  logFolder: string
  /** Runs a command of the service in the environment of the lab, for example `import`. */
  runCommand: (args: string[], input?: string) => Promise<CommandResult>
  /** Connects as superuser to the database of the service, directly on the primary. */
  connectToPrimary: () => Promise<Client>
  nodes: ClusterNode[]
  instances: Instance[]
  root: Root
  patronictl: (args: string[]) => Promise<string>
  leader: () => Promise<string | undefined>
  /** Returns the milliseconds waited. Rejects after the timeout. */
  waitUntilHealthy: (timeoutMs: number) => Promise<number>
  startFault: (name: FaultName) => Promise<RunningFault>
  stop: () => Promise<void>
}

export async function startLab(options: LabOptions): Promise<Lab> {
  const logFolder = options.logFolder ?? mkdtempSync(join(tmpdir(), 'petstore-drill-logs-'))
  try {
    return await startLabWithLogs(options, logFolder)
  } catch (error) {
    throw new Error(`The lab did not start; the logs of its processes are in ${logFolder}.`, { cause: error })
  }
}

async function startLabWithLogs(options: LabOptions, logFolder: string): Promise<Lab> {
  const { connection, replication, say } = options
  const root = new Root(options.root)
  const nodes = NODES.map((number) => {
    const network = new NodeNetwork(`n${number}`, addressOf(number))
    return new ClusterNode({ root, network, logFolder })
  })
  const tls = `sslmode=verify-full&sslrootcert=${root.path(CA_FILE)}`
  const service: ServiceOptions = {
    folder: options.service,
    databaseUrl: databaseUrl(connection, nodes, tls),
    migrationDatabaseUrl: `postgres://petstore_migrator:${MIGRATOR_PASSWORD}@${HAPROXY_ADDRESS}/petstore?${tls}`,
    logFolder,
  }
  const instances = INSTANCES.map((number) => new Instance(number, service))

  say('starting three nodes with etcd, Patroni and PostgreSQL')
  await startCluster(root, nodes, replication)
  const daemons = [await startPostgresHaproxy(root, logFolder, nodes)]
  const synchronous = replication === 'quorum'
  await waitUntil('the cluster is healthy', START_TIMEOUT_MS, () => isClusterHealthy(nodes, synchronous))

  say('creating the database')
  const apiKey = await setUpDatabase(await primaryOf(nodes), service)

  say('starting two instances of the service and HAProxy')
  await Promise.all(instances.map((instance) => instance.start()))
  await Promise.all(instances.map((instance) => instance.waitUntilReady()))
  daemons.push(await startServiceHaproxy(root, logFolder))
  const waitUntilHealthy = healthOf(nodes, instances, synchronous)
  await waitUntilHealthy(START_TIMEOUT_MS)

  const targets: FaultTargets = {
    nodes,
    instances,
    root: options.root,
    random: options.random,
    patronictl: (args) => patronictl(nodes, args),
  }
  return {
    baseUrl: SERVICE_URL,
    adminUrls: instances.map(({ admin }) => `http://${admin}`),
    apiKey,
    logFolder,
    runCommand: (args, input) => runPetstore(service, args, input),
    connectToPrimary: async () => connectTo(await primaryOf(nodes)),
    nodes,
    instances,
    root,
    patronictl: targets.patronictl,
    leader: async () => (await findLeader(nodes))?.name,
    waitUntilHealthy,
    startFault: (name) => FAULTS[name].start(targets),
    stop: () => stopLab(root, nodes, instances, daemons),
  }
}

async function startCluster(
  root: Root,
  nodes: ClusterNode[],
  replication: LabOptions['replication'],
): Promise<void> {
  await root.mount()
  await createBridge()
  await installClusterFiles(root, nodes)
  await Promise.all(nodes.map((node) => node.create(nodes, replication)))
  await Promise.all(nodes.map((node) => node.start()))
}

function healthOf(
  nodes: ClusterNode[],
  instances: Instance[],
  synchronous: boolean,
): Lab['waitUntilHealthy'] {
  const isHealthy = async () => {
    const healthy = await Promise.all([
      isClusterHealthy(nodes, synchronous),
      ...instances.map((instance) => instance.isReady()),
    ])
    return healthy.every(Boolean)
  }
  return (timeoutMs) =>
    waitUntil('the cluster and the service are healthy', timeoutMs, isHealthy, HEALTH_POLL_MS)
}

/** Kills everything at once. The mounts and networks disappear at the latest when the drill exits. */
async function stopLab(
  root: Root,
  nodes: ClusterNode[],
  instances: Instance[],
  daemons: Daemon[],
): Promise<void> {
  await Promise.all(instances.map((instance) => instance.kill()))
  await Promise.all(daemons.map((daemon) => daemon.stop('SIGKILL', KILL_TIMEOUT_MS)))
  await Promise.all(nodes.map((node) => node.remove()))
  await removeBridge()
  await root.unmount()
}

function databaseUrl(connection: Connection, nodes: ClusterNode[], tls: string): string {
  const hosts = nodes.map(({ address }) => `${address}:5432`).join(',')
  const target = {
    haproxy: `${HAPROXY_ADDRESS}/petstore?${tls}`,
    'multi-host': `${hosts}/petstore?${tls}`,
  }[connection]
  return `postgres://petstore_app:${APP_PASSWORD}@${target}`
}

async function primaryOf(nodes: ClusterNode[]): Promise<ClusterNode> {
  const primary = await findLeader(nodes)
  if (!primary) throw new Error('The cluster has no primary.')
  return primary
}

async function patronictl(nodes: ClusterNode[], args: string[]): Promise<string> {
  const [node] = nodes
  if (!node) throw new Error('The cluster has no nodes.')
  const { exitCode, stdout, stderr } = await node.run('postgres', [
    'patronictl',
    '-c',
    node.patroniConfig,
    ...args,
  ])
  if (exitCode !== 0) throw new Error(`patronictl ${args.join(' ')} failed with ${exitCode}:\n${stderr}`)
  return stdout
}
