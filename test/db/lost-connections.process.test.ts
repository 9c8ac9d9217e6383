// Lost and slow connections: the service distinguishes errors of PostgreSQL from errors of the socket.
import { spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { chmodSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { embeddedBinaries, freePort, startCluster } from '../../src/data/demo/cluster.ts'
import { STATEMENT_TIMEOUT_MS } from '../../src/db/connection/deadlines.ts'
import { QueryFailure } from '../../src/db/connection/failures.ts'
import type { Db } from '../../src/db/database.ts'
import { openDatabase } from '../../src/db/open-database.ts'
import { createTestDatabase, sql, TEST_TIMEOUTS, withServerTimeouts } from '../support/database.ts'
import { startService } from '../support/service.ts'

const ROOT = join(import.meta.dirname, '../..')

function open(databaseUrl: string, onError: (error: Error) => void = () => {}): Db {
  const db = openDatabase({
    ...TEST_TIMEOUTS,
    databaseUrl: withServerTimeouts(databaseUrl),
    applicationName: 'lost',
    size: 2,
    onError,
  })
  afterAll(() => db.close())
  return db
}

const one = { name: 'one', text: 'select 1 as one', values: [] }
const endConnections = `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'lost'`

test.each(['EPIPE', 'ECONNRESET', 'ENOENT'])(
  'the socket error %s is a lost connection, not a SQLSTATE',
  (code) => {
    const failure = new QueryFailure(Object.assign(new Error(code), { code }))
    expect(failure.kind).toBe('lost')
    expect(failure.state).toBeUndefined()
  },
)

test('a read is retried after PostgreSQL has closed the Unix socket', async () => {
  const id = randomUUID().slice(0, 8)
  const [dataFolder, sockets] = [`/var/tmp/petstore-test-${id}`, `/tmp/petstore-test-${id}`]
  mkdirSync(sockets)
  chmodSync(sockets, 0o777)
  const cluster = await startCluster({
    binaries: process.env['TEST_POSTGRES'] ?? embeddedBinaries(),
    dataFolder,
    port: await freePort(),
    settings: { unix_socket_directories: sockets },
  })
  const db = openDatabase({
    ...TEST_TIMEOUTS,
    databaseUrl: `postgres://postgres@${encodeURIComponent(sockets)}:${cluster.port}/postgres`,
    applicationName: 'lost',
    size: 2,
    onError: () => {},
  })
  try {
    await db.read(one)
    // Another process ends the connection while this process is blocked, so that the next write finds it closed.
    const script = `import { Client } from 'pg'
      const client = new Client('${cluster.url('postgres')}')
      await client.connect()
      await client.query(\`${endConnections}\`)
      await client.end()`
    const ended = spawnSync(process.execPath, ['--input-type=module', '-e', script], { cwd: ROOT })
    expect(ended.status, String(ended.stderr)).toBe(0)
    expect(await db.read(one)).toEqual([{ one: 1 }])
  } finally {
    await db.close()
    await cluster.stop()
    for (const folder of [dataFolder, sockets]) rmSync(folder, { recursive: true, force: true })
  }
})

test('PostgreSQL cancels a write at the statement timeout, and its outcome is known', async () => {
  // The timeout of the role, without the one of the tests. A second attempt would time out too.
  const db = openDatabase({
    ...TEST_TIMEOUTS,
    retryForMs: 0,
    databaseUrl: await createTestDatabase(),
    applicationName: 'slow',
    size: 1,
    onError: () => {},
  })
  afterAll(() => db.close())
  const slow = {
    name: 'slow',
    text: `insert into categories select 1, 'slow' from pg_sleep(150)`,
    values: [],
  }
  await expect(db.write(slow)).rejects.toMatchObject({ code: 'unavailable', cause: { code: '57014' } })
})

test('deploy/roles.sql sets the statement timeout that the service expects', () => {
  const roles = readFileSync(join(ROOT, 'deploy/roles.sql'), 'utf8')
  const [, seconds] = /alter role petstore_app set statement_timeout = '(\d+)s'/.exec(roles) ?? []
  expect(Number(seconds) * 1000).toBe(STATEMENT_TIMEOUT_MS)
})

test('the error of a lost connection does not contain the pg client, which knows the address and a secret key', async () => {
  const databaseUrl = await createTestDatabase()
  const errors: Error[] = []
  const db = open(databaseUrl, (error) => errors.push(error))
  await db.read(one)
  await sql(databaseUrl, endConnections)
  await expect.poll(() => errors.length).toBeGreaterThan(0)
  for (const error of errors) expect(error).not.toHaveProperty('client')
})

test('a lost connection is reported once', async () => {
  const databaseUrl = await createTestDatabase()
  const errors: Error[] = []
  const db = open(databaseUrl, (error) => errors.push(error))
  await db.read(one)
  await sql(databaseUrl, `${endConnections} and datname = current_database()`)
  await expect.poll(() => errors.length).toBeGreaterThan(0)
  await db.read(one)
  expect(errors).toHaveLength(1)
})

test('the service logs one short line for a connection that PostgreSQL closes', async () => {
  const databaseUrl = await createTestDatabase()
  const service = await startService({ DATABASE_URL: databaseUrl, LOG_LEVEL: 'warn' })
  const lines = () =>
    service
      .log()
      .split('\n')
      .filter((line) => line.includes('connection was lost'))
  // A connection that is used at this moment logs nothing: the service retries the statement.
  const closeIdle = () =>
    sql(
      databaseUrl,
      `select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and state = 'idle' and application_name like 'petstore@%'`,
    )
  const closeUntilLogged = async () => {
    await closeIdle()
    return lines().length
  }
  await expect.poll(closeUntilLogged).toBeGreaterThan(0)
  expect(await service.stop()).toBe(0)
  for (const line of lines()) {
    expect(line.length).toBeLessThan(500)
    expect(JSON.parse(line)).toEqual({
      level: 40,
      time: expect.any(String),
      code: '57P01',
      reason: 'terminating connection due to administrator command',
      msg: 'a database connection was lost',
    })
  }
})
