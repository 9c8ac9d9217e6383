// The upgrade of PostgreSQL to a new major version with pg_upgrade, as docs/upgrading.md describes it. CI has only one
// PostgreSQL with pg_upgrade, so the test needs TEST_POSTGRES_NEXT, the folder with the binaries of the newer version.
// TEST_VOLUME=full upgrades a database with a million pets.
import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { chmodSync, mkdirSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { expect, test, type TestContext } from 'vitest'
import { loadPets } from '../../lab/bench/pets.ts'
import { SETTINGS } from '../../lab/bench/setup.ts'
import { table } from '../../src/cli/terminal/terminal.ts'
import { type Cluster, freePort, startCluster } from '../../src/data/demo/cluster.ts'
import { openTestClient, type Target, type TestResponse } from '../support/client.ts'
import { sql } from '../support/database.ts'
import { asApplication, asOwner, asVerifier, prepareDatabase } from '../support/roles.ts'
import { petstore, type Service, startService } from '../support/service.ts'
import { auditStore } from '../support/store-audit.ts'
import { isFailed, startUpgradeLoad } from '../support/upgrade-load.ts'
import { volume } from '../support/volume.ts'

const { TEST_POSTGRES: FROM = '/usr/lib/postgresql/15/bin', TEST_POSTGRES_NEXT: TO } = process.env
const PETS = volume(20_000, 1_000_000)
const STEADY_MS = volume(2_000, 10_000)
/** Added after the service has stopped, so that the new server has to count them and to number their events. */
const PETS_WITHOUT_SERVICE = 100
const SCOPES = 'pets:read,pets:write,orders:read,orders:write,events:read'

test.skipIf(TO === undefined)(
  'pg_upgrade keeps every write, the counts and the positions of the event feed',
  async (context) => {
    const folder = `/var/tmp/petstore-major-upgrade-${randomUUID()}`
    const [oldData, newData] = [join(folder, 'old'), join(folder, 'new')]
    mkdirSync(folder)
    // The servers and pg_upgrade write their sockets and logs here, as the user postgres.
    chmodSync(folder, 0o777)
    context.onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const port = await freePort()
    const times: [string, number][] = []
    const timed = async <Result>(step: string, work: () => Result | Promise<Result>): Promise<Result> => {
      const startedAt = performance.now()
      const result = await work()
      times.push([step, performance.now() - startedAt])
      return result
    }

    const old = await start(context, FROM, oldData, port)
    await sql(old.url('postgres'), `create database petstore template template0 encoding 'UTF8'`)
    const adminUrl = old.url('petstore')
    await prepareDatabase(adminUrl)
    const environment = { DATABASE_URL: asApplication(adminUrl), MIGRATION_DATABASE_URL: asOwner(adminUrl) }
    const made = await petstore(['api-keys', 'create', '--name', 'upgraded', '--scopes', SCOPES], environment)
    const apiKey = made.stdout.trim()
    await loadPets(adminUrl, PETS)
    const before = await serve(context, environment)
    const load = startUpgradeLoad({ origin: before.origin, apiKey })
    await sleep(STEADY_MS)
    const position = await readPosition({ origin: before.origin, apiKey })

    await run(TO as string, 'initdb', [
      '-D',
      newData,
      '-U',
      'postgres',
      '--auth=trust',
      '--encoding=UTF8',
      '--locale=C',
    ])
    const upgrade = ['-b', FROM, '-B', TO as string, '-d', oldData, '-D', newData, '-U', 'postgres', '--link']
    await timed('pg_upgrade --check, while the service runs', () =>
      run(TO as string, 'pg_upgrade', [...upgrade, '--check'], folder),
    )
    await load.stop()
    expect(load.requests.filter(isFailed)).toEqual([])

    const downAt = performance.now()
    await timed('stop the service', before.stop)
    await sql(
      adminUrl,
      `insert into pets (name, category_id) select 'without service', 1 from generate_series(1, ${PETS_WITHOUT_SERVICE})`,
    )
    const size = await sql<{ size: string }>(
      adminUrl,
      `select pg_size_pretty(pg_database_size('petstore')) as size`,
    )
    await timed('stop the old server', old.stop)
    await timed('pg_upgrade --link', () => run(TO as string, 'pg_upgrade', upgrade, folder))
    await timed('start the new server', () => start(context, TO as string, newData, port))
    const after = await timed('start the service', () => serve(context, environment))
    const continued = startUpgradeLoad({ origin: after.origin, apiKey, names: 'continued' })
    await expect.poll(() => continued.pets.size, { interval: 5 }).toBeGreaterThan(0)
    times.push(['all, until the first new pet', performance.now() - downAt])
    await timed('vacuumdb, while the service runs', () =>
      run(TO as string, 'vacuumdb', [
        '-h',
        '127.0.0.1',
        '-p',
        String(port),
        '-U',
        'postgres',
        '--all',
        '--analyze-in-stages',
      ]),
    )
    await continued.stop()
    expect(continued.requests.filter(isFailed)).toEqual([])

    const shown = times.map(([step, ms]) => [step, (ms / 1_000).toFixed(1)])
    const sent = continued.requests.map(({ ms }) => ms).sort((one, other) => one - other)
    console.log(`${PETS} pets, ${size[0]?.size}\n${table([['step', 's'], ...shown])}
slowest request on the new server ${sent.at(-1)?.toFixed(0)} ms, p99 ${sent[Math.floor(sent.length * 0.99)]?.toFixed(0)} ms`)

    const pets = new Map([...load.pets, ...continued.pets])
    await expectComplete(adminUrl, pets, new Map([...load.orders, ...continued.orders]))
    await expectEventsAfter({ origin: after.origin, apiKey }, position)
    expect(await petstore(['verify'], { DATABASE_URL: asVerifier(adminUrl) })).toMatchObject({ code: 0 })
    expect(await petstore(['doctor'], environment)).toMatchObject({ code: 0 })
  },
)

async function start(
  context: TestContext,
  binaries: string,
  dataFolder: string,
  port: number,
): Promise<Cluster> {
  const cluster = await startCluster({
    binaries,
    dataFolder,
    port,
    settings: { ...SETTINGS, unix_socket_directories: dirname(dataFolder) },
  })
  context.onTestFinished(cluster.stop)
  return cluster
}

async function serve(context: TestContext, environment: Record<string, string>): Promise<Service> {
  const service = await startService({ ...environment, LOG_LEVEL: 'error' })
  context.onTestFinished(async () => void (await service.stop()))
  return service
}

const execute = promisify(execFile)

/** Runs a program of PostgreSQL as the user postgres, because it does not run as root. */
async function run(binaries: string, program: string, args: string[], cwd = '/'): Promise<void> {
  const isRoot = process.getuid?.() === 0
  const command = [join(binaries, program), ...args]
  const [file = '', ...rest] = isRoot ? ['runuser', '-u', 'postgres', '--', ...command] : command
  await execute(file, rest, { cwd }).catch((error: Error & { stdout: string }) => {
    // pg_upgrade prints errors to standard output.
    throw new Error(`${error.message}${error.stdout}`)
  })
}

/** The path of the page after the newest event. */
async function readPosition(target: Target): Promise<string> {
  return nextPage(await openTestClient(target).call('GET', '/v1/events?after=latest'))
}

function nextPage({ headers, text }: TestResponse): string {
  const path = /<([^>]+)>; rel="next"/.exec(headers.get('link') ?? '')?.[1]
  if (path === undefined) throw new Error(`the page has no link: ${text}`)
  return path
}

/** A reader of the feed continues at its position, and gets the events of the pets added without the service. */
async function expectEventsAfter(target: Target, position: string): Promise<void> {
  const client = openTestClient(target)
  let path = position
  let seen = 0
  for (;;) {
    const page = await client.call('GET', path)
    expect(page.status, page.text).toBe(200)
    const events = page.body as { pet?: { name: string } }[]
    if (events.length === 0) break
    seen += events.filter(({ pet }) => pet?.name === 'without service').length
    path = nextPage(page)
  }
  expect(seen).toBe(PETS_WITHOUT_SERVICE)
}

/** Every acknowledged pet exists once, every acknowledged order has its status, and the counts equal the pets. */
async function expectComplete(
  adminUrl: string,
  pets: Map<string, number>,
  orders: Map<number, string>,
): Promise<void> {
  const stored = await sql<{ name: string; id: string }>(
    adminUrl,
    `select name, id from pets where name like 'upgraded %' or name like 'continued %'`,
  )
  expect(new Map(stored.map(({ name, id }) => [name, Number(id)]))).toEqual(pets)
  expect(stored).toHaveLength(pets.size)
  const storedOrders = await sql<{ id: string; status: string }>(adminUrl, 'select id, status from orders')
  expect(new Map(storedOrders.map(({ id, status }) => [Number(id), status]))).toEqual(orders)
  // The service folds the deltas that it took over.
  const unfolded = 'select from pet_count_deltas'
  await expect.poll(async () => (await sql(adminUrl, unfolded)).length).toBe(0)
  expect(await auditStore(adminUrl)).toEqual([])
}
