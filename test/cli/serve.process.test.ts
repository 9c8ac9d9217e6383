import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { Client } from 'pg'
import { expect, test } from 'vitest'
import { makeApiKeyText } from '../../src/access/api-keys/format.ts'
import { sequenceEvents } from '../../src/events/feed/sequencer.ts'
import { issueApiKey } from '../support/app.ts'
import { openTestClient } from '../support/client.ts'
import { createTestDatabase, openTestDatabase, sql } from '../support/database.ts'
import { runInProcess } from '../support/in-process.ts'
import { asOwner, asSuperuser } from '../support/roles.ts'
import { startService } from '../support/service.ts'

test('two `serve --migrate` processes that start at the same time on an empty database both become ready', async () => {
  const DATABASE_URL = await createTestDatabase('empty')
  const environment = { DATABASE_URL, MIGRATION_DATABASE_URL: asOwner(DATABASE_URL) }
  const args = ['serve', '--migrate']
  const services = await Promise.all([
    startService(environment, { args }),
    startService(environment, { args }),
  ])
  const { text: apiKey } = await issueApiKey(openTestDatabase(DATABASE_URL))
  for (const { origin } of services) {
    const client = openTestClient({ origin, apiKey })
    expect((await client.post('/pets', { name: 'Rex', categoryId: 1 })).status).toBe(201)
  }
  expect(await Promise.all(services.map((service) => service.stop()))).toEqual([0, 0])
})

test('`serve` on an empty database is live but not ready, and becomes ready after `migrate`', async () => {
  const DATABASE_URL = await createTestDatabase('empty')
  const service = await startService({ DATABASE_URL }, { untilReady: false })
  const ready = async () => (await fetch(`${service.adminOrigin}/ready`)).status
  expect((await fetch(`${service.adminOrigin}/live`)).status).toBe(200)
  expect(await ready()).toBe(503)
  const client = openTestClient({ origin: service.origin, apiKey: makeApiKeyText('production') })
  expect(await client.get('/pets')).toMatchObject({ status: 503, body: { code: 'unavailable' } })
  const { code, stderr } = await runInProcess(['migrate'], {
    DATABASE_URL,
    MIGRATION_DATABASE_URL: asOwner(DATABASE_URL),
  })
  expect(code).toBe(0)
  expect(stderr).toContain('up to date')
  await expect.poll(ready).toBe(200)
  await service.stop()
})

test('`serve --migrate` works with one role that owns the schema', async () => {
  const DATABASE_URL = asOwner(await createTestDatabase('empty'))
  const service = await startService({ DATABASE_URL }, { args: ['serve', '--migrate'] })
  const { text: apiKey } = await issueApiKey(openTestDatabase(DATABASE_URL))
  const client = openTestClient({ origin: service.origin, apiKey })
  expect((await client.post('/pets', { name: 'Rex', categoryId: 1 })).status).toBe(201)
  expect(await service.stop()).toBe(0)
})

test('with a schema newer than the code, `migrate` fails and `serve` warns and runs', async () => {
  const DATABASE_URL = await createTestDatabase()
  await sql(DATABASE_URL, `insert into petstore_migrations (name, run_on) values ('9999_future', now())`)
  const migrated = await runInProcess(['migrate'], { DATABASE_URL })
  expect(migrated.code).toBe(1)
  expect(migrated.stderr).toContain('9999_future')
  const service = await startService({ DATABASE_URL })
  await service.stop()
  expect(service.log()).toContain('newer than this version')
})

test('`serve` without DATABASE_URL says what to do', async () => {
  const { code, stderr } = await runInProcess(['serve'])
  expect(code).toBe(1)
  expect(stderr).toContain('DATABASE_URL is not set')
  expect(stderr).toContain('npm run dev')
})

test('with SHARE_PORT two processes share one port, and requests succeed after one of them stops', async () => {
  const DATABASE_URL = await createTestDatabase()
  const first = await startService({ DATABASE_URL, SHARE_PORT: 'on' })
  const PORT = new URL(first.origin).port
  const second = await startService({ DATABASE_URL, SHARE_PORT: 'on', PORT })
  // Each request opens a new connection, because the service can close a keep-alive connection while a request is in flight.
  const request = async () => {
    const [response] = (await once(get(`${first.origin}/v1/pets`, { agent: false }), 'response')) as [
      IncomingMessage,
    ]
    response.resume()
    return String(response.headers['x-request-id'])
  }
  const ids = await Promise.all(Array.from({ length: 40 }, request))
  await first.stop()
  const idsAfterwards = await Promise.all(Array.from({ length: 5 }, request))
  await second.stop()
  const countIn = (service: typeof first) => ids.filter((id) => service.log().includes(`"${id}"`)).length
  expect(countIn(first)).toBeGreaterThan(0)
  expect(countIn(second)).toBeGreaterThan(0)
  expect(countIn(first) + countIn(second)).toBe(40)
  for (const id of idsAfterwards) expect(second.log()).toContain(`"${id}"`)
})

test('`serve` deletes events after EVENT_RETENTION_DAYS', async () => {
  const DATABASE_URL = await createTestDatabase()
  const db = openTestDatabase(DATABASE_URL)
  for (const name of ['Old', 'New', 'Newest']) {
    await sql(DATABASE_URL, `insert into pets (name, category_id) values ('${name}', 1)`)
  }
  await sequenceEvents(db)
  await sql(DATABASE_URL, `update outbox set at = now() - interval '49 hours' where names = '{Old}'`)
  await sql(DATABASE_URL, `update outbox set at = now() - interval '47 hours' where names = '{New}'`)
  const service = await startService({ DATABASE_URL, EVENT_RETENTION_DAYS: '2' })
  const names = () => sql(DATABASE_URL, 'select names from outbox order by id')
  await expect.poll(names).toEqual([{ names: ['New'] }, { names: ['Newest'] }])
  expect(await service.stop()).toBe(0)
})

test('/metrics shows the newest event, and how late changes reach the feed', async () => {
  const DATABASE_URL = await createTestDatabase()
  const service = await startService({ DATABASE_URL })
  const metric = async (name: string) => {
    const text = await (await fetch(`${service.adminOrigin}/metrics`)).text()
    return Number(new RegExp(`^petstore_events_${name} (\\S+)$`, 'm').exec(text)?.[1])
  }
  await expect.poll(() => metric('newest_number')).toBe(1)
  await sql(DATABASE_URL, `insert into pets (name, category_id) values ('Rex', 1)`)
  await expect.poll(() => metric('newest_number')).toBe(2)
  await expect.poll(() => metric('unnumbered_seconds')).toBe(0)

  const blocker = new Client(asSuperuser(DATABASE_URL))
  await blocker.connect()
  await blocker.query(`select pg_advisory_lock(hashtext('petstore sequence events'))`)
  await sql(DATABASE_URL, `insert into pets (name, category_id) values ('Max', 1)`)
  await expect.poll(() => metric('unnumbered_seconds')).toBeGreaterThan(0.2)
  expect(await metric('newest_number')).toBe(2)
  await blocker.end()
  await expect.poll(() => metric('newest_number')).toBe(3)
  await expect.poll(() => metric('unnumbered_seconds')).toBe(0)
  expect(await service.stop()).toBe(0)
})
