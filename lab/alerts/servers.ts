// PostgreSQL of one environment: a primary and its streaming standbys, all copies of one data folder.
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from 'pg'
import { type Cluster, freePort, startCluster } from '../../src/data/demo/cluster.ts'
import { runChecked, signalAll } from '../parts/processes.ts'
import { waitUntil } from '../parts/wait-until.ts'
import { DATABASE, FAST_SETTINGS, type Template } from './template.ts'

const STREAMING_TIMEOUT_MS = 60_000
const CONNECT_TIMEOUT_MS = 5_000

export interface Server {
  port: number
  start: () => Promise<void>
  stop: () => Promise<void>
  /** Stops every process of the server from running, as if its host hung. */
  freeze: () => void
  thaw: () => void
}

export interface Servers {
  primary: Server
  standbys: Server[]
  /** Runs a statement as superuser on the primary. */
  query: <Row extends object>(text: string) => Promise<Row[]>
  /** A session as superuser on the primary that stays open, to hold locks. */
  connect: () => Promise<Client>
  stop: () => Promise<void>
}

export interface ServersOptions {
  folder: string
  template: Template
  standbys: number
  /** Of the primary. */
  settings?: Record<string, string>
}

/** Starts the primary, which waits for one of its standbys if it has some. */
export async function startServers({
  folder,
  template,
  standbys: count,
  settings,
}: ServersOptions): Promise<Servers> {
  const names = Array.from({ length: count }, (_, index) => `standby${index + 1}`)
  const primary = await copyServer(template, join(folder, 'primary'), {
    ...settings,
    ...(count > 0 && { synchronous_standby_names: `ANY 1 (${names.join(',')})` }),
  })
  const standbys: Server[] = []

  async function startStandby(name: string): Promise<void> {
    const source = `host=127.0.0.1 port=${primary.port} user=postgres application_name=${name}`
    const standby = await copyServer(template, join(folder, name), { primary_conninfo: source })
    standbys.push(standby)
    writeFileSync(join(folder, name, 'standby.signal'), '')
    await standby.start()
  }

  async function connect(): Promise<Client> {
    const client = new Client({
      connectionString: `postgres://postgres@127.0.0.1:${primary.port}/${DATABASE}`,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    })
    // A fault can end the connection while no query runs.
    client.on('error', () => {})
    await client.connect()
    return client
  }

  async function query<Row extends object>(text: string): Promise<Row[]> {
    const client = await connect()
    try {
      return (await client.query<Row>(text)).rows
    } finally {
      await client.end()
    }
  }

  async function stop(): Promise<void> {
    // A primary that stops waits for its standbys.
    await Promise.all([primary, ...standbys].map((server) => server.stop()))
    for (const name of ['primary', ...names]) rmSync(join(folder, name), { recursive: true, force: true })
  }

  try {
    await primary.start()
    await Promise.all(names.map(startStandby))
    await waitUntil('the standbys stream', STREAMING_TIMEOUT_MS, async () => {
      const text = `select from pg_stat_replication where state = 'streaming'`
      return (await query(text)).length === count
    })
  } catch (error) {
    await stop()
    throw error
  }
  return { primary, standbys, query, connect, stop }
}

export async function endSessions({ query }: Pick<Servers, 'query'>, role: string): Promise<void> {
  await query(`select pg_terminate_backend(pid) from pg_stat_activity where usename = '${role}'`)
}

async function copyServer(
  { binaries, dataFolder: source }: Template,
  dataFolder: string,
  settings: Record<string, string>,
): Promise<Server> {
  await runChecked('cp', ['-a', source, dataFolder])
  const port = await freePort()
  let cluster: Cluster | undefined
  let frozen: number[] = []
  const thaw = () => {
    signalAll(frozen, 'SIGCONT')
    frozen = []
  }
  return {
    port,
    start: async () => {
      cluster = await startCluster({
        binaries,
        dataFolder,
        port,
        settings: { ...FAST_SETTINGS, ...settings },
      })
    },
    stop: async () => {
      thaw()
      await cluster?.stop()
    },
    freeze: () => {
      const pid = cluster?.pid ?? 0
      frozen = [pid, ...childrenOf(pid)]
      signalAll(frozen, 'SIGSTOP')
    },
    thaw,
  }
}

function childrenOf(pid: number): number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim()
  return text === '' ? [] : text.split(' ').map(Number)
}
