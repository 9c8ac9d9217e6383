// The data folder of a healthy store, from which every environment of the alert drill starts: set up once, in the order
// that operators use, and then copied.
import { mkdirSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { Client } from 'pg'
import { freePort, startCluster } from '../../src/data/demo/cluster.ts'
import { runPetstore } from './petstore-process.ts'

export const DATABASE = 'petstore'
/** The disk is not under test, and several servers share it. */
export const FAST_SETTINGS = { fsync: 'off', full_page_writes: 'off' }
const ROLES_FILE = resolve(import.meta.dirname, '../../deploy/roles.sql')
const SCOPES = 'pets:read,pets:write,orders:read,orders:write,events:read,webhooks:read,webhooks:write'

export interface Template {
  /** Folder with the binaries of PostgreSQL. */
  binaries: string
  dataFolder: string
  apiKey: string
}

/** The URL of the database with this role. */
export function urlAs(role: string, port: number, parameters = ''): string {
  return `postgres://${role}@127.0.0.1:${port}/${DATABASE}${parameters}`
}

export async function prepareTemplate(binaries: string, dataFolder: string): Promise<Template> {
  // The user of PostgreSQL must be able to enter the folders above its data.
  mkdirSync(dirname(dataFolder), { recursive: true })
  const port = await freePort()
  const cluster = await startCluster({ binaries, dataFolder, port, settings: FAST_SETTINGS })
  try {
    await query(cluster.url('postgres'), `create database ${DATABASE}`)
    const admin = cluster.url(DATABASE)
    await query(admin, await readFile(ROLES_FILE, 'utf8'))
    await runPetstore(['migrate'], { DATABASE_URL: urlAs('petstore_migrator', port) })
    const create = ['api-keys', 'create', '--name', 'load', '--scopes', SCOPES]
    const apiKey = await runPetstore(create, { DATABASE_URL: urlAs('petstore_app', port) })
    // The service writes it once a minute. An alert about a key of a program that is in use must not wait for that.
    await query(admin, 'update api_keys set last_used_at = now()')
    const verifier = urlAs('petstore_verify', port)
    await runPetstore(['verify', '--record', 'first'], {
      DATABASE_URL: verifier,
      RECORD_DATABASE_URL: verifier,
    })
    return { binaries, dataFolder, apiKey: apiKey.trim() }
  } finally {
    await cluster.stop()
  }
}

async function query(url: string, text: string): Promise<void> {
  const client = new Client(url)
  await client.connect()
  try {
    await client.query(text)
  } finally {
    await client.end()
  }
}
