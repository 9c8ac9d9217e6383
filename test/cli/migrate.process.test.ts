import { once } from 'node:events'
import { Client } from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { createTestDatabase, sql } from '../support/database.ts'
import { startExport } from '../support/long-export.ts'
import { INDEX_MIGRATION, makeNextVersion, NEXT_MIGRATION } from '../support/next-version.ts'
import { asApplication, asOwner, asSuperuser } from '../support/roles.ts'
import { petstore, shell, startPetstore } from '../support/service.ts'

const NEXT = makeNextVersion('alter table pets add column chip text;')
const WITH_INDEX = makeNextVersion({
  // The new table has no privileges until `petstore migrate` grants them.
  '9998_table.sql': `create table replaced (like categories including all);
    drop table categories;
    alter table replaced rename to categories;`,
  ...INDEX_MIGRATION,
})

test('migrate fails after --lock-wait, names the session that holds the lock, and changes nothing', async () => {
  const databaseUrl = await createTestDatabase()
  const running = await startExport(databaseUrl)
  const environment = { DATABASE_URL: databaseUrl, MIGRATION_DATABASE_URL: asOwner(databaseUrl) }
  const { code, stderr } = await petstore(['migrate', '--lock-wait', '1'], environment, NEXT)
  expect(code).toBe(1)
  expect(stderr).toContain(`${NEXT_MIGRATION} was not run`)
  expect(stderr).toContain(`pid ${running.pid} (application petstore-export, role petstore_app)`)
  const columns = await sql(
    databaseUrl,
    `select from information_schema.columns where table_name = 'pets' and column_name = 'chip'`,
  )
  expect(columns).toEqual([])
  await running.end()
  expect(await petstore(['migrate'], environment, NEXT)).toMatchObject({ code: 0 })
})

test('migrate finishes its work if the reader of its messages closes the pipe', async () => {
  const databaseUrl = await createTestDatabase('empty')
  const line = 'petstore migrate 2>&1 | true; echo "${PIPESTATUS[0]}"'
  expect(await shell(line, { DATABASE_URL: asOwner(databaseUrl) })).toMatchObject({
    stdout: '0\n',
    stderr: '',
  })
  expect(await petstore(['migrate'], { DATABASE_URL: asOwner(databaseUrl) })).toMatchObject({
    stderr: 'The schema is up to date.\n',
  })
})

const settingsOf = (databaseUrl: string) =>
  sql(databaseUrl, 'select currency, time_zone as "timeZone" from store_settings')

test('the variables choose the settings of the shop at the first migrate, and never later', async () => {
  const databaseUrl = await createTestDatabase('empty')
  const migrateWith = (environment: Record<string, string>) =>
    petstore(['migrate'], { DATABASE_URL: asOwner(databaseUrl), ...environment })
  expect(await migrateWith({ CURRENCY: 'JPY', TIME_ZONE: 'Asia/Tokyo' })).toMatchObject({ code: 0 })
  expect(await settingsOf(databaseUrl)).toEqual([{ currency: 'JPY', timeZone: 'Asia/Tokyo' }])
  expect(await migrateWith({ CURRENCY: 'USD', TIME_ZONE: 'UTC' })).toMatchObject({ code: 0 })
  expect(await settingsOf(databaseUrl)).toEqual([{ currency: 'JPY', timeZone: 'Asia/Tokyo' }])
})

test.each([
  ['that of the host', 'America/Santiago', 'America/Santiago'],
  ['UTC if PostgreSQL does not know that of the host', 'Mars/Olympus', 'UTC'],
])('without variables, a shop has EUR, and as its time zone %s', async (_, TZ, timeZone) => {
  const databaseUrl = await createTestDatabase('empty')
  expect(await petstore(['migrate'], { DATABASE_URL: asOwner(databaseUrl), TZ })).toMatchObject({ code: 0 })
  expect(await settingsOf(databaseUrl)).toEqual([{ currency: 'EUR', timeZone }])
})

test('migrate rejects a TIME_ZONE that PostgreSQL does not know, and says what to do', async () => {
  const databaseUrl = await createTestDatabase('empty')
  // Node ignores the case of names.
  const environment = { DATABASE_URL: asOwner(databaseUrl), TIME_ZONE: 'europe/berlin' }
  expect(await petstore(['migrate'], environment)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(
      'TIME_ZONE is europe/berlin, a name that PostgreSQL does not know. Set another one',
    ),
  })
})

test('the former version can use the tables of each migration at once, before the others have run', async () => {
  const databaseUrl = await createTestDatabase()
  // The build of the index waits for every earlier snapshot.
  const reader = new Client(asSuperuser(databaseUrl))
  await reader.connect()
  onTestFinished(() => reader.end())
  await reader.query('begin isolation level repeatable read; select 1')
  const migrating = startPetstore(['migrate'], { DATABASE_URL: asOwner(databaseUrl) }, WITH_INDEX)
  const [waiting] = (await once(migrating.stderr, 'data')) as [string]
  expect(waiting).toContain('Waiting for a lock')
  const former = new Client(asApplication(databaseUrl))
  await former.connect()
  onTestFinished(() => former.end())
  await former.query(`insert into categories (id, name) values (1, 'Dogs')`)
  const { rows } = await former.query('select name from petstore_migrations order by id desc limit 1')
  expect(rows).toEqual([{ name: '9998_table' }])
  await reader.query('commit')
  expect(await migrating.finished).toMatchObject({ code: 0 })
})

test('migrate builds an index while requests are served, and replaces the one that an earlier attempt left', async () => {
  const databaseUrl = await createTestDatabase()
  const environment = { DATABASE_URL: databaseUrl, MIGRATION_DATABASE_URL: asOwner(databaseUrl) }
  const isValid = () =>
    sql(
      databaseUrl,
      `select indisvalid as valid from pg_index where indexrelid = to_regclass('pets_by_arrival')`,
    )
  const running = await startExport(databaseUrl, 'orders')

  // The build waits for the export, because the export must not see an index without its rows.
  const failed = await petstore(['migrate', '--lock-wait', '1'], environment, WITH_INDEX)
  expect(failed).toMatchObject({ code: 1, stderr: expect.stringContaining(`${NEXT_MIGRATION} was not run`) })
  expect(failed.stderr).toContain(`pid ${running.pid} (application petstore-export, role petstore_app)`)
  expect(await isValid()).toEqual([{ valid: false }])

  const second = startPetstore(['migrate'], environment, WITH_INDEX)
  const [waiting] = (await once(second.stderr, 'data')) as [string]
  expect(waiting).toContain(`Waiting for a lock held by pid ${running.pid} (application petstore-export`)
  // The service would wait for at most a second for a lock.
  await sql(asApplication(databaseUrl), `insert into pets (name, category_id) values ('Rex', 1)`)
  await sql(asApplication(databaseUrl), `update pets set status = 'sold' where name = 'Rex'`)

  await running.end()
  expect(await second.finished).toMatchObject({
    code: 0,
    stderr: expect.stringContaining(`Applied ${NEXT_MIGRATION}\n`),
  })
  expect(await isValid()).toEqual([{ valid: true }])
})
