// Graceful shutdown on SIGTERM.
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createTestDatabase } from '../support/database.ts'
import { auditFeed } from '../support/feed-audit.ts'
import { openConnection, runClients } from '../support/load.ts'
import { petstore, startService } from '../support/service.ts'
import { volume } from '../support/volume.ts'

const ROUNDS = volume(3, 15)
const CLIENTS = 16
/** Responses before the signal. */
const RESPONSES = 100
/** If even the longest grace period is too short for the readiness checks, the service does not fail them. */
const GRACE_MS = { min: 500, max: 60_000 }
const DATABASE_URL = await createTestDatabase()
const { stdout } = await petstore(['api-keys', 'create', '--name', 'load'], { DATABASE_URL })
const apiKey = stdout.trim()

interface Round {
  accepted: number
  closing: number
  failures: unknown[]
  /** When the first request failed, in milliseconds after the signal. */
  failedAfterMs: number
}

/** Sends SIGTERM under load. The process exits with 0 unless it is stuck: then, it ends itself with 1. */
async function shutDownUnderLoad(graceMs: number): Promise<Round> {
  const service = await startService({
    DATABASE_URL,
    LOG_LEVEL: 'error',
    SHUTDOWN_GRACE_MS: String(graceMs),
  })
  const round: Round = { accepted: 0, closing: 0, failures: [], failedAfterMs: Infinity }
  const unready = new AbortController()
  const load = runClients({ ...service, apiKey }, CLIENTS, unready.signal, async ({ send }, index) => {
    const exchange =
      index % 4 === 0
        ? await send('POST', '/v1/pets', { name: 'Rex', categoryId: 1 })
        : await send('GET', '/v1/pets?limit=5')
    expect([200, 201]).toContain(exchange.status)
    round.accepted += 1
    if (exchange.closes) round.closing += 1
  })
  // Acts like a load balancer: polls /ready, and stops the clients a moment after it has failed.
  async function balance(): Promise<void> {
    while ((await fetch(`${service.adminOrigin}/ready`)).ok) await sleep(graceMs / 4)
    await sleep(graceMs / 4)
    unready.abort()
  }
  let signalledAt = Infinity
  const recordFailure = (error: unknown) => {
    round.failures.push(error)
    round.failedAfterMs = Math.min(round.failedAfterMs, performance.now() - signalledAt)
    unready.abort()
  }
  const loading = load.catch(recordFailure)
  await expect.poll(() => round.accepted > RESPONSES || round.failures.length > 0).toBe(true)
  signalledAt = performance.now()
  service.kill('SIGTERM')
  await Promise.all([loading, balance().catch(recordFailure)])
  expect(await service.ended).toBe(0)
  return round
}

test(`on SIGTERM under load, no request fails and the process exits by itself (${ROUNDS} times)`, async () => {
  let [accepted, closing, graceMs] = [0, 0, GRACE_MS.min]
  for (let rounds = 0; rounds < ROUNDS; ) {
    const round = await shutDownUnderLoad(graceMs)
    if (round.failedAfterMs > graceMs && round.failures.length > 0 && graceMs < GRACE_MS.max) {
      // On this busy host, the clients did not stop before the port closed.
      graceMs = Math.min(2 * graceMs, GRACE_MS.max)
      continue
    }
    expect(round.failures).toEqual([])
    accepted += round.accepted
    closing += round.closing
    rounds += 1
  }
  console.log(`${accepted} requests succeeded, ${closing} of them with Connection: close, none failed`)
  expect(closing).toBeGreaterThan(0)
  expect(await auditFeed(DATABASE_URL)).toEqual([])
})

test('a second SIGTERM ends the process at once', async () => {
  const service = await startService({ DATABASE_URL, LOG_LEVEL: 'error', SHUTDOWN_GRACE_MS: '60000' })
  service.kill('SIGTERM')
  // Wait until the process has handled the first signal.
  await expect.poll(async () => (await fetch(`${service.adminOrigin}/ready`)).status).toBe(503)
  service.kill('SIGTERM')
  // Without the second signal, the process would exit with 0 after the grace period.
  expect(await service.ended).toBe(1)
})

test('an idle keep-alive connection does not delay the exit', async () => {
  const service = await startService({ DATABASE_URL, LOG_LEVEL: 'error' })
  // Unlike `fetch`, this client keeps its idle connection open for longer than the service waits.
  const { send, close } = openConnection({ ...service, apiKey })
  await send('GET', '/openapi.json')
  // A process that waits for the connection ends itself with 1.
  expect(await service.stop()).toBe(0)
  close()
})
