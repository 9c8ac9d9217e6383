// Runs the service as an operator would: by its executable, with only the settings that are given.
import { readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { type Daemon, startDaemon } from './processes.ts'
import { waitUntil } from './wait-until.ts'

/** The shell that started this program has no effect on the service. */
export const SERVICE_PATH = `${dirname(process.execPath)}:/usr/bin:/bin`

const READY_TIMEOUT_MS = 300_000
const READY_POLL_MS = 100
const REQUEST_TIMEOUT_MS = 2_000
const EXIT_TIMEOUT_MS = 60_000

export interface PetstoreProcessOptions {
  /** The program and its arguments, such as `bin/petstore.ts` and `serve`. */
  command: readonly [program: string, ...args: string[]]
  port: number
  adminPort: number
  environment: Record<string, string>
  logFile: string
}

/** A process of `petstore serve` or `petstore deliver`, which keeps its ports when it is started again. */
export class PetstoreProcess {
  readonly origin: string
  /** Host and port of /metrics. */
  readonly admin: string
  readonly #options: PetstoreProcessOptions
  #daemon: Daemon | undefined

  constructor(options: PetstoreProcessOptions) {
    this.origin = `http://127.0.0.1:${options.port}`
    this.admin = `127.0.0.1:${options.adminPort}`
    this.#options = options
  }

  /** Starts the process without waiting until it is ready. */
  async start(): Promise<void> {
    const { command, port, adminPort, environment, logFile } = this.#options
    const [program, ...args] = command
    this.#daemon = await startDaemon(program, args, {
      logFile,
      env: {
        PATH: SERVICE_PATH,
        PORT: String(port),
        ADMIN_PORT: String(adminPort),
        LOG_LEVEL: 'warn',
        ...environment,
      },
    })
  }

  async isReady(): Promise<boolean> {
    try {
      const response = await fetch(`http://${this.admin}/ready`, {
        headers: { connection: 'close' },
        signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
      })
      await response.body?.cancel()
      return response.ok
    } catch {
      return false
    }
  }

  async waitUntilReady(): Promise<void> {
    const { logFile } = this.#options
    const isReady = () => {
      if (!this.#daemon?.running) throw new Error(`the service exited:\n${readFileSync(logFile, 'utf8')}`)
      return this.isReady()
    }
    await waitUntil(`the service is ready (${logFile})`, READY_TIMEOUT_MS, isReady, READY_POLL_MS)
  }

  /** Shuts down as an operator does, and waits for the exit. */
  async stop(): Promise<void> {
    await this.#daemon?.stop('SIGTERM', EXIT_TIMEOUT_MS)
  }

  async kill(): Promise<void> {
    await this.#daemon?.stop('SIGKILL', EXIT_TIMEOUT_MS)
  }

  signal(signal: NodeJS.Signals): void {
    this.#daemon?.signal(signal)
  }
}
