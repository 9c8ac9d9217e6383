// Reads from standbys are off unless DATABASE_READ_URL is set, and only `petstore serve` uses them.
import { expect, test } from 'vitest'
import { SCOPES } from '../../src/contract/scopes.ts'
import { INCARNATION } from '../../src/db/failover/incarnation.ts'
import { issueApiKey } from '../support/app.ts'
import { openTestClient } from '../support/client.ts'
import { createTestDatabase, openTestDatabase, sql } from '../support/database.ts'
import { retryWhileBusy } from '../support/load.ts'
import { asDelivery } from '../support/roles.ts'
import { type Service, startService } from '../support/service.ts'
import { until } from '../support/until.ts'

/** Statements that only a process with reads from standbys sends to the primary. */
const STATEMENTS = ['read_position', 'find_transactions', 'find_waiting_commits', 'complete_record']

/** Each of them is read by another statement. */
const PATHS = [
  '/pets/1',
  '/pets',
  '/pets?id=1',
  '/pets?name=Rex',
  '/pets/1/history',
  '/store/orders/1',
  '/store/orders',
]

/** The metrics of the service after one request of each kind. */
async function useService({ origin, adminOrigin }: Service, databaseUrl: string): Promise<string> {
  const { text: apiKey } = await issueApiKey(openTestDatabase(databaseUrl), { scopes: SCOPES })
  const client = openTestClient({ origin, apiKey })
  const get = (path: string) => retryWhileBusy(() => client.get(path))
  const post = (path: string, body: unknown) => retryWhileBusy(() => client.post(path, body))
  expect((await post('/pets', { name: 'Rex', categoryId: 1 })).status).toBe(201)
  expect((await post('/store/orders', { petId: 1 })).status).toBe(201)
  for (const path of PATHS) expect((await get(path)).status, path).toBe(200)
  const metrics = await fetch(`${adminOrigin}/metrics`)
  return metrics.text()
}

/** The use of the table of the term, after all processes have ended: PostgreSQL counts when a connection ends. */
async function readTermTable(databaseUrl: string) {
  const others = 'select from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()'
  await until(
    async () => (await sql(databaseUrl, `${others} and application_name <> 'petstore-test'`)).length === 0,
  )
  const [table] = await sql<{ term: string; scans: number; updates: number }>(
    databaseUrl,
    `select term, (coalesce(seq_scan, 0) + coalesce(idx_scan, 0))::int as scans, n_tup_upd::int as updates
      from primary_term cross join pg_stat_user_tables where relname = 'primary_term'`,
  )
  return table
}

test('without DATABASE_READ_URL, no process uses the term or a position', async () => {
  const DATABASE_URL = await createTestDatabase()
  const before = await readTermTable(DATABASE_URL)
  const service = await startService({ DATABASE_URL, LOG_LEVEL: 'fatal' })
  const metrics = await useService(service, DATABASE_URL)
  for (const statement of STATEMENTS) expect(metrics).not.toContain(`"${statement}"`)
  expect(metrics).not.toMatch(/^petstore_(reads|read_fallbacks|unfenced_reads)_total\{/m)
  await service.stop()
  // With a setting that `petstore deliver` does not use.
  const deliver = await startService(
    { DATABASE_URL: asDelivery(DATABASE_URL), DATABASE_READ_URL: twice(DATABASE_URL), LOG_LEVEL: 'fatal' },
    { args: ['deliver'] },
  )
  await deliver.stop()
  const after = await readTermTable(DATABASE_URL)
  // The statement itself reads the table once.
  expect(after).toEqual({ term: 'none', scans: (before?.scans ?? 0) + 1, updates: 0 })
})

/** A list of nodes in which each one is the primary. */
const twice = (databaseUrl: string) =>
  databaseUrl.replace(new URL(databaseUrl).host, (host) => `${host},${host}`)

test('with DATABASE_READ_URL, the term is recorded, and counts and writes that find nothing use the fence', async () => {
  const DATABASE_URL = await createTestDatabase()
  const environment = { DATABASE_URL, DATABASE_READ_URL: twice(DATABASE_URL), LOG_LEVEL: 'fatal' }
  const service = await startService(environment)
  const { text: apiKey } = await issueApiKey(openTestDatabase(DATABASE_URL), { scopes: SCOPES })
  const client = openTestClient({ origin: service.origin, apiKey })
  const fences = async () => {
    const metrics = await (await fetch(`${service.adminOrigin}/metrics`)).text()
    const count = /^petstore_query_seconds_count\{statement="find_transactions"\} (\d+)$/m.exec(metrics)
    return Number(count?.[1] ?? 0)
  }
  for (const path of ['/pets/1', '/store/inventory', '/categories', '/store/figures']) {
    const before = await fences()
    await retryWhileBusy(() => client.get(path))
    expect(await fences(), path).toBeGreaterThan(before)
  }
  const before = await fences()
  const placed = await retryWhileBusy(() => client.post('/store/orders', { petId: 1 }))
  expect(placed.body).toMatchObject({ code: 'pet_not_found' })
  expect(await fences()).toBeGreaterThan(before)
  const metrics = await useService(service, DATABASE_URL)
  expect(metrics).toMatch(/^petstore_reads_total\{target="primary"\} \d+$/m)
  expect(metrics).toMatch(/^petstore_read_fallbacks_total\{reason="no_standby"\} \d+$/m)
  const [recorded] = await sql(DATABASE_URL, `select term = ${INCARNATION} as "isCurrent" from primary_term`)
  expect(recorded).toEqual({ isCurrent: true })
  await service.stop()
  expect(await readTermTable(DATABASE_URL)).toMatchObject({ updates: 1 })
})
