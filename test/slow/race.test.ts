// No pet is sold twice, even with many buyers, two processes, and kills.
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createTestDatabase, sql } from '../support/database.ts'
import { auditFeed } from '../support/feed-audit.ts'
import { type Connection, runClients, openConnection, retryWhileBusy } from '../support/load.ts'
import { petstore, type Service, startService } from '../support/service.ts'
import { auditStore } from '../support/store-audit.ts'
import { volume } from '../support/volume.ts'

const BUYERS = 16
/** A change of a sold pet to available is a refund. */
const SCOPES = 'pets:read,pets:write,orders:read,orders:write,till:write'

async function openApiFixture(pets: number) {
  const DATABASE_URL = await createTestDatabase()
  const environment = { DATABASE_URL, LOG_LEVEL: 'error' }
  const { stdout } = await petstore(
    ['api-keys', 'create', '--name', 'buyer', '--scopes', SCOPES],
    environment,
  )
  await sql(
    DATABASE_URL,
    `insert into pets (name, category_id) select 'Pet ' || n, 1 + n % 5 from generate_series(1, $1::int) as n`,
    [pets],
  )
  return { databaseUrl: DATABASE_URL, environment, apiKey: stdout.trim() }
}

interface Round {
  won: Map<number, number[]>
  statuses: Map<string, number>
}

/** All buyers order the same pet at the same time, one pet after another. */
async function race(services: Service[], apiKey: string, pets: number): Promise<Round> {
  const buyers = Array.from({ length: BUYERS }, (_, index) =>
    openConnection({ origin: services[index % services.length]?.origin ?? '', apiKey }),
  )
  const round: Round = { won: new Map(), statuses: new Map() }
  for (let petId = 1; petId <= pets; petId += 1) {
    const exchanges = await Promise.all(
      buyers.map(({ send }) => retryWhileBusy(() => send('POST', '/v1/store/orders', { petId }))),
    )
    for (const { status, body } of exchanges) {
      const key = status === 201 ? '201' : `${status} ${(body as { code: string }).code}`
      round.statuses.set(key, (round.statuses.get(key) ?? 0) + 1)
      if (status === 201) round.won.set(petId, [...(round.won.get(petId) ?? []), (body as { id: number }).id])
    }
  }
  for (const buyer of buyers) buyer.close()
  return round
}

const PETS = volume(50, 500)
const ROUNDS = volume(2, 5)

test('exactly one of many buyers gets each pet, with two processes', async () => {
  const pets = PETS
  const { databaseUrl, environment, apiKey } = await openApiFixture(pets)
  const services = [await startService(environment), await startService(environment)]
  const closer = openConnection({ origin: services[0]?.origin ?? '', apiKey })
  for (let number = 1; number <= ROUNDS; number += 1) {
    const { won, statuses } = await race(services, apiKey, pets)
    console.log(`round ${number}`, Object.fromEntries(statuses))
    expect([...won.values()].every((orders) => orders.length === 1)).toBe(true)
    expect(Object.fromEntries(statuses)).toEqual({
      '201': pets,
      '409 pet_not_available': pets * (BUYERS - 1),
    })
    // Cancel the orders, so that the next round can sell the same pets. Complete those of the last round.
    const ending = number === ROUNDS ? 'complete' : 'cancel'
    for (const [orderId] of won.values()) {
      const ended = await retryWhileBusy(() => closer.send('POST', `/v1/store/orders/${orderId}/${ending}`))
      expect(ended.status).toBe(200)
    }
    expect(await auditStore(databaseUrl)).toEqual([])
    expect(await auditFeed(databaseUrl)).toEqual([])
  }
  const inventory = await closer.send('GET', '/v1/store/inventory')
  expect(inventory.body).toEqual({ available: 0, pending: 0, sold: pets })
  await Promise.all(services.map((service) => service.stop()))
})

