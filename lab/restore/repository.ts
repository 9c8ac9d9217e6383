// The repository host of the lab, and pgBackRest on all hosts, configured with the files of deploy/backup.
import { randomBytes } from 'node:crypto'
import { chmod, copyFile, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { Lab } from '../cluster/cluster.ts'
import { Host } from '../cluster/host.ts'
import { addressOf, NodeNetwork } from '../cluster/network.ts'
import { type CommandResult, type Daemon, runChecked } from '../parts/processes.ts'

const DEPLOY_FOLDER = resolve(import.meta.dirname, '../../deploy/backup')
const CERTIFICATES = '/srv/backup-certificates'
const CALLBACK = '/srv/archive-after-failover'
const HOST_NUMBER = 10
const COMMAND_TIMEOUT_MS = 5 * 60_000
const STANZA = 'petstore'
/** Under load, a standby can miss the checkpoint that pgBackRest waits for. */
const EXIT_ARCHIVE_TIMEOUT = 82
const ATTEMPTS_MAX = 3

export interface Backup {
  label: string
  type: 'full' | 'incr'
  attempts: number
  /** Of the last attempt. */
  seconds: number
  /** Size of the database, and what this backup adds to the repository. */
  databaseBytes: number
  repositoryBytes: number
}

export class Repository extends Host {
  readonly #lab: Lab
  readonly #servers = new Map<string, Daemon>()

  constructor(lab: Lab) {
    const network = new NodeNetwork('backup', addressOf(HOST_NUMBER))
    super({ root: lab.root, network, logFolder: lab.logFolder })
    this.#lab = lab
  }

  /** Path inside the root. */
  get repositoryFolder(): string {
    return `${this.folder}/volume/repository`
  }

  /** Path inside the root. */
  get socketFolder(): string {
    return `${this.folder}/run`
  }

  /** Installs pgBackRest on all hosts and starts its servers, as docs/backups.md describes. */
  async create(): Promise<void> {
    const hosts = [this, ...this.#lab.nodes]
    await this.createNetwork()
    await this.root.createVolume(`${this.folder}/volume`)
    await this.root.createFolder(`${this.folder}/volume`, 'postgres')
    await this.root.createFolder(this.repositoryFolder, 'postgres')
    await this.root.createFolder(this.socketFolder, 'postgres')
    await this.#nameHosts(hosts)
    await this.#makeCertificates(hosts)
    for (const host of hosts) await this.#configure(host)
    await this.#installCallback()
    await this.startServers()
  }

  /** Starts the servers that do not run, for example on a node that was killed. */
  async startServers(): Promise<void> {
    for (const host of [this, ...this.#lab.nodes]) {
      if (this.#servers.get(host.name)?.running) continue
      this.#servers.set(host.name, await host.startDaemon('pgbackrest', 'postgres', ['pgbackrest', 'server']))
    }
  }

  /** Creates the stanza, makes PostgreSQL archive its WAL, and checks both. */
  async startArchiving(): Promise<void> {
    const text = await this.#deployFile('archiving.yml')
    const callback = '/etc/pgbackrest/archive-after-failover'
    await writeFile(this.root.path('/srv/archiving.yml'), replaceOnce(text, callback, CALLBACK))
    await this.backrest(['stanza-create'])
    await this.applyArchiving()
    await this.backrest(['check'])
  }

  async applyArchiving(): Promise<void> {
    await this.#lab.patronictl(['edit-config', '--apply', '/srv/archiving.yml', '--force'])
  }

  /** Runs a command of pgBackRest on the repository host. It must succeed. */
  async backrest(args: string[]): Promise<string> {
    const { exitCode, stdout, stderr } = await this.tryBackrest(args)
    if (exitCode === 0) return stdout
    throw new Error(`pgbackrest ${args.join(' ')} failed with ${exitCode}:\n${stdout}${stderr}`)
  }

  tryBackrest(args: string[]): Promise<CommandResult> {
    return runBackrest(this, args)
  }

  /** Retries as deploy/backup/petstore-backup@.service does. */
  async backUp(type: 'full' | 'incr'): Promise<Backup> {
    let startedAt = performance.now()
    let attempts = 1
    for (; ; attempts += 1) {
      const { exitCode, stdout, stderr } = await this.tryBackrest([`--type=${type}`, 'backup'])
      if (exitCode === 0) break
      if (exitCode !== EXIT_ARCHIVE_TIMEOUT || attempts >= ATTEMPTS_MAX) {
        throw new Error(`the backup failed with ${exitCode}:\n${stdout}${stderr}`)
      }
      startedAt = performance.now()
    }
    const seconds = (performance.now() - startedAt) / 1000
    const [stanza] = JSON.parse(await this.backrest(['info', '--output=json'])) as [Info]
    const backup = stanza.backup.at(-1)
    if (backup === undefined) throw new Error('pgBackRest lists no backup.')
    const { label, info } = backup
    return {
      label,
      type,
      attempts,
      seconds,
      databaseBytes: info.size,
      repositoryBytes: info.repository.delta,
    }
  }

  async #makeCertificates(hosts: Host[]): Promise<void> {
    await this.root.copyIn(join(DEPLOY_FOLDER, 'make-certificates'), '/srv/make-certificates')
    const command = ['sh', '/srv/make-certificates', CERTIFICATES, ...hosts.map(({ name }) => name)]
    await runChecked('chroot', this.root.command('root', command))
  }

  async #configure(host: Host): Promise<void> {
    const folder = `${host.folder}/pgbackrest`
    for (const name of ['conf.d', 'lock', 'log', 'spool', 'tls'])
      await mkdir(this.root.path(`${folder}/${name}`), { recursive: true })
    const files = { 'ca.pem': 'ca.pem', [`${host.name}.pem`]: 'host.pem', [`${host.name}.key`]: 'host.key' }
    for (const [from, to] of Object.entries(files))
      await copyFile(this.root.path(`${CERTIFICATES}/${from}`), this.root.path(`${folder}/tls/${to}`))
    const text =
      host === this
        ? this.#fillRepository(await this.#deployFile('pgbackrest.conf'))
        : fillNode(await this.#deployFile('pgbackrest-node.conf'), host.folder)
    const withCertificates = text.replaceAll('/etc/pgbackrest/tls/', `${folder}/tls/`)
    await writeFile(this.root.path(`${folder}/pgbackrest.conf`), withCertificates)
    if (host === this) await this.#writePassphrase(`${folder}/conf.d/passphrase.conf`)
    await this.root.giveTo(folder, 'postgres')
  }

  /** The lab names its nodes n1 to n3, and keeps their data elsewhere. */
  #fillRepository(text: string): string {
    return replaceOnce(text, 'repo1-path=/var/lib/pgbackrest', `repo1-path=${this.repositoryFolder}`)
      .replaceAll(/^tls-server-auth=pg(\d)=/gm, 'tls-server-auth=n$1=')
      .replaceAll(/^pg(\d)-host=.*$/gm, 'pg$1-host=n$1')
      .replaceAll(/^pg(\d)-path=.*$/gm, 'pg$1-path=/srv/n$1/volume/data')
      .replaceAll(/^pg(\d)-socket-path=.*$/gm, 'pg$1-socket-path=/srv/n$1/run')
  }

  async #writePassphrase(inside: string): Promise<void> {
    const text = `[global]\nrepo1-cipher-pass=${randomBytes(48).toString('base64')}\n`
    await writeFile(this.root.path(inside), text)
    await chmod(this.root.path(inside), 0o600)
  }

  /** The callback gets the data folder of its node, which differs between the nodes of the lab. */
  async #installCallback(): Promise<void> {
    await this.root.copyIn(join(DEPLOY_FOLDER, 'archive-after-failover'), `${CALLBACK}.sh`)
    const folder = '"${PGBACKREST_CONFIG%/pgbackrest/*}/volume/data"'
    const wrapper = `#!/bin/sh\nshift\nexec sh ${CALLBACK}.sh ${folder} "$@"\n`
    await writeFile(this.root.path(CALLBACK), wrapper)
    await chmod(this.root.path(CALLBACK), 0o755)
  }

  #deployFile(name: string): Promise<string> {
    return readFile(join(DEPLOY_FOLDER, name), 'utf8')
  }

  /** The mount is visible only inside the namespaces of the drill. */
  async #nameHosts(hosts: Host[]): Promise<void> {
    const lines = hosts.map(({ name, address }) => `${address} ${name}\n`)
    await writeFile(this.root.path('/srv/hosts'), `127.0.0.1 localhost\n${lines.join('')}`)
    await runChecked('mount', ['--bind', this.root.path('/srv/hosts'), this.root.path('/etc/hosts')])
  }
}

interface Info {
  backup: { label: string; info: { size: number; repository: { delta: number } } }[]
}

/** Runs a command of pgBackRest on a host. */
export function runBackrest(host: Host, args: string[]): Promise<CommandResult> {
  const command = ['pgbackrest', `--stanza=${STANZA}`, ...args]
  return host.run('postgres', command, { timeoutMs: COMMAND_TIMEOUT_MS })
}

function fillNode(text: string, folder: string): string {
  return text
    .replace(/^pg1-path=.*$/m, `pg1-path=${folder}/volume/data`)
    .replace(/^pg1-socket-path=.*$/m, `pg1-socket-path=${folder}/run`)
}

function replaceOnce(text: string, from: string, to: string): string {
  const parts = text.split(from)
  if (parts.length !== 2) throw new Error(`deploy/backup has "${from}" ${parts.length - 1} times, not once.`)
  return parts.join(to)
}
