// Runs before all tests. Builds the console and the script of the reference page, starts PostgreSQL, creates the template
// databases that test files clone, and starts a service for test/contract. PETSTORE_URL and PETSTORE_API_KEY select another service for test/contract.
import { randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import { Client } from 'pg'
import type { TestProject } from 'vitest/node'
import { buildConsole } from '../../dev/console.ts'
import { embeddedBinaries, freePort, startCluster } from '../../src/data/demo/cluster.ts'
import { asApplication, makeRoles, prepareDatabase } from './roles.ts'
import { petstore, startService } from './service.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** Connects to the database `template1`; see database.ts. */
    serverUrl: string
    contract: { origin: string; apiKey: string }
  }
}

export const TEMPLATE = 'petstore_template'
/** Has the roles of deploy/roles.sql and no schema. */
export const EMPTY_TEMPLATE = 'petstore_empty'

export interface TestServer {
  url: (database: string) => string
  stop: () => Promise<void>
}

/** Starts PostgreSQL and creates the template databases. */
export async function startTestServer(): Promise<TestServer> {
  // To test with another PostgreSQL, for example Debian's: TEST_POSTGRES=/usr/lib/postgresql/15/bin
  const binaries = process.env['TEST_POSTGRES'] ?? embeddedBinaries()
  const dataFolder = `/var/tmp/petstore-test-${randomUUID()}`
  const remove = () => rmSync(dataFolder, { recursive: true, force: true, maxRetries: 10 })
  const cluster = await startCluster({
    binaries,
    dataFolder,
    port: await freePort(),
    // PostgreSQL is faster without durability. Tests of crashes start their own cluster with these settings on.
    settings: { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', max_connections: '300' },
  }).catch((error: unknown) => {
    remove()
    throw error
  })
  await onServer(cluster, async (client) => {
    const { rows } = await client.query('show server_version')
    console.log(`PostgreSQL ${rows[0].server_version}`)
    await client.query(`create database ${EMPTY_TEMPLATE}`)
    await makeRoles(cluster.url(EMPTY_TEMPLATE))
    await client.query(`create database ${TEMPLATE}`)
    await prepareDatabase(cluster.url(TEMPLATE))
  })
  // No test can mistake the id of an API key for that of its actor.
  await onServer({ url: () => cluster.url(TEMPLATE) }, (client) =>
    client.query('alter sequence actors_id_seq restart with 5000001'),
  )
  const stop = async () => {
    await cluster.stop()
    remove()
  }
  return { url: cluster.url, stop }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  // The mutation tests start one server for all their runs.
  const { TEST_SERVER_URL } = process.env
  await buildConsole()
  const server = TEST_SERVER_URL === undefined ? await startTestServer() : runningServer(TEST_SERVER_URL)
  project.provide('serverUrl', server.url('template1'))
  const { contract, stop } = await openContractService(server).catch(async (error: unknown) => {
    await server.stop()
    throw error
  })
  project.provide('contract', contract)
  return async () => {
    await stop()
    await server.stop()
  }
}

function runningServer(serverUrl: string): TestServer {
  const url = (database: string) => Object.assign(new URL(serverUrl), { pathname: database }).href
  return { url, stop: async () => {} }
}

async function onServer(server: Pick<TestServer, 'url'>, work: (client: Client) => Promise<unknown>) {
  const client = new Client(server.url('postgres'))
  await client.connect()
  await work(client)
  await client.end()
}

async function openContractService(server: TestServer) {
  const { PETSTORE_URL: origin, PETSTORE_API_KEY: apiKey, TEST_CONTRACT } = process.env
  // The mutation tests do not need the service for tests outside of test/contract.
  if (TEST_CONTRACT === 'off') return { contract: { origin: '', apiKey: '' }, stop: async () => {} }
  if (origin !== undefined && apiKey !== undefined) {
    return { contract: { origin, apiKey }, stop: async () => {} }
  }
  const database = `contract_${process.pid}`
  await onServer(server, (client) => client.query(`create database ${database} template ${TEMPLATE}`))
  const databaseUrl = asApplication(server.url(database))
  const [created, service] = await Promise.all([
    petstore(['api-keys', 'create', '--name', 'contract'], { DATABASE_URL: databaseUrl }),
    startService({ DATABASE_URL: databaseUrl, LOG_LEVEL: 'error' }),
  ])
  return { contract: { origin: service.origin, apiKey: created.stdout.trim() }, stop: service.stop }
}
