// `petstore migrate` while an export and the service use the tables: requests must not wait for the locks of the migration.
import { once } from 'node:events'
import { Client } from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { openTestClient } from '../support/client.ts'
import { createTestDatabase } from '../support/database.ts'
import { startExport } from '../support/long-export.ts'
import { makeNextVersion, NEXT_MIGRATION } from '../support/next-version.ts'
import { asOwner, asSuperuser } from '../support/roles.ts'
import { petstore, startPetstore, startService } from '../support/service.ts'

const NEXT = makeNextVersion('alter table pets add column chip text;')
/** Longer than the pause between two attempts of a migration, so that reads overlap at least one attempt. */
const READING_MS = 3_000

test('while migrate waits for an export, reads succeed and a second migrate waits for the first', async () => {
  const databaseUrl = await createTestDatabase()
  const environment = { DATABASE_URL: databaseUrl, MIGRATION_DATABASE_URL: asOwner(databaseUrl) }
  const service = await startService({ DATABASE_URL: databaseUrl, LOG_LEVEL: 'error' })
  onTestFinished(async () => void (await service.stop()))
  const made = await petstore(['api-keys', 'create', '--name', 'x'], environment)
  const client = openTestClient({ origin: service.origin, apiKey: made.stdout.trim() })
  const running = await startExport(databaseUrl)

  const first = startPetstore(['migrate'], environment, NEXT)
  const [waiting] = (await once(first.stderr, 'data')) as [string]
  expect(waiting).toBe(
    `Waiting for a lock held by pid ${running.pid} (application petstore-export, role petstore_app).\n`,
  )
  // --lock-wait limits only the wait for locks that requests need, not the wait for another migration.
  const second = startPetstore(['migrate', '--lock-wait', '0'], environment, NEXT)
  const secondWaits = once(second.stderr, 'data')
  const statuses = new Set<number>()
  const readUntil = performance.now() + READING_MS
  while (performance.now() < readUntil) statuses.add((await client.get('/pets')).status)
  expect([...statuses]).toEqual([200])
  await secondWaits

  await running.end()
  expect(await first.finished).toMatchObject({
    code: 0,
    stderr: expect.stringContaining(`Applied ${NEXT_MIGRATION}\n`),
  })
  const { code, stderr } = await second.finished
  expect(code).toBe(0)
  expect(stderr).toMatch(
    /^Waiting for a lock held by pid \d+ \(application petstore-migrate, role petstore_migrator\)\.$/m,
  )
  expect(stderr).toContain('The schema is up to date.')
})

test('a migration that PostgreSQL ends because of a deadlock is retried', async () => {
  const databaseUrl = await createTestDatabase()
  const locking = makeNextVersion(
    'lock table pets; select pg_sleep(0.5); lock table orders; alter table pets add column chip text;',
  )
  const request = new Client(asSuperuser(databaseUrl))
  await request.connect()
  onTestFinished(() => request.end())
  await request.query(`alter role petstore_migrator set deadlock_timeout = '50ms'`)
  onTestFinished(
    async () => void (await request.query('alter role petstore_migrator reset deadlock_timeout')),
  )
  await request.query('begin; lock table orders in row exclusive mode')

  const migrating = startPetstore(['migrate'], { DATABASE_URL: asOwner(databaseUrl) }, locking)
  // The table has the same oid in the databases of other tests.
  const isLocked = `select from pg_locks join pg_database on database = pg_database.oid
    where datname = current_database() and relation = 'pets'::regclass and mode = 'AccessExclusiveLock' and granted`
  await expect.poll(async () => (await request.query(isLocked)).rowCount).toBe(1)
  // Waits for the migration, which then waits for this transaction.
  await request.query('lock table pets in row exclusive mode; commit')
  expect(await migrating.finished).toMatchObject({
    code: 0,
    stderr: expect.stringContaining(`Applied ${NEXT_MIGRATION}\n`),
  })
})
