// Restores a dump into a new server with the commands of docs/backups.md, up to the first request.
import { randomUUID } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { type Cluster, freePort, startCluster } from '../../src/data/demo/cluster.ts'
import { NEEDED_PRIVILEGES } from '../../src/db/inspect/privileges.ts'
import { openTestClient, type TestClient } from '../support/client.ts'
import { sql } from '../support/database.ts'
import { parseDocument } from '../support/documents.ts'
import { makeNextVersion, NEXT_MIGRATION } from '../support/next-version.ts'
import { asVerifier, prepareDatabase } from '../support/roles.ts'
import { petstore, shell, startService } from '../support/service.ts'
import { until } from '../support/until.ts'

const ROOT = resolve(import.meta.dirname, '../..')
/** The embedded PostgreSQL has no pg_dump. */
const BINARIES = process.env['TEST_POSTGRES'] ?? '/usr/lib/postgresql/15/bin'
const PASSWORDS = {
  PETSTORE_APP_PASSWORD: 'apppassword',
  PETSTORE_DELIVER_PASSWORD: 'deliverpassword',
  PETSTORE_MIGRATOR_PASSWORD: 'migratorpassword',
}
const LUNA = { name: 'Luna', categoryId: 1 }
const SCOPES = 'pets:read,pets:write,orders:read,orders:write,events:read'
/** A migration that requires ownership of a table, a type and a function. */
const NEXT = makeNextVersion(`
  alter table pets add column chip text;
  alter type order_status add value 'returned';
  alter function pet_name_key(text) cost 10;
`)

