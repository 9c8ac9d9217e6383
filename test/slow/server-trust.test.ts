// Which servers the service trusts: no standby, and no new incarnation of a primary until a standby confirms its commits.
import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { type Cluster, embeddedBinaries, freePort, startCluster } from '../../src/data/demo/cluster.ts'
import { RETRY_FOR_MS } from '../../src/db/connection/deadlines.ts'
import { trackHolds } from '../../src/store/holds/sweep.ts'
import { openLog } from '../../src/telemetry/log.ts'
import { openApiFixtureOn } from '../support/api-fixture.ts'
import { openTestDatabase, sql } from '../support/database.ts'
import { auditFeed } from '../support/feed-audit.ts'
import { prepareDatabase } from '../support/roles.ts'
import { synchronousReplication } from '../support/synchronous-replication.ts'
import { until } from '../support/until.ts'

const binaries = process.env['TEST_POSTGRES'] ?? embeddedBinaries()
const folders = ['primary', 'standby'].map((name) => `/var/tmp/petstore-test-${randomUUID()}-${name}`)
const [primaryFolder = '', standbyFolder = ''] = folders
const servers: Cluster[] = []
const port = await freePort()

async function start(dataFolder: string, at = port): Promise<Cluster> {
  const cluster = await startCluster({ binaries, dataFolder, port: at })
  servers.push(cluster)
  return cluster
}

afterAll(async () => {
  await Promise.all(servers.map((server) => server.stop()))
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

let primary = await start(primaryFolder)
const databaseUrl = await prepareDatabase(primary.url('postgres'))
// Shorter than in production, because these tests wait for the query timeout; longer than RETRY_FOR_MS, as in production.
const db = openTestDatabase(databaseUrl, 5, {
  queryTimeoutMs: RETRY_FOR_MS + 250,
  retryForMs: RETRY_FOR_MS,
})
const api = await openApiFixtureOn(databaseUrl, db, { holds: trackHolds(db, openLog('silent')) })
const { standby, waitingBackends } = synchronousReplication(databaseUrl)

const codeOf = async (path: string) => {
  const { status, body } = await api.get(path)
  return status === 200 ? 200 : (body as { code: string }).code
}

test('a trusted server continues to serve reads without its standbys, also on new connections', async () => {
  await api.addPet({ name: 'before' })
  await standby('missing')
  await sql(
    databaseUrl,
    `select pg_terminate_backend(pid) from pg_stat_activity where usename = 'petstore_app'`,
  )
  expect(await codeOf('/pets?limit=1')).toBe(200)
  await standby('')
})

test('after a crash, a commit that no standby has is neither returned nor replayed until a standby confirms it', async () => {
  const create = () =>
    api.post('/pets', { name: 'unconfirmed', categoryId: 1 }, { 'idempotency-key': 'crash' })
  await api.addPet({ name: 'confirmed' })
  await standby('missing')
  const creating = create()
  await until(async () => (await waitingBackends()) === 1)
  process.kill(primary.pid as number, 'SIGKILL')
  expect((await creating).body).toMatchObject({ code: 'outcome_unknown' })
  const killed = primary
  await until(async () => {
    // A start fails until the last process of the killed server has ended.
    primary = await start(primaryFolder).catch(() => killed)
    return primary !== killed
  })
  // The server itself shows the pet after its recovery.
  expect(await sql(databaseUrl, `select from pets where name = 'unconfirmed'`)).toHaveLength(1)
  expect(await Promise.all([codeOf('/pets?limit=1'), codeOf('/pets?id=1'), codeOf('/pets')])).toEqual(
    Array.from({ length: 3 }, () => 'unavailable'),
  )
  expect((await create()).body).toMatchObject({ code: 'unavailable' })
  // One barrier for all requests. It keeps its connection until a standby confirms it.
  expect(await waitingBackends()).toBe(1)
  expect(db.connections().unacknowledged).toBe(1)
  await standby('')
  await until(async () => (await codeOf('/pets?limit=1')) === 200)
  const replay = await create()
  expect(replay).toMatchObject({ status: 201, body: { name: 'unconfirmed' } })
  expect(replay.headers.get('idempotency-replayed')).toBe('true')
  expect(await auditFeed(databaseUrl)).toEqual([])
})

test('a replay waits for a standby, as its first response did', async () => {
  const create = () => api.post('/pets', { name: 'replayed', categoryId: 1 }, { 'idempotency-key': 'replay' })
  expect((await create()).status).toBe(201)
  await standby('missing')
  expect((await create()).body).toMatchObject({ code: 'outcome_unknown' })
  await standby('')
  await until(async () => (await create()).status === 201)
})

test.each([
  [
    'completeOrder',
    async () => {
      const { id } = await api.hold()
      return () => api.end('complete', id)
    },
  ],
  [
    'cancelOrder',
    async () => {
      const { id } = await api.hold()
      return () => api.end('cancel', id)
    },
  ],
  [
    'updatePet',
    async () => {
      const { id } = await api.addPet()
      return () => api.patch(id, { name: 'same' })
    },
  ],
  [
    'putPetProfile',
    async () => {
      const { id } = await api.addPet()
      return () => api.put(`/pets/${id}/profile`, { breed: 'same' })
    },
  ],
  ['putCategory', async () => () => api.put('/categories/7', { name: 'same' })],
  ['updateSettings', async () => () => api.call('PATCH', '/v1/store/settings', { body: { name: 'same' } })],
])('a second %s that changes nothing waits for a standby too', async (_operation, prepare) => {
  const send = await prepare()
  expect((await send()).status).toBeLessThan(300)
  await standby('missing')
  expect((await send()).body).toMatchObject({ code: 'outcome_unknown' })
  await standby('')
  await until(async () => (await send()).status === 200)
})

test('a standby is rejected as unavailable until it is promoted', async () => {
  await primary.stop()
  execFileSync('cp', ['-a', primaryFolder, standbyFolder])
  primary = await start(primaryFolder)
  writeFileSync(join(standbyFolder, 'standby.signal'), '')
  const other = await start(standbyFolder, await freePort())
  const standbyUrl = databaseUrl.replace(`:${port}/`, `:${other.port}/`)
  const standbyDb = openTestDatabase(standbyUrl)
  const read = () => standbyDb.read({ name: 'read', text: 'select from pets limit 1', values: [] })
  await expect(read()).rejects.toMatchObject({ code: 'unavailable', cause: { reason: 'standby' } })
  await sql(standbyUrl, 'select pg_promote()')
  expect(await read()).toHaveLength(1)
})
