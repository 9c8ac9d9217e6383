// The upgrade of docs/upgrading.md under load, to a version with one more migration, and the way back: no request fails, and
// nothing is lost or duplicated. TEST_VOLUME=full upgrades a database with 5 million pets, and prints the figures of
// docs/evidence/operations.md.
import { randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, expect, test } from 'vitest'
import { loadPets } from '../../lab/bench/pets.ts'
import { SETTINGS } from '../../lab/bench/setup.ts'
import { table } from '../../src/cli/terminal/terminal.ts'
import { embeddedBinaries, freePort, startCluster } from '../../src/data/demo/cluster.ts'
import { openTestClient } from '../support/client.ts'
import { sql } from '../support/database.ts'
import { freePorts, type LoadBalancer, startLoadBalancer } from '../support/load-balancer.ts'
import { openConnection } from '../support/load.ts'
import {
  LOG_MIGRATIONS,
  LOG_SETTINGS,
  type LoggedMigration,
  readMigrationLog,
} from '../support/migration-log.ts'
import { INDEX_MIGRATION, makeNextVersion, NEXT_MIGRATION } from '../support/next-version.ts'
import { idsOf, newestFirst, walk } from '../support/pets.ts'
import { asApplication, asOwner, asVerifier, prepareDatabase } from '../support/roles.ts'
import { EXECUTABLE, petstore, type Service, startService } from '../support/service.ts'
import { auditStore, findSoldTwice } from '../support/store-audit.ts'
import { until } from '../support/until.ts'
import { isFailed, newPet, type SentRequest, startUpgradeLoad } from '../support/upgrade-load.ts'
import { IS_FULL, volume } from '../support/volume.ts'

const PETS = volume(20_000, 5_000_000)
/** The load before the upgrade and after it. */
const STEADY_MS = volume(1_000, 20_000)
const SCOPES = 'pets:read,pets:write,orders:read,orders:write'
const FAST = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' }

const NEXT = makeNextVersion(INDEX_MIGRATION)
const dataFolder = `/var/tmp/petstore-upgrade-${randomUUID()}`
const cluster = await startCluster({
  binaries: process.env['TEST_POSTGRES'] ?? embeddedBinaries(),
  dataFolder,
  port: await freePort(),
  settings: { ...(IS_FULL ? SETTINGS : FAST), ...LOG_SETTINGS },
})
const services = new Set<Service>()
afterAll(async () => {
  for (const service of services) service.kill('SIGKILL')
  await Promise.all([...services].map(({ ended }) => ended))
  await cluster.stop()
  rmSync(dataFolder, { recursive: true, force: true })
})

await sql(cluster.url('postgres'), `create database petstore template template0 encoding 'UTF8'`)
const adminUrl = cluster.url('petstore')
const environment = { DATABASE_URL: asApplication(adminUrl), MIGRATION_DATABASE_URL: asOwner(adminUrl) }

/** Runs a command and returns what it printed. */
async function run(args: string[], executable = EXECUTABLE, added = {}): Promise<string> {
  const { code, stdout, stderr } = await petstore(args, { ...environment, ...added }, executable)
  expect(code, `petstore ${args.join(' ')}: ${stdout}${stderr}`).toBe(0)
  return stdout.trim()
}

/** Returns an API key. */
async function installStore(): Promise<string> {
  await prepareDatabase(adminUrl)
  await sql(adminUrl, LOG_MIGRATIONS)
  const apiKey = await run(['api-keys', 'create', '--name', 'upgraded', '--scopes', SCOPES])
  await loadPets(adminUrl, PETS)
  return apiKey
}

const ports = [await freePorts(), await freePorts()] as const
const instances: Service[] = []

async function startInstance(index: 0 | 1, executable = EXECUTABLE): Promise<void> {
  const service = await startService(
    {
      ...environment,
      LOG_LEVEL: 'error',
      PORT: String(ports[index].port),
      ADMIN_PORT: String(ports[index].adminPort),
      SHUTDOWN_GRACE_MS: '3000',
      TRUST_PROXY: '127.0.0.1',
    },
    { executable },
  )
  services.add(service)
  instances[index] = service
}

/** Replaces one instance, as the guide does. The next one follows when HAProxy has noticed that this one is ready. */
async function replaceInstance(
  { untilBoth }: LoadBalancer,
  index: 0 | 1,
  executable = EXECUTABLE,
): Promise<void> {
  expect(await instances[index]?.stop()).toBe(0)
  await startInstance(index, executable)
  await untilBoth('up')
}

