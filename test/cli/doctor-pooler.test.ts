// `petstore doctor` and `petstore migrate` behind PgBouncer.
import { Client } from 'pg'
import { describe, expect, test } from 'vitest'
import { createTestDatabase } from '../support/database.ts'
import { runInProcess } from '../support/in-process.ts'
import { PGBOUNCER_VERSION, startPgBouncer, SUPPORTS_STATEMENTS } from '../support/pgbouncer.ts'
import { asOwner } from '../support/roles.ts'
import { petstore } from '../support/service.ts'

interface Finding {
  check: string
  state: string
  message: string
  remedy?: string
}

async function examine(DATABASE_URL: string) {
  const { code, stdout } = await runInProcess(['doctor', '--json'], { DATABASE_URL })
  const found = JSON.parse(stdout) as Finding[]
  const find = (check: string) => found.find((finding) => finding.check === check)
  return { code, pooler: find('pooler'), connections: find('connections') }
}

test('doctor reports a direct connection', async () => {
  expect(await examine(await createTestDatabase())).toMatchObject({
    pooler: { state: 'ok', message: 'none: the service connects to PostgreSQL directly' },
  })
})

const BROKEN = {
  code: 1,
  pooler: {
    state: 'fault',
    message:
      'PgBouncer, or another pooler, is in front of PostgreSQL and does not support prepared statements: requests fail with 503',
    remedy:
      'Use PgBouncer 1.21 or newer, and set pool_mode = transaction and max_prepared_statements = 200 in pgbouncer.ini.',
  },
}

describe.skipIf(PGBOUNCER_VERSION === undefined)(`PgBouncer ${PGBOUNCER_VERSION}`, async () => {
  const databaseUrl = await createTestDatabase()
  const unsupported: Record<string, string> = SUPPORTS_STATEMENTS ? { max_prepared_statements: '0' } : {}

  test.each([
    ['by default', {}],
    ['with server_round_robin', { server_round_robin: '1' }],
    ['with one server connection', { default_pool_size: '1' }],
  ])('doctor reports a pooler that breaks prepared statements, %s', async (_, settings) => {
    const url = await startPgBouncer(databaseUrl, { ...unsupported, ...settings })
    expect(await examine(url)).toMatchObject(BROKEN)
  })

  test('doctor finds broken prepared statements while other clients use the pooler', async () => {
    const url = await startPgBouncer(databaseUrl, unsupported)
    const clients = Array.from({ length: 4 }, () => new Client(url))
    await Promise.all(clients.map((client) => client.connect()))
    const done = new AbortController()
    const working = clients.map(async (client) => {
      while (!done.signal.aborted) await client.query('select pg_sleep(0.001)')
    })
    expect(await examine(url)).toMatchObject(BROKEN)
    done.abort()
    await Promise.all(working)
    await Promise.all(clients.map((client) => client.end()))
  })

  test.runIf(SUPPORTS_STATEMENTS)('doctor accepts max_prepared_statements above 0', async () => {
    const url = await startPgBouncer(databaseUrl, { max_prepared_statements: '200' })
    expect(await examine(url)).toMatchObject({
      code: 0,
      pooler: {
        state: 'ok',
        message: 'PgBouncer, or another pooler, is in front of PostgreSQL; prepared statements work',
      },
      connections: { state: 'ok', message: expect.stringContaining('default_pool_size of PgBouncer') },
    })
  })

  test('doctor accepts session mode', async () => {
    const url = await startPgBouncer(databaseUrl, { pool_mode: 'session' })
    expect(await examine(url)).toMatchObject({
      code: 0,
      pooler: { state: 'ok', message: expect.stringContaining('in session mode') },
    })
  })

  test('doctor rejects statement mode', async () => {
    const url = await startPgBouncer(databaseUrl, { pool_mode: 'statement' })
    expect(await examine(url)).toMatchObject({
      code: 1,
      pooler: {
        state: 'fault',
        message: expect.stringContaining('transaction blocks not allowed in statement pooling mode'),
        remedy: BROKEN.pooler.remedy,
      },
    })
  })

  test.each(['migrate', 'serve --migrate'])(
    'petstore %s fails at once and says to connect directly',
    async (command) => {
      const empty = await createTestDatabase('empty')
      const url = await startPgBouncer(asOwner(empty), unsupported)
      const environment = { DATABASE_URL: empty, MIGRATION_DATABASE_URL: url, PORT: '0', ADMIN_PORT: '0' }
      const { code, stderr } = await petstore(command.split(' '), environment)
      expect({ code, stderr }).toEqual({
        code: 1,
        stderr:
          'the database URL connects to PgBouncer or another pooler, but migrations need a direct connection; set MIGRATION_DATABASE_URL to the host and port of PostgreSQL itself\n',
      })
      expect(await petstore(['migrate'], { DATABASE_URL: asOwner(empty) })).toMatchObject({ code: 0 })
    },
  )
})
