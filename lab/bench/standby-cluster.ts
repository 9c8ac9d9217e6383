// A primary with pets and two standbys on this host, which confirm the commits of the primary as a quorum.
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from 'pg'
import { say } from '../../src/cli/terminal/terminal.ts'
import { type Cluster, freePort, startCluster } from '../../src/data/demo/cluster.ts'
import { waitUntil } from '../parts/wait-until.ts'
import { DEBIAN_BINARIES, SETTINGS, startStore, withRoleSettings } from './setup.ts'

const STREAMING_TIMEOUT_MS = 60_000

export interface StandbyCluster {
  /** The URL of the primary. */
  databaseUrl: string
  /** The URL with all nodes, for DATABASE_READ_URL. */
  readUrl: string
  /** Process id of the primary, whose children are the backends. */
  primaryPid: number
  apiKey: string
  close: () => Promise<void>
}

export async function startStandbyCluster(pets: number): Promise<StandbyCluster> {
  const folder = mkdtempSync('/var/tmp/petstore-bench-')
  // PostgreSQL runs as another user if this process is root.
  chmodSync(folder, 0o755)
  const [primaryFolder, ...standbyFolders] = ['n1', 'n2', 'n3'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ]
  const store = await startStore(pets, { keptIn: primaryFolder })
  await store.close()
  for (const standbyFolder of standbyFolders) {
    execFileSync('cp', ['-a', primaryFolder, standbyFolder])
    writeFileSync(join(standbyFolder, 'standby.signal'), '')
  }
  say('Starting a primary and two standbys …')
  const servers: Cluster[] = []
  const start = async (dataFolder: string, settings: Record<string, string>): Promise<Cluster> => {
    const port = await freePort()
    const server = await startCluster({
      binaries: DEBIAN_BINARIES,
      dataFolder,
      port,
      settings: { ...SETTINGS, ...settings },
    })
    servers.push(server)
    return server
  }
  const close = async () => {
    await Promise.all(servers.map((server) => server.stop()))
    rmSync(folder, { recursive: true, force: true })
  }
  try {
    const primary = await start(primaryFolder, { synchronous_standby_names: 'ANY 1 (n2,n3)' })
    for (const [index, standbyFolder] of standbyFolders.entries()) {
      const source = `host=127.0.0.1 port=${primary.port} user=postgres application_name=n${index + 2}`
      await start(standbyFolder, { primary_conninfo: source })
    }
    const databaseUrl = primary.url('postgres')
    await waitUntil('both standbys stream', STREAMING_TIMEOUT_MS, () => areStreaming(databaseUrl))
    const hosts = servers.map(({ port }) => `127.0.0.1:${port}`).join(',')
    return {
      databaseUrl,
      readUrl: withRoleSettings(databaseUrl).replace(`127.0.0.1:${primary.port}`, hosts),
      primaryPid: primary.pid ?? 0,
      apiKey: store.apiKey,
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

async function areStreaming(databaseUrl: string): Promise<boolean> {
  const client = new Client(databaseUrl)
  await client.connect()
  const { rows } = await client.query(`select from pg_stat_replication where state = 'streaming'`)
  await client.end()
  return rows.length === 2
}
