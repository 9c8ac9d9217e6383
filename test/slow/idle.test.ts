// How many transactions an idle service and an idle deliverer run. Each of them would otherwise keep a small server busy.
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { issueApiKey } from '../support/app.ts'
import { createTestDatabase, openTestDatabase } from '../support/database.ts'
import { openStream } from '../support/event-stream.ts'
import { asDelivery } from '../support/roles.ts'
import { type Service, startService } from '../support/service.ts'
import { countTransactions } from '../support/transactions.ts'

const WINDOW_MS = 20_000
/** After a request, the jobs that follow changes are done. The statistics of PostgreSQL are up to ten seconds late. */
const SETTLED_AFTER_MS = 12_000
const IDLE_PER_SECOND_MAX = 5

async function start(...options: Parameters<typeof startService>): Promise<Service> {
  const service = await startService(...options)
  onTestFinished(async () => void (await service.stop()))
  return service
}

test(`an idle service and deliverer run at most ${IDLE_PER_SECOND_MAX} transactions per second`, async () => {
  const databaseUrl = await createTestDatabase()
  const db = openTestDatabase(databaseUrl)
  const service = await start({ DATABASE_URL: databaseUrl, LOG_LEVEL: 'error' })
  await start({ DATABASE_URL: asDelivery(databaseUrl), LOG_LEVEL: 'error' }, { args: ['deliver'] })
  const measure = async () => {
    await sleep(SETTLED_AFTER_MS)
    return countTransactions(databaseUrl, WINDOW_MS)
  }

  const idle = await measure()
  const { text: apiKey } = await issueApiKey(db, { scopes: ['events:read'] })
  const stream = await openStream({ origin: service.origin, apiKey, query: 'after=latest' })
  const withStream = await measure()
  stream.close()
  console.log({ transactionsPerSecond: { idle, withStream } })
  // A busy host runs fewer.
  expect(idle).toBeLessThanOrEqual(IDLE_PER_SECOND_MAX)
  // Each process must notice within seconds that its server is frozen.
  expect(idle).toBeGreaterThan(0)
  expect(withStream).toBeGreaterThan(idle)
})
