// The metrics of a running service: what requests, queries and the data of the store change in them.
import { expect, onTestFinished, test } from 'vitest'
import { SCOPES } from '../../src/contract/scopes.ts'
import { openServiceMetrics } from '../../src/server/store-metrics/store-metrics.ts'
import { openLog } from '../../src/telemetry/log.ts'
import { issueApiKey } from '../support/app.ts'
import { openTestClient } from '../support/client.ts'
import { createTestDatabase, openTestDatabase, sql } from '../support/database.ts'
import { openStream } from '../support/event-stream.ts'
import { onOneDay } from '../support/one-day.ts'
import { APPLICATION, asDelivery } from '../support/roles.ts'
import { startService } from '../support/service.ts'

/** The value of a series, such as `petstore_errors_total{code="pet_not_found"}`; undefined without one. */
async function readMetric(adminOrigin: string, series: string): Promise<number | undefined> {
  const text = await (await fetch(`${adminOrigin}/metrics`)).text()
  const line = text.split('\n').find((one) => one.startsWith(`${series} `))
  return line === undefined ? undefined : Number(line.slice(series.length))
}

async function startMeasured(prepare: (databaseUrl: string) => Promise<unknown> = async () => {}) {
  const DATABASE_URL = await createTestDatabase()
  await prepare(DATABASE_URL)
  const service = await startService({ DATABASE_URL, LOG_LEVEL: 'fatal' })
  onTestFinished(async () => void (await service.stop()))
  const { text: apiKey } = await issueApiKey(openTestDatabase(DATABASE_URL), { name: 'shop', scopes: SCOPES })
  const metric = (series: string) => readMetric(service.adminOrigin, series)
  return { DATABASE_URL, service, metric, client: openTestClient({ origin: service.origin, apiKey }) }
}

test('counts errors by code, queries by statement, and the waits of batches and for connections', async () => {
  const { client, metric } = await startMeasured()
  await client.post('/pets', { name: 'Rex', categoryId: 1 })
  await client.get('/pets?id=999')
  await client.get('/pets?limit=many')
  await client.post('/pets', { name: '', categoryId: 1 })
  await client.get('/pets', { apiKey: null })

  await expect.poll(() => metric('petstore_errors_total{code="invalid_parameter"}')).toBe(1)
  await expect.poll(() => metric('petstore_errors_total{code="invalid_body"}')).toBe(1)
  await expect.poll(() => metric('petstore_errors_total{code="missing_api_key"}')).toBe(1)
  await expect.poll(() => metric('petstore_query_seconds_count{statement="insert_pets"}')).toBe(1)
  await expect.poll(() => metric('petstore_batch_wait_seconds_count{kind="insertPet"}')).toBe(1)
  await expect.poll(() => metric('petstore_database_wait_seconds_count{kind="write"}')).toBeGreaterThan(0)
})

test('/metrics is the text format of Prometheus, and JSON for a request that accepts it', async () => {
  const { service } = await startMeasured()
  const read = (accept: string) => fetch(`${service.adminOrigin}/metrics`, { headers: { accept } })
  const ofPrometheus = await read(
    'application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5,*/*;q=0.1',
  )
  expect(ofPrometheus.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/)
  expect(await ofPrometheus.text()).toMatch(/^petstore_build_info\{.*\} 1$/m)
  const asJson = await read('application/json')
  expect(asJson.headers.get('content-type')).toMatch(/^application\/json/)
  expect(await asJson.json()).toContainEqual(
    expect.objectContaining({
      name: 'petstore_build_info',
      values: [expect.objectContaining({ value: 1 })],
    }),
  )
})

