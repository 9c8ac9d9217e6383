// Creates the database of the service on the cluster in the order that operators use: roles, migration, key.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Client } from 'pg'
import { APP_PASSWORD, SUPERUSER_PASSWORD } from './cluster-files.ts'
import { runPetstore, type ServiceOptions } from './instances.ts'
import type { NodeAddress } from './patroni.ts'

export const MIGRATOR_PASSWORD = 'drill-migrator-password'
const DATABASE = 'petstore'
const CONNECT_TIMEOUT_MS = 5_000
const API_KEY_SCOPES = 'pets:read,pets:write,orders:read,orders:write,events:read'

/** Connects as superuser, directly to the PostgreSQL of one node. */
export async function connectTo({ address, tls }: NodeAddress, database = DATABASE): Promise<Client> {
  const client = new Client({
    host: address,
    user: 'postgres',
    password: SUPERUSER_PASSWORD,
    database,
    ssl: { ca: tls.ca },
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  })
  // A fault can end the connection while no query runs. The next query then fails.
  client.on('error', () => {})
  await client.connect()
  return client
}

/** Creates the database, and returns an API key. */
export async function setUpDatabase(primary: NodeAddress, service: ServiceOptions): Promise<string> {
  const maintenance = await connectTo(primary, 'postgres')
  await maintenance.query(`create database ${DATABASE} template template0 encoding 'UTF8'`)
  await maintenance.end()

  const roles = await readFile(join(service.folder, 'deploy/roles.sql'), 'utf8')
  const client = await connectTo(primary)
  try {
    await client.query(roles)
    await client.query(`alter role petstore_app password '${APP_PASSWORD}'`)
    await client.query(`alter role petstore_migrator password '${MIGRATOR_PASSWORD}'`)
    await runOrThrow(service, ['migrate'])
  } finally {
    await client.end()
  }
  const key = await runOrThrow(service, ['api-keys', 'create', '--name', 'drill', '--scopes', API_KEY_SCOPES])
  return key.trim()
}

async function runOrThrow(service: ServiceOptions, args: string[]): Promise<string> {
  const { exitCode, stdout, stderr } = await runPetstore(service, args)
  if (exitCode !== 0) throw new Error(`petstore ${args.join(' ')} failed with ${exitCode}:\n${stderr}`)
  return stdout
}
