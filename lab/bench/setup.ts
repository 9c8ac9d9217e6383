// Starts PostgreSQL with pets, and the service with and without batching. baselines.ts starts the other servers.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { say } from '../../src/cli/terminal/terminal.ts'
import { withDatabase } from '../../src/cli/with-database.ts'
import { environmentWith } from '../../src/config/config.ts'
import { DEFAULT_SCOPES, type Scope } from '../../src/contract/scopes.ts'
import { freePort, startCluster } from '../../src/data/demo/cluster.ts'
import { loadPets } from './pets.ts'

const DEBIAN_BINARIES = '/usr/lib/postgresql/15/bin'

/** Database connections of each service. */
const POOL_SIZE = 20

const OWN_CHECKOUT = join(import.meta.dirname, '../..')
const UNBATCHED_SERVICE = join(import.meta.dirname, 'unbatched-service.ts')

/** PostgreSQL's default durability, enough memory for a million pets, and no automatic checkpoint during a round. */
export const SETTINGS = {
  fsync: 'on',
  synchronous_commit: 'on',
  shared_buffers: '2GB',
  max_wal_size: '16GB',
  checkpoint_timeout: '30min',
  max_connections: '200',
}

export interface Server {
  origin: string
  /** Of the admin port. Absent for a server without one. */
  adminOrigin?: string
  pid: number
  stop: () => Promise<void>
}

/** A running PostgreSQL with pets, and a folder for temporary files. */
export interface Store {
  databaseUrl: string
  /** Process id of the PostgreSQL server, whose children are the backends. */
  postgresPid: number
  apiKey: string
  folder: string
  close: () => Promise<void>
}

export interface Setup extends Store {
  on: Server
  off: Server
}

/** Starts all processes. If `keptIn` is given, the pets stay in that folder for the next run. */
export async function buildSetup(pets: number, keptIn: string | undefined): Promise<Setup> {
  const store = await startStore(pets, { keptIn })
  const [on, off] = await Promise.all([
    startService(store.databaseUrl),
    startService(store.databaseUrl, { isBatching: false }),
  ])
  return {
    ...store,
    on,
    off,
    close: async () => {
      await Promise.all([on.stop(), off.stop()])
      await store.close()
    },
  }
}

interface StoreOptions {
  /** If given, the pets stay in this folder for the next run. */
  keptIn?: string | undefined
  /** Folder with the migrations. Default: this checkout. */
  checkout?: string
  /** Scopes of the API key. Default: read and change pets. */
  scopes?: readonly Scope[]
}

export async function startStore(
  pets: number,
  { keptIn, checkout = OWN_CHECKOUT, scopes = DEFAULT_SCOPES }: StoreOptions = {},
): Promise<Store> {
  const folder = mkdtempSync(join(tmpdir(), 'petstore-bench-'))
  const dataFolder = keptIn ?? mkdtempSync('/var/tmp/petstore-bench-')
  say('Starting PostgreSQL …')
  const cluster = await startCluster({
    binaries: DEBIAN_BINARIES,
    dataFolder,
    port: await freePort(),
    settings: SETTINGS,
  })
  const databaseUrl = cluster.url('postgres')
  await migrateWith(checkout, databaseUrl)
  await loadPets(databaseUrl, pets)
  return {
    databaseUrl,
    postgresPid: cluster.pid ?? 0,
    apiKey: await issueApiKey(checkout, databaseUrl, scopes),
    folder,
    close: async () => {
      await cluster.stop()
      rmSync(folder, { recursive: true, force: true })
      if (keptIn === undefined) rmSync(dataFolder, { recursive: true, force: true })
    },
  }
}

const moduleOf = (checkout: string, path: string) => pathToFileURL(resolve(checkout, path)).href

/** Runs the migrations of a checkout with its own code. */
async function migrateWith(checkout: string, databaseUrl: string): Promise<void> {
  const module = moduleOf(checkout, 'src/db/migrations/migrate.ts')
  const { migrate } = (await import(module)) as typeof import('../../src/db/migrations/migrate.ts')
  await migrate(databaseUrl)
}

/** Creates a key with the code of the checkout, because its schema can differ. */
async function issueApiKey(checkout: string, databaseUrl: string, scopes: readonly Scope[]): Promise<string> {
  const module = moduleOf(checkout, 'src/access/api-keys/api-keys.ts')
  const { createApiKey } = (await import(module)) as typeof import('../../src/access/api-keys/api-keys.ts')
  const options = { name: 'bench', scopes, rateLimit: undefined, expiresInSeconds: undefined }
  const { text } = await withDatabase(databaseUrl, 'bench', (db) => createApiKey(db, 'production', options))
  return text
}

interface ServiceOptions {
  /** If false, runs unbatched-service.ts of this checkout. Default: true. */
  isBatching?: boolean
  /** Folder with the sources of the service. Default: this checkout. */
  checkout?: string | undefined
  /** Networks to which webhooks may be delivered. */
  webhookNetworks?: string
}

const executableIn = (checkout: string) => join(checkout, 'bin/petstore.ts')

/** The Node flags in the first line of the executable. */
export function nodeFlags(checkout = OWN_CHECKOUT): string[] {
  return readFileSync(executableIn(checkout), 'utf8').split('\n', 1)[0]?.match(/--\S+/g) ?? []
}

/** Starts the service as an operator would, with the Node flags in the first line of the executable. */
export async function startService(
  databaseUrl: string,
  { isBatching = true, checkout = OWN_CHECKOUT, webhookNetworks = '' }: ServiceOptions = {},
): Promise<Server> {
  const program = isBatching ? [executableIn(checkout), 'serve'] : [UNBATCHED_SERVICE]
  const child = spawn(process.execPath, [...nodeFlags(checkout), ...program], {
    env: environmentWith({
      DATABASE_URL: withRoleSettings(databaseUrl, checkout),
      PORT: '0',
      ADMIN_PORT: '0',
      WEBHOOK_NETWORKS: webhookNetworks,
      DATABASE_POOL_SIZE: String(POOL_SIZE),
    }),
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const exited = once(child, 'exit').then(() => {
    throw new Error(`the service in ${checkout} did not start`)
  })
  const [{ address, admin }] = (await Promise.race([once(child, 'message'), exited])) as [
    { address: string; admin: string },
  ]
  await sleep(1_000)
  return { ...toServer(child, address), adminOrigin: admin }
}

/** Adds the settings that deploy/roles.sql of the checkout gives to the role of the service. */
export function withRoleSettings(databaseUrl: string, checkout = OWN_CHECKOUT): string {
  const roles = readFileSync(join(checkout, 'deploy/roles.sql'), 'utf8')
  const settings = [...roles.matchAll(/^alter role petstore_app set (\w+) = '?([^';]+)'?;/gm)]
  const url = new URL(databaseUrl)
  url.searchParams.set('options', settings.map(([, name, value]) => `-c ${name}=${value}`).join(' '))
  return url.href.replaceAll('+', '%20')
}

export function toServer(child: ChildProcess, origin: string): Server {
  return {
    origin,
    pid: child.pid ?? 0,
    stop: async () => {
      const ended = once(child, 'exit')
      child.kill('SIGTERM')
      await ended
    },
  }
}
