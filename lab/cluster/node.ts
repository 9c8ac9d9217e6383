// One node of the cluster: etcd, and Patroni with its PostgreSQL, in their own network namespace and data volume.
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Tls } from '../parts/https.ts'
import { type Daemon, run, signalAll } from '../parts/processes.ts'
import { type ClusterMember, configureHost, readTls, replaceInFile } from './cluster-files.ts'
import { Host } from './host.ts'
import { SUBNET } from './network.ts'

const KILL_TIMEOUT_MS = 10_000

export class ClusterNode extends Host {
  #tls: Tls | undefined
  #etcd: Daemon | undefined
  #patroni: Daemon | undefined

  /** Needs the certificates of `installClusterFiles`. */
  async create(all: ClusterMember[], replication: 'quorum' | 'asynchronous'): Promise<void> {
    await this.createNetwork()
    await this.root.createFolder(this.#etcdFolder, 'etcd')
    await this.root.createVolume(`${this.folder}/volume`)
    await this.root.createFolder(`${this.folder}/volume`, 'postgres')
    await this.root.createFolder(this.socketFolder, 'postgres')
    const values = {
      CLIENT_SUBNET: SUBNET,
      ADMIN_SUBNET: SUBNET,
      ETCD_DATA: this.#etcdFolder,
      POSTGRES_DATA: this.dataFolder,
      SOCKET_FOLDER: this.socketFolder,
    }
    await configureHost(this.root, all, { host: this.name, folder: this.configFolder, values })
    this.#tls = await readTls(this.root, this.name)
    if (replication === 'quorum') return
    const replace = (from: string, to: string) => replaceInFile(this.root, this.patroniConfig, from, to)
    await replace('synchronous_mode: quorum', "synchronous_mode: 'off'")
    await replace('synchronous_mode_strict: true', 'synchronous_mode_strict: false')
  }

  async startEtcd(): Promise<void> {
    const command = ['etcd', '--config-file', `${this.configFolder}/etcd.yml`]
    this.#etcd = await this.startDaemon('etcd', 'etcd', command)
  }

  async startPatroni(): Promise<void> {
    this.#patroni = await this.startDaemon('patroni', 'postgres', ['patroni', this.patroniConfig])
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
    const text = await readFile(this.root.path(`${this.dataFolder}/postmaster.pid`), 'utf8')
    signalAll([Number(text.split('\n', 1)[0])], 'SIGKILL')
  }

  /** Stops all processes of the node, or only those of PostgreSQL, and returns a function that continues them. */
  async freeze(name?: 'postgres'): Promise<() => void> {
    const pids = await this.signalRepeatedly('SIGSTOP', name)
    return () => signalAll(pids, 'SIGCONT')
  }

  /** Fills the data volume, and returns a function that frees it. */
  async fillVolume(): Promise<() => Promise<void>> {
    const filler = join(this.root.path(`${this.folder}/volume`), 'filler')
    // dd ends with an error when the volume is full.
    await run('dd', ['if=/dev/zero', `of=${filler}`, 'bs=1M'])
    return () => rm(filler)
  }

  /** As if the disk was replaced. Nothing on the node may run. */
  async removeData(): Promise<void> {
    await rm(this.root.path(this.dataFolder), { recursive: true, force: true })
    await rm(this.root.path(this.#etcdFolder), { recursive: true, force: true })
    await this.root.createFolder(this.#etcdFolder, 'etcd')
  }

  /** The certificate of this node. */
  get tls(): Tls {
    if (!this.#tls) throw new Error(`${this.name} was not created.`)
    return this.#tls
  }

  /** Paths inside the root. */
  get patroniConfig(): string {
    return `${this.configFolder}/patroni.yml`
  }

  get socketFolder(): string {
    return `${this.folder}/run`
  }

  /** A folder inside the volume: Patroni removes and renames it, which is impossible for a mount point. */
  get dataFolder(): string {
    return `${this.folder}/volume/data`
  }

  get configFolder(): string {
    return `${this.folder}/config`
  }

  get #etcdFolder(): string {
    return `${this.folder}/etcd`
  }
}
