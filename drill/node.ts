// One node of the cluster: etcd, and Patroni with its PostgreSQL, in their own network namespace and data volume.
// Knows nothing of the other nodes except their addresses.
import { mkdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { NodeNetwork } from './network.ts'
import { SUBNET } from './network.ts'
import { type Daemon, processesIn, run, signalAll, startDaemon } from './processes.ts'
import { ROOT_ENVIRONMENT, type Root } from './root-mounts.ts'

export const SUPERUSER_PASSWORD = 'drill-superuser'
const REPLICATION_PASSWORD = 'drill-replication'
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
  #etcd: Daemon | undefined
  #patroni: Daemon | undefined

  constructor({ network, root, logFolder }: NodeOptions) {
    this.name = network.name
    this.address = network.address
    this.network = network
    this.#root = root
    this.#logFolder = logFolder
  }

  async create(
    all: { name: string; address: string }[],
    replication: 'quorum' | 'asynchronous',
  ): Promise<void> {
    await this.network.create()
    this.#namespace = await this.network.namespace()
    await mkdir(this.#root.path(`${this.#folder}/etcd`), { recursive: true, mode: 0o700 })
    await this.#root.createVolume(`${this.#folder}/volume`)
    const values = {
      name: this.name,
      address: this.address,
      subnet: SUBNET,
      etcdPeers: all.map(({ name, address }) => `${name}=http://${address}:2380`).join(','),
      etcdHosts: all.map(({ address }) => `'${address}:2379'`).join(', '),
      synchronousMode: replication === 'quorum' ? 'quorum' : "'off'",
      synchronousModeStrict: String(replication === 'quorum'),
      superuserPassword: SUPERUSER_PASSWORD,
      replicationPassword: REPLICATION_PASSWORD,
    }
    for (const file of ['etcd.yml', 'patroni.yml'])
      await this.#root.writeConfig(file, `${this.#folder}/${file}`, values)
    await this.#root.giveToPostgres(this.#folder)
  }

  async startEtcd(): Promise<void> {
    this.#etcd = await this.#start('etcd', ['etcd', '--config-file', `${this.#folder}/etcd.yml`])
  }

  async startPatroni(): Promise<void> {
    this.#patroni = await this.#start('patroni', ['patroni', this.patroniConfig])
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
    const text = await readFile(this.#root.path(`${this.#folder}/volume/data/postmaster.pid`), 'utf8')
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

  /** Path inside the root. */
  get patroniConfig(): string {
    return `${this.#folder}/patroni.yml`
  }

  get #folder(): string {
    return `/srv/${this.name}`
  }

  async remove(): Promise<void> {
    await this.kill()
    await this.network.remove()
  }

  #start(daemon: string, command: string[]): Promise<Daemon> {
    const inRoot = ['chroot', ...this.#root.command('postgres', command)]
    return startDaemon('nsenter', this.network.command(inRoot), {
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
