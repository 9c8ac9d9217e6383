// Graceful shutdown on SIGTERM.
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { slowness } from '../support/busy-host.ts'
import { createTestDatabase } from '../support/database.ts'
import { auditFeed } from '../support/feed-audit.ts'
import { runClients } from '../support/load.ts'
import { petstore, startService } from '../support/service.ts'
import { volume } from '../support/volume.ts'

const ROUNDS = volume(5, 15)
const CLIENTS = 16
const DATABASE_URL = await createTestDatabase()
const { stdout } = await petstore(['api-keys', 'create', '--name', 'load'], { DATABASE_URL })
const apiKey = stdout.trim()

test(`on SIGTERM under load, no request fails and the process ends within 10 seconds (${ROUNDS} times)`, async () => {
  let accepted = 0
  let closing = 0
  for (let round = 0; round < ROUNDS; round += 1) {
    // The grace period must be longer than the interval of the readiness checks, which grows on a busy host.
    const graceMs = Math.round(500 * slowness())
    const service = await startService({
      DATABASE_URL,
      LOG_LEVEL: 'error',
      SHUTDOWN_GRACE_MS: String(graceMs),
    })
    const unready = new AbortController()
    // Acts like a load balancer: polls /ready, and stops the clients once it fails.
    const loadBalancer = (async () => {
      while ((await fetch(`${service.adminOrigin}/ready`)).ok) await sleep(50)
      unready.abort()
    })()
    const load = runClients({ ...service, apiKey }, CLIENTS, unready.signal, async ({ send }, index) => {
      const exchange =
        index % 4 === 0
          ? await send('POST', '/v1/pets', { name: 'Rex', categoryId: 1 })
          : await send('GET', '/v1/pets?limit=5')
      expect([200, 201]).toContain(exchange.status)
      accepted += 1
      if (exchange.closes) closing += 1
    })
    await sleep(300)
    const signalled = Date.now()
    service.kill('SIGTERM')
    await Promise.all([load, loadBalancer])
    expect(await service.ended).toBe(0)
    expect(Date.now() - signalled).toBeLessThan(10_000 * slowness())
  }
  console.log(`${accepted} requests succeeded, ${closing} of them with Connection: close, none failed`)
  expect(closing).toBeGreaterThan(0)
  expect(await auditFeed(DATABASE_URL)).toEqual([])
})

test('a second SIGTERM ends the process at once', async () => {
  const service = await startService({ DATABASE_URL, LOG_LEVEL: 'error', SHUTDOWN_GRACE_MS: '10000' })
  service.kill('SIGTERM')
  // Wait until the process has handled the first signal.
  await expect.poll(async () => (await fetch(`${service.adminOrigin}/ready`)).status).toBe(503)
  const signalled = Date.now()
  service.kill('SIGTERM')
  expect(await service.ended).toBe(1)
  expect(Date.now() - signalled).toBeLessThan(1_000 * slowness())
})

test('an idle keep-alive connection does not delay the exit', async () => {
  const service = await startService({ DATABASE_URL, LOG_LEVEL: 'error' })
  await fetch(`${service.origin}/openapi.json`, { keepalive: true })
  const signalled = Date.now()
  expect(await service.stop()).toBe(0)
  expect(Date.now() - signalled).toBeLessThan(2_000 * slowness())
})
