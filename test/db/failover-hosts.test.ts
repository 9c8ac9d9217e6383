// DATABASE_URL with several hosts, one of which rejects the password. test/slow/multi-host.test.ts is about failovers.
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { Registry } from 'prom-client'
import { afterAll, expect, test } from 'vitest'
import { openServiceDatabase } from '../../src/server/service-database.ts'
import { addDatabaseMetrics } from '../../src/telemetry/database-metrics.ts'
import { createTestDatabase } from '../support/database.ts'
import { openTestLog } from '../support/test-log.ts'
import { until } from '../support/until.ts'

const MESSAGE = 'password authentication failed for user "petstore_app"'

/** The error with which PostgreSQL ends a connection whose password is wrong. */
function wrongPassword(): Buffer {
  const fields = `SFATAL\0VFATAL\0C28P01\0M${MESSAGE}\0\0`
  const head = Buffer.from('E....')
  head.writeInt32BE(fields.length + 4, 1)
  return Buffer.concat([head, Buffer.from(fields)])
}

const rejecting = createServer((socket) => {
  socket.on('error', () => {})
  socket.once('data', () => socket.end(wrongPassword()))
}).listen(0, '127.0.0.1')
await once(rejecting, 'listening')
afterAll(() => void rejecting.close())
const rejectingHost = `127.0.0.1:${(rejecting.address() as AddressInfo).port}`

test('a host that rejects the password is logged once and counted each time', async () => {
  const databaseUrl = await createTestDatabase()
  const { host } = new URL(databaseUrl)
  const lines: Record<string, unknown>[] = []
  const log = openTestLog('warn', (line) => void lines.push(JSON.parse(line) as Record<string, unknown>))
  const registry = new Registry()
  const observer = addDatabaseMetrics(registry, { connections: () => db.connections() })
  const db = openServiceDatabase(
    { DATABASE_URL: databaseUrl.replace(host, `${rejectingHost},${host}`), DATABASE_POOL_SIZE: 1 },
    log,
    { observer },
  )
  afterAll(() => db.close())
  const failures = async () => {
    const text = await registry.getSingleMetricAsString('petstore_database_host_failures_total')
    return Number(/{host="(?<host>[^"]+)"} (?<count>\d+)$/m.exec(text)?.groups?.['count'] ?? 0)
  }
  await until(async () => (await failures()) >= 3)
  const text = await registry.getSingleMetricAsString('petstore_database_host_failures_total')
  expect(text.match(/host="[^"]+"/g)).toEqual([`host="${rejectingHost}"`])
  expect(lines.filter((line) => line['host'] === rejectingHost)).toEqual([
    expect.objectContaining({
      level: 40,
      host: rejectingHost,
      code: '28P01',
      reason: MESSAGE,
      msg: 'a database host could not be asked whether it is the primary',
    }),
  ])
})