test('reports the holds, keys and deprecated calls of the store, and the standbys', () =>
  onOneDay(async () => {
    const { metric } = await startMeasured(async (url) => {
      await sql(
        url,
        `insert into pets (name, category_id, status) values ('Rex', 1, 'pending'), ('Max', 1, 'pending')`,
      )
      await sql(
        url,
        `with shop as (insert into actors (kind, name) values ('program', 'shop') returning id)
          insert into api_keys (hash, actor_id, scopes, expires_at, last_used_at)
          select sha256('a'), id, '{}', timestamptz '2999-01-01 00:00:00Z', now() from shop`,
      )
      await sql(
        url,
        `insert into orders (pet_id, placed_by, created_at, expires_at)
          select pets.id, actors.id, now(), now() + pets.id * interval '4 minutes' from pets, actors`,
      )
      await sql(
        url,
        `insert into deprecated_calls select id, 'getPet', (now() at time zone 'UTC')::date, 7 from api_keys`,
      )
    })
    await expect.poll(() => metric('petstore_holds{state="open"}')).toBe(2)
    expect(await metric('petstore_holds{state="expiring"}')).toBe(1)
    expect(await metric('petstore_hold_overdue_seconds')).toBe(0)
    expect(await metric('petstore_api_key_next_expiry_timestamp_seconds')).toBe(
      Date.parse('2999-01-01') / 1_000,
    )
    expect(await metric('petstore_deprecated_calls_today{operation="getPet"}')).toBe(7)
    expect(await metric('petstore_removal_timestamp_seconds{operation="getPet"}')).toBe(
      Date.parse('2030-12-05') / 1_000,
    )
    expect(await metric('petstore_replication_standbys{state="connected"}')).toBe(0)
    expect(await metric('petstore_replication_standbys{state="required"}')).toBe(0)
  }))

test('has no value of the feed, the holds and the keys before it has read them', async () => {
  const connections = () => ({ total: 0, idle: 0, waiting: 0, unacknowledged: 0 })
  const { registry } = openServiceMetrics({ connections }, openLog('silent'))
  const text = await registry.metrics()
  expect(text).toContain('petstore_database_connections{state="total"} 0')
  expect(text).not.toMatch(/^petstore_(?:events_|hold|api_key_)/m)
})

test('shows when each background job last succeeded, and counts failures', async () => {
  const { DATABASE_URL, metric } = await startMeasured()
  const swept = () => metric('petstore_background_last_success_timestamp_seconds{task="sweep expired holds"}')
  await expect.poll(swept).toBeGreaterThan(Date.now() / 1_000 - 10)
  await sql(DATABASE_URL, 'alter table orders rename to away')
  await expect
    .poll(() => metric('petstore_background_failures_total{task="sweep expired holds"}'))
    .toBeGreaterThan(0)
})

test('counts and logs reads that fail for the streams of events, which stay open', async () => {
  const DATABASE_URL = await createTestDatabase()
  const service = await startService({ DATABASE_URL, LOG_LEVEL: 'warn' })
  onTestFinished(async () => void (await service.stop()))
  const { text: apiKey } = await issueApiKey(openTestDatabase(DATABASE_URL), { scopes: ['events:read'] })
  const stream = await openStream({ origin: service.origin, apiKey, query: 'after=latest' })
  await sql(DATABASE_URL, `revoke select on api_keys from ${APPLICATION}`)
  const series = 'petstore_event_stream_failures_total{read="api_keys"}'
  const failures = async () => (await readMetric(service.adminOrigin, series)) ?? 0
  await expect.poll(failures).toBeGreaterThan(2)
  const logged = () =>
    service.log().split('event streams or exports could not read from the database').length - 1
  await expect.poll(logged).toBeGreaterThan(0)
  // One line a minute.
  expect(logged()).toBeLessThan(await failures())
  expect(service.log()).toContain('permission denied for table api_keys')
  await sql(DATABASE_URL, `grant select on api_keys to ${APPLICATION}`)
  await sql(DATABASE_URL, `insert into pets (name, category_id) values ('Ada', 1)`)
  await expect.poll(() => stream.events).toHaveLength(1)
})

test('petstore deliver shows when it last read webhooks, also before its first read', async () => {
  const DATABASE_URL = asDelivery(await createTestDatabase())
  await sql(DATABASE_URL, 'alter table webhooks rename to away')
  const secondsBefore = Date.now() / 1_000
  const deliver = await startService({ DATABASE_URL, LOG_LEVEL: 'fatal' }, { args: ['deliver'] })
  onTestFinished(async () => void (await deliver.stop()))
  const metric = (series: string) => readMetric(deliver.adminOrigin, series)
  const succeededAt = () =>
    metric('petstore_background_last_success_timestamp_seconds{task="deliver webhooks"}')
  const startedAt = await succeededAt()
  expect(startedAt).toBeGreaterThanOrEqual(secondsBefore)
  await expect
    .poll(() => metric('petstore_background_failures_total{task="deliver webhooks"}'))
    .toBeGreaterThan(0)
  await sql(DATABASE_URL, 'alter table away rename to webhooks')
  await expect.poll(succeededAt).toBeGreaterThan(startedAt as number)
})
