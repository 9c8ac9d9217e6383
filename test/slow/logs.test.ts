// The log of the service, and the counted calls of deprecated operations. Neither contains the data of a request.
import { expect, test } from 'vitest'
import { openTestClient } from '../support/client.ts'
import { createTestDatabase, sql } from '../support/database.ts'
import { onOneDay } from '../support/one-day.ts'
import { petstore, startService } from '../support/service.ts'

const DATABASE_URL = await createTestDatabase()
const environment = { DATABASE_URL }

async function issue(name: string): Promise<string> {
  return (await petstore(['api-keys', 'create', '--name', name], environment)).stdout.trim()
}

function linesOf(log: string): Record<string, unknown>[] {
  return log
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>)
}

test('logs one line per request: route, status, time, key id and request id, but not the query', async () => {
  const apiKey = await issue('logged')
  const service = await startService(environment)
  const client = openTestClient({ origin: service.origin, apiKey })
  await client.get('/pets?limit=5&name=not-for-the-log', { headers: { 'x-request-id': 'one' } })
  await client.get('/pets/not-for-the-log', { headers: { 'x-request-id': 'two' } })
  await client.get('/not-for-the-log', { headers: { 'x-request-id': 'three' }, apiKey: null })
  await client.post('/pets', { name: 'not-for-the-log', categoryId: 1 }, { 'x-request-id': 'four' })
  await service.stop()

  const requests = linesOf(service.log()).filter(({ msg }) => msg === 'request')
  const [row] = await sql<{ id: string }>(
    DATABASE_URL,
    `select api_keys.id from api_keys join actors on actors.id = actor_id where name = 'logged'`,
  )
  const apiKeyId = Number(row?.id)
  const base = { level: 30, msg: 'request', ms: expect.any(Number), time: expect.any(String) }
  expect(requests).toEqual([
    {
      ...base,
      requestId: 'one',
      method: 'GET',
      route: '/v1/pets',
      operation: 'listPets',
      status: 200,
      apiKeyId,
    },
    {
      ...base,
      requestId: 'two',
      method: 'GET',
      route: '/v1/pets/:petId',
      operation: 'getPet',
      status: 404,
      apiKeyId,
    },
    { ...base, requestId: 'three', method: 'GET', operation: 'none', status: 401 },
    {
      ...base,
      requestId: 'four',
      method: 'POST',
      route: '/v1/pets',
      operation: 'createPet',
      status: 201,
      apiKeyId,
    },
  ])
  expect(service.log()).not.toContain('not-for-the-log')
})

test('logs a failure once, with its cause and the request id, and without row data', async () => {
  const apiKey = await issue('failing')
  const service = await startService(environment)
  await sql(
    DATABASE_URL,
    `create function fail() returns trigger language plpgsql as
      $$ begin raise exception 'the cause' using errcode = '53100', detail = 'not-for-the-log'; end $$;
    create trigger fail before insert on pets execute function fail()`,
  )
  const client = openTestClient({ origin: service.origin, apiKey })
  await client.post('/pets', { name: 'not-for-the-log', categoryId: 1 }, { 'x-request-id': 'failed' })
  await sql(DATABASE_URL, 'drop trigger fail on pets')
  await service.stop()
  const errors = linesOf(service.log()).filter(({ level }) => Number(level) >= 50)
  expect(errors).toHaveLength(1)
  expect(errors[0]).toMatchObject({ requestId: 'failed', code: 'unavailable', err: { message: 'the cause' } })
  expect(service.log()).not.toContain('not-for-the-log')
})

test('`api-keys list --deprecated` lists the keys that still call getPet, the number of calls and the days left', () =>
  onOneDay(async () => {
    const none = await petstore(['api-keys', 'list', '--deprecated'], {
      DATABASE_URL: await createTestDatabase(),
    })
    expect(none.stdout).toContain('No key has called a deprecated operation.')

    await sql(DATABASE_URL, 'truncate deprecated_calls')
    const [one, two] = [await issue('old-app'), await issue('older-app')]
    const services = [await startService(environment), await startService(environment)]
    for (const service of services) {
      const client = openTestClient({ origin: service.origin, apiKey: one })
      for (let calls = 0; calls < 3; calls += 1) await client.get('/pets/1')
      await client.get('/pets/2', { apiKey: two })
      await client.get('/pets?id=1', { apiKey: two })
    }
    await Promise.all(services.map((service) => service.stop()))

    const { stdout } = await petstore(['api-keys', 'list', '--deprecated', '--json'], environment)
    const today = new Date().toISOString().slice(0, 10)
    const daysLeft = Math.ceil((Date.parse('2030-12-05T00:00:00Z') - Date.now()) / 86_400_000)
    const use = {
      operation: 'getPet',
      firstDay: today,
      lastDay: today,
      daysLeft,
      apiKeyId: expect.any(Number),
    }
    const uses = (JSON.parse(stdout) as { actor: string }[]).filter(({ actor }) => actor.startsWith('old'))
    expect(uses).toEqual([
      { ...use, actor: 'old-app', calls: 6, callsLast30Days: 6 },
      { ...use, actor: 'older-app', calls: 2, callsLast30Days: 2 },
    ])
    const listed = await petstore(['api-keys', 'list', '--deprecated'], environment)
    expect(listed.stdout).toMatch(/^ID +NAME +OPERATION +CALLS +LAST 30 DAYS +FIRST +LAST +DAYS LEFT$/m)
    expect(listed.stdout).toMatch(new RegExp(`old-app +getPet +6 +6 +${today} +${today} +${daysLeft}`))
  }))
