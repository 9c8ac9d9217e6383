// The two instances of the service, and the commands of its command line, run as an operator would run them.
// Knows the service only by its executable, so the drill can also run another version of it.
import { dirname, join } from 'node:path'
import { type CommandResult, type Daemon, run, startDaemon, waitUntil } from './processes.ts'

const SHUTDOWN_GRACE_MS = 3_000
const EXIT_TIMEOUT_MS = 60_000
const READY_TIMEOUT_MS = 300_000
const READY_POLL_MS = 100
const REQUEST_TIMEOUT_MS = 1_000
const COMMAND_TIMEOUT_MS = 10 * 60_000

export interface ServiceOptions {
  /** Folder with bin/petstore.ts. */
  folder: string
  databaseUrl: string
  migrationDatabaseUrl: string
  logFolder: string
}

/** Runs a command of the service, for example `migrate`. */
export function runPetstore(options: ServiceOptions, args: string[], input?: string): Promise<CommandResult> {
  return run(executableOf(options), args, {
    env: environmentOf(options),
    timeoutMs: COMMAND_TIMEOUT_MS,
    ...(input !== undefined && { input }),
  })
}

/** One process of the service. */
export class Instance {
  readonly name: string
  readonly adminUrl: string
  readonly #number: number
  readonly #options: ServiceOptions
  #daemon: Daemon | undefined

  constructor(number: number, options: ServiceOptions) {
    this.name = `petstore-${number}`
    this.adminUrl = `http://127.0.0.1:${9090 + number}`
    this.#number = number
    this.#options = options
  }

  async start(): Promise<void> {
    this.#daemon = await startDaemon(executableOf(this.#options), ['serve'], {
      logFile: join(this.#options.logFolder, `${this.name}.log`),
      env: {
        ...environmentOf(this.#options),
        PORT: String(3000 + this.#number),
        ADMIN_PORT: String(9090 + this.#number),
        LOG_LEVEL: 'warn',
        TRUST_PROXY: 'loopback',
        SHUTDOWN_GRACE_MS: String(SHUTDOWN_GRACE_MS),
      },
    })
  }

  async isReady(): Promise<boolean> {
    try {
      const response = await fetch(`${this.adminUrl}/ready`, {
        headers: { connection: 'close' },
        signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
      })
      await response.body?.cancel()
      return response.status === 200
    } catch {
      return false
    }
  }

  async waitUntilReady(): Promise<void> {
    const isReady = () => {
      if (!this.#daemon?.running) throw new Error(`${this.name} exited; see its log.`)
      return this.isReady()
    }
    await waitUntil(`${this.name} is ready`, READY_TIMEOUT_MS, isReady, READY_POLL_MS)
  }

  /** Shuts down as an operator does, and waits for the exit. */
  async shutDown(): Promise<void> {
    await this.#daemon?.stop('SIGTERM', EXIT_TIMEOUT_MS)
  }

  async kill(): Promise<void> {
    await this.#daemon?.stop('SIGKILL', EXIT_TIMEOUT_MS)
  }
}

function executableOf({ folder }: ServiceOptions): string {
  return join(folder, 'bin/petstore.ts')
}

/** Only these variables: settings of the shell that started the drill have no effect on the service. */
function environmentOf({ databaseUrl, migrationDatabaseUrl }: ServiceOptions): Record<string, string> {
  return {
    PATH: `${dirname(process.execPath)}:/usr/bin:/bin`,
    DATABASE_URL: databaseUrl,
    MIGRATION_DATABASE_URL: migrationDatabaseUrl,
  }
}
