// DATABASE_URL with several hosts: the service and the commands find the primary, and follow it after a failover.
import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { type Cluster, embeddedBinaries, freePort, startCluster } from '../../src/data/demo/cluster.ts'
import { connectClient } from '../../src/db/failover/hosts.ts'
import { openApiFixtureOn } from '../support/api-fixture.ts'
import { openTestDatabase, sql } from '../support/database.ts'
import { auditFeed } from '../support/feed-audit.ts'
import { CHECKS_FIGURES } from '../support/figures.ts'
import { prepareDatabase } from '../support/roles.ts'
import { petstore } from '../support/service.ts'
import { until } from '../support/until.ts'

const FOLLOWED_WITHIN_MS = 3_000

const binaries = process.env['TEST_POSTGRES'] ?? embeddedBinaries()
const folders = ['one', 'two'].map((name) => `/var/tmp/petstore-test-${randomUUID()}-${name}`)
const [folderOne = '', folderTwo = ''] = folders
const ports = [await freePort(), await freePort()]
const [portOne = 0, portTwo = 0] = ports
const servers: Cluster[] = []

async function start(dataFolder: string, port: number, primaryPort?: number): Promise<Cluster> {
  const settings =
    primaryPort === undefined
      ? {}
      : { primary_conninfo: `host=127.0.0.1 port=${primaryPort} user=postgres`, hot_standby: 'on' }
  const server = await startCluster({ binaries, dataFolder, port, settings })
  servers.push(server)
  return server
}

afterAll(async () => {
  await Promise.all(servers.map((server) => server.stop()))
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

let one = await start(folderOne, portOne)
const urlOne = await prepareDatabase(one.url('postgres'))
await one.stop()
execFileSync('cp', ['-a', folderOne, folderTwo])
writeFileSync(join(folderTwo, 'standby.signal'), '')
one = await start(folderOne, portOne)
await start(folderTwo, portTwo, portOne)
const urlTwo = urlOne.replace(`:${portOne}/`, `:${portTwo}/`)
/** Nothing listens on the port of the first host, the second is the standby, the third the primary. */
const databaseUrl = urlOne.replace(`:${portOne}/`, `:1,127.0.0.1:${portTwo},127.0.0.1:${portOne}/`)

const db = openTestDatabase(databaseUrl)
const api = await openApiFixtureOn(urlOne, db, {})
const newest = async () => {
  const { status, body } = await api.get('/pets?limit=1')
  return status === 200 ? (body as { name: string }[])[0]?.name : (body as { code: string }).code
}

test('the service finds the primary among its hosts', async () => {
  expect((await api.post('/pets', { name: 'first', categoryId: 1 })).status).toBe(201)
  expect(await newest()).toBe('first')
})

test('a command connects to the primary', async () => {
  const client = await connectClient(databaseUrl, 'petstore-test')
  expect(client.port).toBe(portOne)
  await client.end()
  const { stdout } = await petstore(['export', '--format', 'csv'], { DATABASE_URL: databaseUrl })
  expect(stdout).toContain('first')
})

test('a command says what is wrong with each host if none is the primary', async () => {
  const hosts = `127.0.0.1:1,127.0.0.1:${portTwo}`
  const url = urlOne.replace(`127.0.0.1:${portOne}`, hosts)
  await expect(connectClient(url, 'petstore-test')).rejects.toThrow(
    /none of the hosts is a primary: 127.0.0.1:1: connect ECONNREFUSED.*; 127.0.0.1:\d+: standby$/,
  )
})

test('doctor shows the state of each host, and warns about an unreachable one', async () => {
  const { stdout } = await petstore(['doctor', '--json'], { DATABASE_URL: databaseUrl })
  const findings = JSON.parse(stdout) as { check: string; state: string; message: string }[]
  const hosts = findings.find(({ check }) => check === 'hosts')
  expect(hosts?.state).toBe('warning')
  expect(hosts?.message).toMatch(
    /:1: connect ECONNREFUSED.*, 127.0.0.1:\d+: standby, 127.0.0.1:\d+: primary$/,
  )
})

test('the service follows a promotion, although the old primary still runs', async () => {
  await until(async () => (await sql(urlTwo, `select from pets where name = 'first'`)).length === 1)
  await sql(urlTwo, 'select pg_promote()')
  await sql(urlTwo, `insert into pets (name, category_id) values ('on the new primary', 1)`)
  const promoted = performance.now()
  await until(async () => (await newest()) === 'on the new primary')
  if (CHECKS_FIGURES) expect(performance.now() - promoted).toBeLessThan(FOLLOWED_WITHIN_MS)
  expect((await api.post('/pets', { name: 'second', categoryId: 1 })).status).toBe(201)
  expect(await sql(urlTwo, `select from pets where name = 'second'`)).toHaveLength(1)
  expect(await sql(urlOne, `select from pets where name = 'second'`)).toHaveLength(0)
  expect(await auditFeed(urlTwo)).toEqual([])
})

test('the service does not return to the old primary when the new one is lost', async () => {
  const [, two] = servers.slice(-2)
  await two?.stop()
  await until(async () => (await newest()) === 'unavailable')
  const seen = await Promise.all(Array.from({ length: 20 }, newest))
  expect(new Set(seen)).toEqual(new Set(['unavailable']))
})