test('no request fails, and nothing is lost, while two instances are upgraded and rolled back', async (context) => {
  const apiKey = await installStore()
  await Promise.all([startInstance(0), startInstance(1)])
  const loadBalancer = await startLoadBalancer([...ports])
  context.onTestFinished(loadBalancer.stop)
  await loadBalancer.untilBoth('up')
  const load = startUpgradeLoad({ origin: loadBalancer.origin, apiKey })
  const phases = new Map<string, number>()
  const enter = (phase: string) => phases.set(phase, Date.now())

  enter('this version')
  await sleep(STEADY_MS)
  await until(() => load.pets.size > 0)
  const [firstName = '', firstId] = [...load.pets][0] ?? []
  enter('migrate')
  await run(['migrate'], NEXT)
  enter('replace instance 1')
  await replaceInstance(loadBalancer, 0, NEXT)
  enter('both versions')
  await sleep(STEADY_MS)
  enter('replace instance 2')
  await replaceInstance(loadBalancer, 1, NEXT)
  enter('next version')
  await sleep(STEADY_MS)
  enter('roll back instance 1')
  await replaceInstance(loadBalancer, 0)
  enter('roll back instance 2')
  await replaceInstance(loadBalancer, 1)
  enter('this version again')
  await sleep(STEADY_MS)
  enter('end')
  await load.stop()

  const migrations = readMigrationLog(dataFolder)
  console.log(
    `PostgreSQL ${await version()}, ${await databaseSize()}\n${describe(load.requests, phases, migrations)}`,
  )
  const failed = load.requests.filter(isFailed)
  expect(failed.slice(0, 5)).toEqual([])
  expect(migrations.map(({ name }) => name)).toEqual([NEXT_MIGRATION])

  const { send, close } = openConnection({ origin: instances[1]?.origin ?? '', apiKey })
  const replayed = await send('POST', '/v1/pets', newPet(firstName), { 'idempotency-key': firstName })
  expect(replayed).toMatchObject({ status: 201, isReplayed: true, body: { id: firstId } })
  const inventory = await send('GET', '/v1/store/inventory')
  close()
  expect(inventory.body).toMatchObject(await countPets())

  // Whichever version created them.
  const client = openTestClient({ origin: instances[1]?.origin ?? '', apiKey }, { retriesBusy: true })
  const found = await walk(client, '/v1/pets?word=upgr&limit=100')
  expect(idsOf(found)).toEqual(newestFirst([...load.pets.values()]))

  await expectAcknowledged(load.pets, load.orders)
  await expectCreatedEvents([...load.pets.values()])
  expect(await auditStore(adminUrl)).toEqual([])
  expect(await findSoldTwice(adminUrl)).toEqual([])
  await run(['verify'], NEXT, { DATABASE_URL: asVerifier(adminUrl) })
  await run(['doctor'], NEXT)
})

/** Every acknowledged pet exists once, and every acknowledged order has its status. */
async function expectAcknowledged(pets: Map<string, number>, orders: Map<number, string>): Promise<void> {
  const stored = await sql<{ id: string; name: string }>(
    adminUrl,
    `select id, name from pets where name like 'upgraded %' order by id`,
  )
  const byId = (one: [string, number], other: [string, number]) => one[1] - other[1]
  expect(stored.map(({ id, name }) => [name, Number(id)])).toEqual([...pets].sort(byId))
  const storedOrders = await sql<{ id: string; status: string }>(adminUrl, 'select id, status from orders')
  expect(new Map(storedOrders.map(({ id, status }) => [Number(id), status]))).toEqual(orders)
}

/** Each pet has its event, whichever version created it. */
async function expectCreatedEvents(ids: number[]): Promise<void> {
  const [row] = await sql<{ events: string; pets: string }>(
    adminUrl,
    `select count(*) as events, count(distinct id) as pets
      from (select unnest(pet_ids) as id from outbox where type = 'pet.created') as created
      where id = any ($1)`,
    [ids],
  )
  expect(row).toEqual({ events: String(ids.length), pets: String(ids.length) })
}

async function countPets(): Promise<Record<string, number>> {
  const rows = await sql<{ status: string; count: string }>(
    adminUrl,
    'select status, count(*) from pets group by status',
  )
  return Object.fromEntries(rows.map(({ status, count }) => [status, Number(count)]))
}

async function version(): Promise<string> {
  const [row] = await sql<{ server_version: string }>(adminUrl, 'show server_version')
  return row?.server_version ?? ''
}

async function databaseSize(): Promise<string> {
  const [row] = await sql<{ size: string }>(
    adminUrl,
    'select pg_size_pretty(pg_database_size(current_database())) as size',
  )
  return `${row?.size} after the upgrade`
}

/** The figures of docs/evidence/operations.md. */
function describe(
  requests: SentRequest[],
  phases: Map<string, number>,
  migrations: LoggedMigration[],
): string {
  const during = (from: number, to: number) => {
    const times = requests
      .filter(({ startedAt, ms }) => startedAt < to && startedAt + ms > from)
      .map(({ ms }) => ms)
    times.sort((one, other) => one - other)
    return times
  }
  const ms = (value: number | undefined) => (value === undefined ? '' : value.toFixed(0))
  const starts = [...phases]
  const phaseRows = starts.slice(0, -1).map(([phase, from], index) => {
    const to = starts[index + 1]?.[1] ?? 0
    const times = during(from, to)
    const p99 = times[Math.floor(times.length * 0.99)]
    return [phase, ms(to - from), String(times.length), ms(p99), ms(times.at(-1))]
  })
  const migrationRows = migrations
    .filter(({ startedAt }) => startedAt >= (phases.get('migrate') ?? 0))
    .map(({ name, firstAttemptAt, startedAt, endedAt, isTransaction, failedAttempts }) => {
      const took = ms(endedAt - startedAt)
      const times = during(firstAttemptAt, endedAt)
      return [name, took, isTransaction ? took : 'none', String(failedAttempts), ms(times.at(-1))]
    })
  return [
    table([['phase', 'ms', 'requests', 'p99 ms', 'slowest ms'], ...phaseRows]),
    table([['migration', 'ms', 'locks ms', 'failed attempts', 'slowest ms'], ...migrationRows]),
  ].join('\n')
}
