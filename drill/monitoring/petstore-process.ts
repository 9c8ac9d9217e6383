// One process of the service, `petstore serve` or `petstore deliver`, on free ports that it keeps after a restart.
import { readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { freePort } from '../../src/demo/cluster.ts'
import { type Daemon, run, startDaemon, waitUntil } from '../processes.ts'

const EXECUTABLE = resolve(import.meta.dirname, '../../bin/petstore.ts')
/** Only this and the settings below: the shell that started the drill has no effect on the service. */
const PATH = `${dirname(process.execPath)}:/usr/bin:/bin`
const READY_TIMEOUT_MS = 120_000
const READY_POLL_MS = 100
const REQUEST_TIMEOUT_MS = 2_000
const EXIT_TIMEOUT_MS = 20_000
const COMMAND_TIMEOUT_MS = 120_000

export interface PetstoreProcess {
  origin: string
  /** Host and port of /metrics. */
  admin: string
  /** Starts the process, and waits until it is ready. */
  start: () => Promise<void>
  stop: () => Promise<void>
  kill: () => Promise<void>
  signal: (signal: NodeJS.Signals) => void
}

export interface ProcessOptions {
  folder: string
  environment: Record<string, string>
  /** A file that Node loads before the service. */
  preload?: string | undefined
}

/** @param command `serve` or `deliver`. */
export async function preparePetstore(
  command: 'serve' | 'deliver',
  { folder, environment, preload }: ProcessOptions,
): Promise<PetstoreProcess> {
  const [port, adminPort] = [await freePort(), await freePort()]
  const admin = `127.0.0.1:${adminPort}`
  const logFile = join(folder, `${command}.log`)
  const imports = preload === undefined ? [] : ['--import', preload]
  let daemon: Daemon | undefined

  async function isReady(): Promise<boolean> {
    if (daemon?.running !== true)
      throw new Error(`petstore ${command} exited:\n${readFileSync(logFile, 'utf8')}`)
    try {
      const signal = AbortSignal.timeout(REQUEST_TIMEOUT_MS)
      return (await fetch(`http://${admin}/ready`, { signal, headers: { connection: 'close' } })).ok
    } catch {
      return false
    }
  }

  return {
    origin: `http://127.0.0.1:${port}`,
    admin,
    start: async () => {
      daemon = await startDaemon(process.execPath, [...imports, EXECUTABLE, command], {
        logFile,
        env: {
          PATH,
          PORT: String(port),
          ADMIN_PORT: String(adminPort),
          LOG_LEVEL: 'warn',
          ...environment,
        },
      })
      await waitUntil(`petstore ${command} is ready (${logFile})`, READY_TIMEOUT_MS, isReady, READY_POLL_MS)
    },
    stop: async () => daemon?.stop('SIGTERM', EXIT_TIMEOUT_MS),
    kill: async () => daemon?.stop('SIGKILL', EXIT_TIMEOUT_MS),
    signal: (signal) => daemon?.signal(signal),
  }
}

/** Runs a command that must exit with this code, and returns its standard output. */
export async function runPetstore(
  args: string[],
  environment: Record<string, string>,
  expectedCode = 0,
): Promise<string> {
  const env = { PATH, ...environment }
  const options = { env, timeoutMs: COMMAND_TIMEOUT_MS }
  const { exitCode, stdout, stderr } = await run(process.execPath, [EXECUTABLE, ...args], options)
  if (exitCode !== expectedCode)
    throw new Error(`petstore ${args.join(' ')} exited with ${exitCode}:\n${stdout}${stderr}`)
  return stdout
}
