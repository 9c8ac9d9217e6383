import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { afterAll, expect, test } from 'vitest'
import { explainListenFailure } from '../../src/server/listen.ts'
import { createTestDatabase } from '../support/database.ts'
import { petstore, startService } from '../support/service.ts'
import { until } from '../support/until.ts'

const DATABASE_URL = await createTestDatabase()
const environment = { DATABASE_URL, PORT: '0', ADMIN_PORT: '0' }

const other = createServer().listen(0, '127.0.0.1')
await once(other, 'listening')
afterAll(() => other.close())
const busy = String((other.address() as AddressInfo).port)

/** An address from a range reserved for documentation, which no host has. */
const FOREIGN_ADDRESS = '203.0.113.1'

test.concurrent.each([
  { setting: 'PORT', value: busy, fault: 'in use' },
  { setting: 'ADMIN_PORT', value: busy, fault: 'in use' },
  { setting: 'ADMIN_HOST', value: FOREIGN_ADDRESS, fault: 'not an address of this host' },
])('serve exits with 1 if $setting is $fault, and names the setting', async ({ setting, value, fault }) => {
  const { code, stderr, stdout } = await petstore(['serve'], { ...environment, [setting]: value })
  expect(code).toBe(1)
  expect(stderr).toMatch(new RegExp(`^${setting}: .*${fault}.*\n.*set ${setting} to `, 'i'))
  expect(stdout).not.toContain('"msg":"listening"')
})

test('serve warns once at its start about a variable that differs from the stored setting', async () => {
  const databaseUrl = await createTestDatabase()
  const service = await startService({
    DATABASE_URL: databaseUrl,
    CURRENCY: 'USD',
    TIME_ZONE: 'Europe/Berlin',
  })
  await until(() => service.log().includes('CURRENCY is USD, but the shop has EUR, which counts'))
  expect(service.log()).toContain('Remove it or set CURRENCY=EUR')
  expect(service.log()).not.toContain('TIME_ZONE is')
  await service.stop()
})

test.each([
  ['EADDRINUSE', /^PORT: .*in use.*\n.*set PORT to a free port/],
  ['EACCES', /^PORT: .*not permitted to open port 80.*\nSet PORT .*CAP_NET_BIND_SERVICE/],
  ['EADDRNOTAVAIL', /^HOST: example\.com is not an address of this host.*\nSet HOST to /],
  ['ENOTFOUND', /^HOST: the name example\.com does not resolve to an address.*\nSet HOST to /],
  ['EINVAL', /example\.com, port 80: EINVAL.*\nCheck HOST and PORT/],
])('the message for %s names the setting and says what to do', (code, message) => {
  const listener = { hostSetting: 'HOST', portSetting: 'PORT', host: 'example.com', port: 80 } as const
  expect(explainListenFailure(Object.assign(new Error(code), { code }), listener)).toMatch(message)
})
