// One node of the cluster: etcd, and Patroni with its PostgreSQL, in their own network namespace and data volume.
// Knows nothing of the other nodes except their addresses.
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type ClusterMember, configureHost, readTls, replaceInFile, type Tls } from './cluster-files.ts'
import type { NodeNetwork } from './network.ts'
import { SUBNET } from './network.ts'
import {
  type CommandResult,
  type Daemon,
  processesIn,
  run,
  type RunOptions,
  signalAll,
  startDaemon,
} from './processes.ts'
import { ROOT_ENVIRONMENT, type Root, type RootUser } from './root-mounts.ts'

const KILL_TIMEOUT_MS = 10_000

export interface NodeOptions {
  root: Root
  network: NodeNetwork
  logFolder: string
}

export class ClusterNode {
  readonly name: string
  readonly address: string
  readonly network: NodeNetwork
  readonly #root: Root
  readonly #logFolder: string
  #namespace = ''
  #tls: Tls | undefined
  #etcd: Daemon | undefined
  #patroni: Daemon | undefined

  constructor({ network, root, logFolder }: NodeOptions) {
    this.name = network.name
    this.address = network.address
    this.network = network
    this.#root = root
    this.#logFolder = logFolder
  }

  /** Needs the certificates of `installClusterFiles`. */
  async create(all: ClusterMember[], replication: 'quorum' | 'asynchronous'): Promise<void> {
    await this.network.create()
    this.#namespace = await this.network.namespace()
    const etcdFolder = `${this.#folder}/etcd`
    await this.#root.createFolder(etcdFolder, 'etcd')
    await this.#root.createVolume(`${this.#folder}/volume`)
    await this.#root.createFolder(`${this.#folder}/volume`, 'postgres')
    await this.#root.createFolder(this.socketFolder, 'postgres')
    const values = {
      CLIENT_SUBNET: SUBNET,
      ADMIN_SUBNET: SUBNET,
      ETCD_DATA: etcdFolder,
      POSTGRES_DATA: this.dataFolder,
      SOCKET_FOLDER: this.socketFolder,
    }
    await configureHost(this.#root, all, { host: this.name, folder: this.#configFolder, values })
    this.#tls = await readTls(this.#root, this.name)
    if (replication === 'quorum') return
    const replace = (from: string, to: string) => replaceInFile(this.#root, this.patroniConfig, from, to)
    await replace('synchronous_mode: quorum', "synchronous_mode: 'off'")
    await replace('synchronous_mode_strict: true', 'synchronous_mode_strict: false')
  }

  async startEtcd(): Promise<void> {
    const command = ['etcd', '--config-file', `${this.#configFolder}/etcd.yml`]
    this.#etcd = await this.#start('etcd', 'etcd', command)
  }

  async startPatroni(): Promise<void> {
    this.#patroni = await this.#start('patroni', 'postgres', ['patroni', this.patroniConfig])
  }

  async start(): Promise<void> {
    await this.startEtcd()
    await this.startPatroni()
  }

  async killEtcd(): Promise<void> {
    await this.#etcd?.stop('SIGKILL', KILL_TIMEOUT_MS)
  }

  /** Kills Patroni only. PostgreSQL keeps running. */
  async killPatroni(): Promise<void> {
    await this.#patroni?.stop('SIGKILL', KILL_TIMEOUT_MS)
  }

  /** Kills the first process of PostgreSQL. The others then exit. */
  async killPostgres(): Promise<void> {
    const text = await readFile(this.#root.path(`${this.dataFolder}/postmaster.pid`), 'utf8')
    signalAll([Number(text.split('\n', 1)[0])], 'SIGKILL')
  }

  /** Kills all processes of the node, as if it lost power. */
  async kill(): Promise<void> {
    await this.#signalRepeatedly('SIGKILL')
  }

  /** Stops all processes of the node, or only those of PostgreSQL, and returns a function that continues them. */
  async freeze(name?: 'postgres'): Promise<() => void> {
    const pids = await this.#signalRepeatedly('SIGSTOP', name)
    return () => signalAll(pids, 'SIGCONT')
  }

  /** Fills the data volume, and returns a function that frees it. */
  async fillVolume(): Promise<() => Promise<void>> {
    const filler = join(this.#root.path(`${this.#folder}/volume`), 'filler')
    // dd ends with an error when the volume is full.
    await run('dd', ['if=/dev/zero', `of=${filler}`, 'bs=1M'])
    return () => rm(filler)
  }

  /** Runs a command on this node, inside the root. */
  run(user: RootUser, command: string[], options: RunOptions = {}): Promise<CommandResult> {
    return run('nsenter', this.#command(user, command), { env: ROOT_ENVIRONMENT, ...options })
  }

  /** The certificate of this node. */
  get tls(): Tls {
    if (!this.#tls) throw new Error(`${this.name} was not created.`)
    return this.#tls
  }

  /** Paths inside the root. */
  get patroniConfig(): string {
    return `${this.#configFolder}/patroni.yml`
  }

  get socketFolder(): string {
    return `${this.#folder}/run`
  }

  /** A folder inside the volume: Patroni removes and renames it, which is impossible for a mount point. */
  get dataFolder(): string {
    return `${this.#folder}/volume/data`
  }

  get #configFolder(): string {
    return `${this.#folder}/config`
  }

  get #folder(): string {
    return `/srv/${this.name}`
  }

  async remove(): Promise<void> {
    await this.kill()
    await this.network.remove()
  }

  #command(user: RootUser, command: string[]): string[] {
    return this.network.command(['chroot', ...this.#root.command(user, command)])
  }

  #start(daemon: string, user: RootUser, command: string[]): Promise<Daemon> {
    return startDaemon('nsenter', this.#command(user, command), {
      logFile: join(this.#logFolder, `${this.name}-${daemon}.log`),
      env: ROOT_ENVIRONMENT,
    })
  }

  /** A process can start another one before the signal reaches it, so this repeats until it finds no new process. */
  async #signalRepeatedly(signal: 'SIGSTOP' | 'SIGKILL', name?: string): Promise<number[]> {
    const signalled = new Set<number>()
    for (;;) {
      const found = (await processesIn(this.#namespace, name)).filter((pid) => !signalled.has(pid))
      if (found.length === 0) return [...signalled]
      signalAll(found, signal)
      for (const pid of found) signalled.add(pid)
    }
  }
}
