import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { openTestClient } from '../support/client.ts'
import { createTestDatabase, sql } from '../support/database.ts'
import { asOwner } from '../support/roles.ts'
import { petstore, startService } from '../support/service.ts'

test('two `serve --migrate` started at once on an empty database both come up', async () => {
  const DATABASE_URL = await createTestDatabase('empty')
  const environment = { DATABASE_URL, MIGRATION_DATABASE_URL: asOwner(DATABASE_URL) }
  const args = ['serve', '--migrate']
  const services = await Promise.all([
    startService(environment, { args }),
    startService(environment, { args }),
  ])
  const made = await petstore(['api-keys', 'create', '--name', 'x'], { DATABASE_URL })
  for (const { origin } of services) {
    const client = openTestClient({ origin, apiKey: made.stdout.trim() })
    expect((await client.post('/pets', { name: 'Rex', categoryId: 1 })).status).toBe(201)
  }
  expect(await Promise.all(services.map((service) => service.stop()))).toEqual([0, 0])
})

test('plain `serve` on an empty database is alive but not ready, and is ready once it is migrated', async () => {
  const DATABASE_URL = await createTestDatabase('empty')
  const service = await startService({ DATABASE_URL }, { untilReady: false })
  const ready = async () => (await fetch(`${service.adminOrigin}/ready`)).status
  expect((await fetch(`${service.adminOrigin}/live`)).status).toBe(200)
  expect(await ready()).toBe(503)
  const { code, stderr } = await petstore(['migrate'], {
    DATABASE_URL,
    MIGRATION_DATABASE_URL: asOwner(DATABASE_URL),
  })
  expect(code).toBe(0)
  expect(stderr).toContain('up to date')
  for (let waited = 0; waited < 50 && (await ready()) !== 200; waited += 1) await sleep(100)
  expect(await ready()).toBe(200)
  await service.stop()
})

test('one role for everything does too: it migrates and serves', async () => {
  const DATABASE_URL = asOwner(await createTestDatabase('empty'))
  const service = await startService({ DATABASE_URL }, { args: ['serve', '--migrate'] })
  const made = await petstore(['api-keys', 'create', '--name', 'x'], { DATABASE_URL })
  const client = openTestClient({ origin: service.origin, apiKey: made.stdout.trim() })
  expect((await client.post('/pets', { name: 'Rex', categoryId: 1 })).status).toBe(201)
  expect(await service.stop()).toBe(0)
})

test('before it is migrated it answers 503 in the Error shape, not 500', async () => {
  const DATABASE_URL = await createTestDatabase('empty')
  const service = await startService({ DATABASE_URL }, { untilReady: false })
  const client = openTestClient({ origin: service.origin, apiKey: await contractKey() })
  const { status, body } = await client.get('/pets')
  expect(status).toBe(503)
  expect(body).toMatchObject({ code: 'unavailable' })
  await service.stop()
})

async function contractKey(): Promise<string> {
  const DATABASE_URL = await createTestDatabase()
  return (await petstore(['api-keys', 'create', '--name', 'x'], { DATABASE_URL })).stdout.trim()
}

test('a schema newer than the code: `migrate` refuses, `serve` warns and runs', async () => {
  const DATABASE_URL = await createTestDatabase()
  await sql(DATABASE_URL, `insert into petstore_migrations (name, run_on) values ('9999_future', now())`)
  const migrated = await petstore(['migrate'], { DATABASE_URL })
  expect(migrated.code).toBe(1)
  expect(migrated.stderr).toContain('9999_future')
  const service = await startService({ DATABASE_URL })
  await service.stop()
  expect(service.log()).toContain('newer than this version')
})

test('serve without DATABASE_URL says what to do', async () => {
  const { code, stderr } = await petstore(['serve'])
  expect(code).toBe(1)
  expect(stderr).toContain('DATABASE_URL is not set')
  expect(stderr).toContain('npm run dev')
})

test('with SHARE_PORT two processes answer on one port, and one may leave', async () => {
  const DATABASE_URL = await createTestDatabase()
  const first = await startService({ DATABASE_URL, SHARE_PORT: 'on' })
  const PORT = new URL(first.origin).port
  const second = await startService({ DATABASE_URL, SHARE_PORT: 'on', PORT })
  const ask = async () =>
    (await fetch(`${first.origin}/v1/pets`, { headers: { connection: 'close' } })).headers.get('x-request-id')
  const asked = await Promise.all(Array.from({ length: 40 }, ask))
  await first.stop()
  const askedAfterwards = await Promise.all(Array.from({ length: 5 }, ask))
  await second.stop()
  const answeredBy = (service: typeof first) => asked.filter((id) => service.log().includes(`"${id}"`)).length
  expect(answeredBy(first)).toBeGreaterThan(0)
  expect(answeredBy(second)).toBeGreaterThan(0)
  expect(answeredBy(first) + answeredBy(second)).toBe(40)
  for (const id of askedAfterwards) expect(second.log()).toContain(`"${id}"`)
})