test('the same race detects double sales if nothing locks the pet and the unique index is dropped', async () => {
  const pets = 50
  const { databaseUrl, environment, apiKey } = await openApiFixture(pets)
  await sql(databaseUrl, 'drop index orders_one_open_per_pet')
  const [{ text } = { text: '' }] = await sql<{ text: string }>(
    databaseUrl,
    `select pg_get_functiondef('place_orders'::regproc) as text`,
  )
  // Two statements then read the same available pet.
  await sql(databaseUrl, text.replace(/ for update( skip locked)?/g, ''))
  const services = [await startService(environment), await startService(environment)]
  const { won } = await race(services, apiKey, pets)
  const duplicated = [...won.values()].filter((orders) => orders.length > 1)
  console.log(`without the lock and the index ${duplicated.length} of ${pets} pets were sold twice`)
  expect(duplicated.length).toBeGreaterThan(0)
  expect((await auditStore(databaseUrl)).join()).toContain('sold twice')
  await Promise.all(services.map((service) => service.stop()))
})

const KILLS = volume(2, 12)
/** Calls of the clients between two kills. */
const CALLS = volume(400, 5_000)
const CLIENTS = 32

test('the store stays consistent while 32 clients act at random and processes are killed', async () => {
  const pets = 300
  const { databaseUrl, environment, apiKey } = await openApiFixture(pets)
  const services = [await startService(environment), await startService(environment)]
  const statuses = new Map<string, number>()
  const orders: number[] = []
  const stopping = new AbortController()
  let called = 0

  const load = Promise.all(
    [0, 1].map((side) =>
      runClients({ origin: 'http://unused', apiKey }, CLIENTS / 2, stopping.signal, async () => {
        const connection = openConnection({ origin: services[side]?.origin ?? '', apiKey })
        for (let calls = 0; calls < 20 && !stopping.signal.aborted; calls += 1) {
          called += 1
          await step(connection).catch(async () => {
            count('connection lost')
            await sleep(50)
          })
        }
        connection.close()
      }),
    ),
  )

  async function step({ send }: Connection): Promise<void> {
    const pick = Math.random()
    const petId = 1 + Math.floor(Math.random() * pets * 1.1)
    const orderId = orders[Math.floor(Math.random() * orders.length)] ?? 1
    if (pick < 0.4) {
      const { status, body } = await send('POST', '/v1/store/orders', { petId, holdMinutes: 1 })
      count(`place ${status}`)
      if (status === 201) orders.push((body as { id: number }).id)
    } else if (pick < 0.6)
      count(`complete ${(await send('POST', `/v1/store/orders/${orderId}/complete`)).status}`)
    else if (pick < 0.75) count(`cancel ${(await send('POST', `/v1/store/orders/${orderId}/cancel`)).status}`)
    else if (pick < 0.93) {
      const change = {
        status: ['available', 'pending', 'sold'][Math.floor(Math.random() * 3)],
        categoryId: petId % 7 || 1,
      }
      count(`update ${(await send('PATCH', `/v1/pets/${petId}`, change)).status}`)
    } else if (pick < 0.95) count(`delete ${(await send('DELETE', `/v1/pets/${petId}`)).status}`)
    else count(`create ${(await send('POST', '/v1/pets', { name: 'New', categoryId: 1 })).status}`)
  }
  function count(key: string): void {
    statuses.set(key, (statuses.get(key) ?? 0) + 1)
  }

  /** A hold lasts at least a minute. Shortens some holds, and returns how many have expired so far. */
  async function shortenHolds(): Promise<number> {
    await sql(
      databaseUrl,
      `update orders set expires_at = now() + interval '300 ms'
        where status = 'open' and id % 3 = 0 and expires_at > now() + interval '1 s'`,
    )
    return (await sql(databaseUrl, `select from orders where status = 'expired'`)).length
  }

  for (let kills = 0; kills < KILLS; kills += 1) {
    const enough = called + CALLS
    const before = await shortenHolds()
    await expect.poll(shortenHolds, { interval: 200 }).toBeGreaterThan(before)
    await expect.poll(() => called).toBeGreaterThan(enough)
    const side = kills % 2
    services[side]?.kill('SIGKILL')
    services[side] = await startService(environment)
  }
  stopping.abort()
  await load
  await Promise.all(services.map((service) => service.stop()))

  console.log(Object.fromEntries([...statuses].sort(([a], [b]) => (a < b ? -1 : 1))))
  expect([...statuses.keys()].filter((key) => /5\d\d|400|401|403/.test(key) && !key.endsWith('503'))).toEqual(
    [],
  )
  expect(await auditStore(databaseUrl)).toEqual([])
  expect(await auditFeed(databaseUrl)).toEqual([])
})
