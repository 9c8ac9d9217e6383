// One host of the lab: runs processes in its own network namespace. All hosts share one root.
import { join } from 'node:path'
import {
  type CommandResult,
  type Daemon,
  processesIn,
  type RunOptions,
  run,
  signalAll,
  startDaemon,
} from '../parts/processes.ts'
import type { NodeNetwork } from './network.ts'
import { backrestEnvironment, ROOT_ENVIRONMENT, type Root, type RootUser } from './root-mounts.ts'

export interface HostOptions {
  root: Root
  network: NodeNetwork
  logFolder: string
}

export class Host {
  readonly name: string
  readonly address: string
  readonly network: NodeNetwork
  protected readonly root: Root
  readonly #logFolder: string
  #namespace = ''

  constructor({ network, root, logFolder }: HostOptions) {
    this.name = network.name
    this.address = network.address
    this.network = network
    this.root = root
    this.#logFolder = logFolder
  }

  /** Path inside the root of the configuration and the data of this host. */
  get folder(): string {
    return `/srv/${this.name}`
  }

  async createNetwork(): Promise<void> {
    await this.network.create()
    this.#namespace = await this.network.namespace()
  }

  /** Runs a command to its end. */
  run(user: RootUser, command: string[], options: RunOptions = {}): Promise<CommandResult> {
    return run('nsenter', this.#command(user, command), { env: this.#environment, ...options })
  }

  /** Starts a process that runs until it is stopped. */
  startDaemon(name: string, user: RootUser, command: string[]): Promise<Daemon> {
    return startDaemon('nsenter', this.#command(user, command), {
      logFile: join(this.#logFolder, `${this.name}-${name}.log`),
      env: this.#environment,
    })
  }

  /** Kills all processes of the host, as if it lost power. */
  async kill(): Promise<void> {
    await this.signalRepeatedly('SIGKILL')
  }

  async remove(): Promise<void> {
    await this.kill()
    await this.network.remove()
  }

  /** A process can start another one before the signal reaches it, so this repeats until it finds no new process. */
  protected async signalRepeatedly(signal: 'SIGSTOP' | 'SIGKILL', name?: string): Promise<number[]> {
    const signalled = new Set<number>()
    for (;;) {
      const found = (await processesIn(this.#namespace, name)).filter((pid) => !signalled.has(pid))
      if (found.length === 0) return [...signalled]
      signalAll(found, signal)
      for (const pid of found) signalled.add(pid)
    }
  }

  #command(user: RootUser, command: string[]): string[] {
    return this.network.command(['chroot', ...this.root.command(user, command)])
  }

  get #environment(): Record<string, string> {
    return { ...ROOT_ENVIRONMENT, ...backrestEnvironment(this.folder) }
  }
}
