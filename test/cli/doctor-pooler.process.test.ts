// Commands behind PgBouncer: `doctor`, `serve` and `deliver` reject a pooler that does not keep sessions; `migrate` rejects
// every pooler.
import { Client } from 'pg'
import { describe, expect, onTestFinished, test } from 'vitest'
import { startProxy } from '../../lab/parts/tcp-proxy.ts'
import { createTestDatabase } from '../support/database.ts'
import { runInProcess } from '../support/in-process.ts'
import { PGBOUNCER_VERSION, startPgBouncer, SUPPORTS_STATEMENTS } from '../support/pgbouncer.ts'
import { asDelivery, asOwner } from '../support/roles.ts'
import { petstore, startService } from '../support/service.ts'

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

const MESSAGE = 'DATABASE_URL connects to PgBouncer, or another pooler, in transaction or statement mode'
const REMEDY = 'Set pool_mode = session, or set DATABASE_URL to the host and port of PostgreSQL itself.'
const REJECTED = { code: 1, pooler: { state: 'fault', message: MESSAGE, remedy: REMEDY } }
const PORTS = { PORT: '0', ADMIN_PORT: '0' }

describe.skipIf(PGBOUNCER_VERSION === undefined)(`PgBouncer ${PGBOUNCER_VERSION}`, async () => {
  const databaseUrl = await createTestDatabase()

  test.each<[string, Record<string, string>]>([
    ['by default', {}],
    ['with server_round_robin', { server_round_robin: '1' }],
    ['with one server connection', { default_pool_size: '1' }],
    ['with prepared statements', SUPPORTS_STATEMENTS ? { max_prepared_statements: '200' } : {}],
  ])('doctor rejects transaction mode, %s', async (_, settings) => {
    expect(await examine(await startPgBouncer(databaseUrl, settings))).toMatchObject(REJECTED)
  })

  test('doctor rejects statement mode', async () => {
    const url = await startPgBouncer(databaseUrl, { pool_mode: 'statement' })
    expect(await examine(url)).toMatchObject(REJECTED)
  })

  test('doctor finds transaction mode while other clients use the pooler', async () => {
    const url = await startPgBouncer(databaseUrl)
    const clients = Array.from({ length: 4 }, () => new Client(url))
    await Promise.all(clients.map((client) => client.connect()))
    const done = new AbortController()
    const working = clients.map(async (client) => {
      while (!done.signal.aborted) await client.query('select pg_sleep(0.001)')
    })
    expect(await examine(url)).toMatchObject(REJECTED)
    done.abort()
    await Promise.all(working)
    await Promise.all(clients.map((client) => client.end()))
  })

  test('doctor accepts session mode', async () => {
    const url = await startPgBouncer(databaseUrl, { pool_mode: 'session' })
    expect(await examine(url)).toMatchObject({
      code: 0,
      pooler: { state: 'ok', message: expect.stringContaining('in session mode') },
      connections: { state: 'ok', message: expect.stringContaining('default_pool_size of PgBouncer') },
    })
  })

  test('serve starts in session mode', async () => {
    const url = await startPgBouncer(databaseUrl, { pool_mode: 'session' })
    const service = await startService({ DATABASE_URL: url })
    expect(await service.stop()).toBe(0)
  })

  test.each([
    ['serve', databaseUrl],
    ['deliver', asDelivery(databaseUrl)],
  ])('%s exits in transaction mode, and says what to do', async (command, target) => {
    const DATABASE_URL = await startPgBouncer(target)
    const { code, stderr } = await petstore([command], { DATABASE_URL, ...PORTS })
    expect({ code, stderr }).toEqual({ code: 1, stderr: `${MESSAGE}. ${REMEDY}\n` })
  })

  test('serve starts while the pooler is unreachable, and exits once it finds transaction mode', async () => {
    const proxy = await startProxy(await startPgBouncer(databaseUrl))
    onTestFinished(() => proxy.close())
    proxy.behave('reject')
    const service = await startService({ DATABASE_URL: proxy.url }, { untilReady: false })
    expect((await fetch(`${service.adminOrigin}/ready`)).status).toBe(503)
    proxy.behave('pass')
    expect(await service.ended).toBe(1)
    expect(service.log()).toContain(`${MESSAGE}. ${REMEDY}\n`)
  })

  test.each(['migrate', 'serve --migrate'])(
    'petstore %s fails at once and says to connect directly',
    async (command) => {
      const empty = await createTestDatabase('empty')
      const url = await startPgBouncer(asOwner(empty))
      const environment = { DATABASE_URL: empty, MIGRATION_DATABASE_URL: url, ...PORTS }
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