const folder = mkdtempSync(join(tmpdir(), 'petstore-restore-'))
symlinkSync(join(ROOT, 'deploy'), join(folder, 'deploy'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const page = readFileSync(join(ROOT, 'docs/backups.md'), 'utf8')
const section = page.slice(page.indexOf('## Move data with a dump'), page.indexOf('### With Compose'))
const [dump = '', ...blocks] = parseDocument('docs/backups.md', section)
  .blocks.filter(({ language }) => language === 'sh')
  .map(({ text }) => text)
const restore = blocks.flatMap((block) => block.trim().split('\n'))

const servers: { cluster: Cluster; dataFolder: string }[] = []
afterAll(async () => {
  for (const { cluster, dataFolder } of servers) {
    await cluster.stop()
    rmSync(dataFolder, { recursive: true, force: true })
  }
})

async function openServer(): Promise<{ cluster: Cluster; dataFolder: string }> {
  const dataFolder = `/var/tmp/petstore-test-${randomUUID()}`
  const server = {
    cluster: await startCluster({ binaries: BINARIES, dataFolder, port: await freePort() }),
    dataFolder,
  }
  servers.push(server)
  return server
}

/** A server without roles, which requires passwords for the roles of Petstore. */
async function openTarget(): Promise<Record<string, string>> {
  const { cluster, dataFolder } = await openServer()
  const rules = join(dataFolder, 'pg_hba.conf')
  const rule = 'host all petstore_app,petstore_deliver,petstore_migrator 127.0.0.1/32 scram-sha-256\n'
  writeFileSync(rules, rule + readFileSync(rules, 'utf8'))
  await sql(cluster.url('postgres'), 'select pg_reload_conf()')
  const urlOf = (role: string, password: string) =>
    cluster.url('petstore').replace('postgres@', `${role}:${password}@`)
  return {
    SERVER_URL: cluster.url('postgres'),
    ADMIN_URL: cluster.url('petstore'),
    DATABASE_URL: urlOf('petstore_app', PASSWORDS.PETSTORE_APP_PASSWORD),
    DELIVER_DATABASE_URL: urlOf('petstore_deliver', PASSWORDS.PETSTORE_DELIVER_PASSWORD),
    MIGRATION_DATABASE_URL: urlOf('petstore_migrator', PASSWORDS.PETSTORE_MIGRATOR_PASSWORD),
    ...PASSWORDS,
  }
}

async function run(command: string, environment: Record<string, string>): Promise<string> {
  const { PATH = '' } = process.env
  const line = `set -eo pipefail; cd "${folder}"; ${command}`
  const { code, stdout, stderr } = await shell(line, { PATH: `${BINARIES}:${PATH}`, ...environment })
  expect(code, `${command}${stdout}${stderr}`).toBe(0)
  return stdout + stderr
}

async function openClient(environment: Record<string, string>, apiKey: string) {
  const service = await startService({ ...environment, LOG_LEVEL: 'error' })
  afterAll(service.stop)
  return { ...openTestClient({ origin: service.origin, apiKey }), origin: service.origin }
}

/**
 * The tables to compare. Count tables change when the service folds them, so the inventory is compared instead. The
 * service numbers events at any time, and the restore adds an epoch.
 */
const COUNTED = Object.keys(NEEDED_PRIVILEGES).filter((table) => !/^(pet_count|event_)/.test(table))
const countsIn = (url: string) =>
  sql(
    url,
    COUNTED.map((table) => `select '${table}' as name, count(*)::int from ${table}`).join(' union all '),
  )

const readAll = async (client: TestClient) =>
  Promise.all(
    ['/pets', '/store/orders', '/store/inventory', '/categories'].map(
      async (path) => (await client.get(path)).text,
    ),
  )

async function expectMigratable(environment: Record<string, string>): Promise<void> {
  const { ADMIN_URL = '', DATABASE_URL = '', DELIVER_DATABASE_URL = '' } = environment
  expect(await petstore(['verify'], { ...environment, DATABASE_URL: asVerifier(ADMIN_URL) })).toMatchObject({
    code: 0,
    stdout: expect.not.stringContaining('fault'),
  })
  for (const url of [DATABASE_URL, DELIVER_DATABASE_URL]) {
    expect(await petstore(['doctor'], { ...environment, DATABASE_URL: url })).toMatchObject({
      code: 0,
      // The new server has no backup yet.
      stdout: expect.not.stringMatching(/^warning(?!  restores)/m),
    })
  }
  expect(await petstore(['migrate'], environment, NEXT)).toMatchObject({
    code: 0,
    stderr: expect.stringContaining(`Applied ${NEXT_MIGRATION}`),
  })
}

/** A database with pets, orders and keys, and a client with one of these keys. */
async function openSource() {
  const { cluster } = await openServer()
  await sql(cluster.url('postgres'), 'create database petstore')
  const DATABASE_URL = await prepareDatabase(cluster.url('petstore'))
  const made = await petstore(['api-keys', 'create', '--name', 'shop', '--scopes', SCOPES], { DATABASE_URL })
  const apiKey = made.stdout.trim()
  const client = await openClient({ DATABASE_URL }, apiKey)
  for (const name of ['Rex', 'Ωmega']) await client.post('/pets', { name, categoryId: 1 })
  await client.post('/pets', LUNA, { 'idempotency-key': 'luna' })
  expect((await client.post('/store/orders', { petId: 1 })).status).toBe(201)
  return { adminUrl: cluster.url('petstore'), client, apiKey }
}

const source = await openSource()
// A dump of changes that have no number yet would be reported as late by `doctor`, because no service runs on it.
await until(async () => {
  const { body } = await source.client.get('/events?type=order.placed')
  return (body as unknown[]).length === 1
})
await run(dump, { ADMIN_URL: source.adminUrl })

test('the documented restore yields a service with all data, which can be migrated', async () => {
  const { headers } = await source.client.get('/events?after=latest')
  const position = /after=([\w-]+)/.exec(headers.get('link') ?? '')?.[1]
  const target = await openTarget()
  for (const command of restore.slice(0, -1)) await run(command, target)
  expect(await countsIn(target['ADMIN_URL'] ?? '')).toEqual(await countsIn(source.adminUrl))

  const client = await openClient(target, source.apiKey)
  const request = (restore.at(-1) ?? '').replace('http://127.0.0.1:3000', client.origin)
  const first = await run(request, { PETSTORE_API_KEY: source.apiKey })
  expect(first).toContain('{"available":2,"pending":1,"sold":0}')
  expect(await readAll(client)).toEqual(await readAll(source.client))
  expect((await source.client.get(`/events?after=${position}`)).status).toBe(200)
  expect(await client.get(`/events?after=${position}`)).toMatchObject({
    status: 410,
    body: { code: 'events_expired' },
  })
  expect(await client.post('/pets', { name: 'Milo', categoryId: 1 })).toMatchObject({
    status: 201,
    body: { id: 4 },
  })
  const replayed = await client.post('/pets', LUNA, { 'idempotency-key': 'luna' })
  expect(replayed).toMatchObject({ status: 201, body: { id: 3 } })
  await expectMigratable(target)
})

test('a dump restored before the roles existed can be migrated after deploy/roles.sql has run', async () => {
  const target = await openTarget()
  const [create = '', roles = '', passwords = '', , migrate = ''] = restore
  await run(create, target)
  await run('pg_restore --dbname="$ADMIN_URL" petstore.dump 2> errors.txt || true', target)
  expect(readFileSync(join(folder, 'errors.txt'), 'utf8')).toContain('"petstore_migrator" does not exist')
  for (const command of [roles, passwords, migrate]) await run(command, target)
  await expectMigratable(target)
})
