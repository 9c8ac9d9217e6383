// A copy of the cluster that pgBackRest restores next to it, with its own PostgreSQL on the repository host.
// Follows docs/backups.md.
import { appendFile, readFile, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { Client } from 'pg'
import { SUBNET } from '../cluster/network.ts'
import type { Root } from '../cluster/root-mounts.ts'
import { waitUntil } from '../parts/wait-until.ts'
import type { Repository } from './repository.ts'

const DEPLOY_FOLDER = resolve(import.meta.dirname, '../../deploy/backup')
const RECOVERY_TIMEOUT_MS = 300_000
const RECOVERY_POLL_MS = 100
const CONNECT_TIMEOUT_MS = 5_000
/** Not the port of the cluster, so that no client connects by mistake. */
export const COPY_PORT = 5433
/** Inside the root. */
export const ASIDE_HBA = '/srv/aside_hba.conf'

export interface CopyOptions {
  /** Name of its folder. */
  name: string
  /** The moment to restore to. Undefined: the end of the archive. */
  target?: string
  /** More options of `pgbackrest restore`. */
  options?: string[]
}

/** PostgreSQL, or pgBackRest, could not restore. The message has the end of its log. */
export class RestoreError extends Error {}

export class Copy {
  readonly #repository: Repository
  readonly #root: Root
  readonly #options: CopyOptions
  /** Reading the backup, and replaying the WAL. */
  readonly seconds = { restore: 0, replay: 0 }

  constructor(repository: Repository, root: Root, options: CopyOptions) {
    this.#repository = repository
    this.#root = root
    this.#options = options
  }

  /** Restores and starts the copy, and waits until it accepts writes. */
  async start(): Promise<void> {
    const startedAt = performance.now()
    await this.#root.createFolder(this.#parent, 'postgres')
    const { target, options = [] } = this.#options
    const until = target === undefined ? [] : ['--type=time', `--target=${target}`, '--target-action=promote']
    const args = ['--reset-pg1-host', `--pg1-path=${this.#folder}`, ...options, ...until, 'restore']
    const restored = await this.#repository.tryBackrest(args)
    if (restored.exitCode !== 0) throw new RestoreError(`${restored.stdout}${restored.stderr}`.trim())
    this.seconds.restore = (performance.now() - startedAt) / 1000
    await this.#configure()
    const restoredAt = performance.now()
    const started = await this.#pgCtl(['-w', '-t', '300', '-l', this.#logFile, 'start'])
    if (started.exitCode !== 0) throw new RestoreError(await this.#readLog())
    await this.#waitUntilPromoted()
    this.seconds.replay = (performance.now() - restoredAt) / 1000
  }

  connect(): Promise<Client> {
    return connectAsSuperuser(this.#repository.address)
  }

  url(role: string): string {
    return `postgres://${role}@${this.#repository.address}:${COPY_PORT}/petstore`
  }

  /** Stops PostgreSQL, if it runs, and removes the files. */
  async remove(): Promise<void> {
    await this.#pgCtl(['-m', 'immediate', 'stop'])
    await rm(this.#root.path(this.#folder), { recursive: true, force: true })
    await rm(this.#root.path(this.#logFile), { force: true })
  }

  get #parent(): string {
    return `${this.#repository.folder}/volume/copies`
  }

  get #folder(): string {
    return `${this.#parent}/${this.#options.name}`
  }

  get #logFile(): string {
    return `${this.#folder}.log`
  }

  async #configure(): Promise<void> {
    const text = await readFile(join(DEPLOY_FOLDER, 'aside.conf'), 'utf8')
    const filled = text
      .replace(/^listen_addresses = .*$/m, `listen_addresses = '${this.#repository.address}'`)
      .replace(/^port = .*$/m, `port = ${COPY_PORT}`)
      .replace(
        /^unix_socket_directories = .*$/m,
        `unix_socket_directories = '${this.#repository.socketFolder}'`,
      )
      .replace(/^hba_file = .*$/m, `hba_file = '${ASIDE_HBA}'`)
    await writeAsideHba(this.#root)
    await appendFile(this.#root.path(`${this.#folder}/postgresql.auto.conf`), filled)
  }

  async #waitUntilPromoted(): Promise<void> {
    await waitUntil(
      'the copy accepts writes',
      RECOVERY_TIMEOUT_MS,
      async () => {
        if ((await this.#pgCtl(['status'])).exitCode !== 0) throw new RestoreError(await this.#readLog())
        const client = await this.connect().catch(() => undefined)
        if (client === undefined) return false
        try {
          const { rows } = await client.query<{ standby: boolean }>('select pg_is_in_recovery() as standby')
          return rows[0]?.standby === false
        } catch {
          return false
        } finally {
          await client.end().catch(() => {})
        }
      },
      RECOVERY_POLL_MS,
    )
  }

  #pgCtl(args: string[]) {
    const command = ['pg_ctl', '-D', this.#folder, ...args]
    return this.#repository.run('postgres', command, { timeoutMs: RECOVERY_TIMEOUT_MS })
  }

  async #readLog(): Promise<string> {
    const lines = (await readFile(this.#root.path(this.#logFile), 'utf8')).trim().split('\n')
    return lines.slice(-6).join('\n')
  }
}

export async function connectAsSuperuser(address: string, port = COPY_PORT): Promise<Client> {
  const client = new Client({
    host: address,
    port,
    user: 'postgres',
    database: 'petstore',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  })
  client.on('error', () => {})
  await client.connect()
  return client
}

/** The drill connects from another address than an operator, and as superuser. */
export async function writeAsideHba(root: Root): Promise<void> {
  const text = await readFile(join(DEPLOY_FOLDER, 'aside_hba.conf'), 'utf8')
  await writeFile(root.path(ASIDE_HBA), `${text}host all all ${SUBNET} trust\n`)
}

/** Whether the restore noticed a fault: returns its message, or undefined if it succeeded. */
export async function tryRestore(copy: Copy): Promise<string | undefined> {
  try {
    await copy.start()
    return undefined
  } catch (error) {
    if (error instanceof RestoreError) return error.message
    throw error
  }
}
