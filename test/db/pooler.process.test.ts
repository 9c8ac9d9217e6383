// The service behind PgBouncer: session mode works like a direct connection, and every other mode is rejected before the
// first statement of a request.
import { randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import { afterAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { embeddedBinaries, freePort, startCluster } from '../../src/data/demo/cluster.ts'
import { openDatabase } from '../../src/db/open-database.ts'
import { openTestDatabase, sql, TEST_TIMEOUTS } from '../support/database.ts'
import { PGBOUNCER_VERSION, startPgBouncer, SUPPORTS_STATEMENTS } from '../support/pgbouncer.ts'
import { prepareDatabase } from '../support/roles.ts'
import { synchronousReplication } from '../support/synchronous-replication.ts'
import { until } from '../support/until.ts'

const addCategory = (name: string) => ({
  name: 'add_category',
  text: 'insert into categories (id, name) select max(id) + 1, $1 from categories returning name',
  values: [name],
})
const countCategories = (name: string) => ({
  name: 'count_categories',
  text: 'select count(*)::int as count from categories where name = $1',
  values: [name],
})

describe.skipIf(PGBOUNCER_VERSION === undefined)(`PgBouncer ${PGBOUNCER_VERSION}`, async () => {
  // Its own cluster: commits wait for a standby in all databases of a server.
  const dataFolder = `/var/tmp/petstore-test-${randomUUID()}`
  const cluster = await startCluster({
    binaries: process.env['TEST_POSTGRES'] ?? embeddedBinaries(),
    dataFolder,
    port: await freePort(),
  })
  afterAll(async () => {
    await cluster.stop()
    rmSync(dataFolder, { recursive: true, force: true })
  })
  const databaseUrl = await prepareDatabase(cluster.url('postgres'))
  await sql(databaseUrl, `insert into categories (id, name) values (1, 'first')`)
  const { standby, waitingBackends } = synchronousReplication(databaseUrl)

  test('session mode: reads, writes and transactions succeed on several connections at once', async () => {
    const db = openTestDatabase(await startPgBouncer(databaseUrl, { pool_mode: 'session' }), 4)
    const names = Array.from({ length: 4 }, () => randomUUID())
    for (const name of names) expect(await db.write(addCategory(name))).toEqual([{ name }])
    const read = (name: string) => db.transaction((tx) => tx.read(countCategories(name)))
    expect(await Promise.all(names.map(read))).toEqual(names.map(() => [{ count: 1 }]))
    expect(await Promise.all(names.map((name) => db.read(countCategories(name))))).toEqual(
      names.map(() => [{ count: 1 }]),
    )
  })

  test('session mode: a write without a response keeps its connection while its backend waits for a standby', async () => {
    let reads = 0
    const db = openDatabase({
      ...TEST_TIMEOUTS,
      retryForMs: 0,
      databaseUrl: await startPgBouncer(databaseUrl, { pool_mode: 'session' }),
      applicationName: 'pooled',
      size: 4,
      onError: () => {},
      observer: {
        onWait: (work) => {
          if (work === 'read') reads += 1
        },
        onQuery: () => {},
        onCertificate: () => {},
        onHostFailure: () => {},
      },
    })
    onTestFinished(() => db.close())
    await db.write(addCategory(randomUUID()))
    await standby('missing')
    const name = randomUUID()
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const writing = db.write(addCategory(name)).catch((error: unknown) => error)
    await until(async () => (await waitingBackends()) === 1)
    vi.advanceTimersByTime(TEST_TIMEOUTS.queryTimeoutMs)
    vi.useRealTimers()
    expect(await writing).toMatchObject({ code: 'outcome_unknown' })
    // Once a second, the service asks whether the backend is still busy. It starts to ask again after it has used the result.
    await until(() => reads >= 2)
    expect(db.connections().unacknowledged).toBe(1)
    await standby('')
    await until(() => db.connections().unacknowledged === 0)
    expect(await db.read(countCategories(name))).toEqual([{ count: 1 }])
  })

  test.each([
    { pool_mode: 'transaction' },
    { pool_mode: 'transaction', default_pool_size: '1' },
    ...(SUPPORTS_STATEMENTS ? [{ pool_mode: 'transaction', max_prepared_statements: '200' }] : []),
    { pool_mode: 'statement' },
  ])('rejects reads and writes with %o', async (settings) => {
    const db = openTestDatabase(await startPgBouncer(databaseUrl, settings))
    const name = randomUUID()
    const rejected = { code: 'unavailable', cause: { reason: 'pooled' } }
    await expect(db.write(addCategory(name))).rejects.toMatchObject(rejected)
    await expect(db.read(countCategories(name))).rejects.toMatchObject(rejected)
    expect(await sql(databaseUrl, 'select from categories where name = $1', [name])).toEqual([])
  })
})
