// Sellers with prices and bargains, while processes of the service are killed: the sales of every day equal the sum over its
// orders, in every time zone.
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { SCOPES } from '../../src/contract/scopes.ts'
import { apiFixtureAt, type Order, walkPages } from '../support/api-fixture.ts'
import { issueApiKey } from '../support/app.ts'
import { createTestDatabase, openTestDatabase, sql } from '../support/database.ts'
import { auditFeed } from '../support/feed-audit.ts'
import { openConnection } from '../support/load.ts'
import { type Service, startService } from '../support/service.ts'
import { auditStore } from '../support/store-audit.ts'

const SELLERS = 16
const PETS = 160
const KILLS = 3
const PAUSE_MS = 50
const ZONES = ['UTC', 'Europe/Berlin', 'Asia/Kathmandu', 'Pacific/Kiritimati', 'Pacific/Pago_Pago']

const LISTED = '129.00'
/** What a seller does with a pet. Every second pet has a price in its profile. */
interface Sale {
  petId: number
  atPlacing: string | undefined
  atCompleting: string | undefined
  isCancelled: boolean
}

function saleOf(petId: number): Sale {
  return {
    petId,
    atPlacing: petId % 4 < 2 ? `${petId}.10` : undefined,
    atCompleting: petId % 3 === 0 ? `${petId}.01` : undefined,
    isCancelled: petId % 10 === 9,
  }
}

function priceOf({ petId, atPlacing, atCompleting, isCancelled }: Sale): string | undefined {
  return (isCancelled ? undefined : atCompleting) ?? atPlacing ?? (petId % 2 === 0 ? LISTED : undefined)
}

/** Retries until a process responds, and no process that was killed still has the lock of the key. */
async function acknowledge(
  services: readonly Service[],
  apiKey: string,
  path: string,
  body: object,
  key: string,
) {
  for (let attempt = 0; ; attempt += 1) {
    const { origin = '' } = services[attempt % services.length] ?? {}
    const { send, close } = openConnection({ origin, apiKey })
    try {
      const { status, body: order } = await send('POST', path, body, { 'idempotency-key': key })
      if (status < 300) return order as Order
      const { code } = order as { code: string }
      if (status !== 503 && code !== 'idempotency_key_in_use') throw new Error(`${path}: ${status} ${code}`)
    } catch (error) {
      if (!(error instanceof Error) || !('code' in error)) throw error
    } finally {
      close()
    }
    await sleep(PAUSE_MS)
  }
}

interface Total {
  orders: number
  withoutPrice: number
  cents: bigint
}

/** The sales per day, from the orders. */
function totalsOf(orders: readonly Order[], timeZone: string): Record<string, Total> {
  const days = new Intl.DateTimeFormat('en-CA', { timeZone, dateStyle: 'short' })
  const totals: Record<string, Total> = {}
  for (const { closedAt = '', price } of orders) {
    const total = (totals[days.format(new Date(closedAt))] ??= { orders: 0, withoutPrice: 0, cents: 0n })
    total.orders += 1
    if (price === undefined) total.withoutPrice += 1
    else total.cents += BigInt(price.replace('.', ''))
  }
  return totals
}

interface Figures {
  days: { day: string; sales: { orders: number; withoutPrice: number; totals: { amount: string }[] } }[]
}

test('every sale of 16 sellers has its price, and every sum is exact, although processes are killed', async () => {
  const DATABASE_URL = await createTestDatabase()
  const db = openTestDatabase(DATABASE_URL)
  const { text: apiKey } = await issueApiKey(db, { name: 'seller', scopes: SCOPES })
  await sql(
    DATABASE_URL,
    `insert into pets (name, category_id) select 'Pet', 1 from generate_series(1, ${PETS})`,
  )
  await sql(
    DATABASE_URL,
    `insert into pet_profiles (pet_id, price, currency) select id, ${LISTED}, 'EUR' from pets where id % 2 = 0`,
  )
  const start = () => startService({ DATABASE_URL, LOG_LEVEL: 'fatal' })
  const services = [await start(), await start()]
  const ended: { sale: Sale; order: Order }[] = []
  let next = 1

  async function sell(): Promise<void> {
    while (next <= PETS) {
      const sale = saleOf(next++)
      const { petId, atPlacing, atCompleting, isCancelled } = sale
      const placed = { petId, ...(atPlacing !== undefined && { price: atPlacing }) }
      const { id } = await acknowledge(services, apiKey, '/v1/store/orders', placed, `sale ${petId}`)
      const path = `/v1/store/orders/${id}/${isCancelled ? 'cancel' : 'complete'}`
      const completed = isCancelled || atCompleting === undefined ? {} : { price: atCompleting }
      ended.push({ sale, order: await acknowledge(services, apiKey, path, completed, '-') })
    }
  }

  async function kill(): Promise<void> {
    for (let kills = 1; kills <= KILLS; kills += 1) {
      await expect.poll(() => ended.length).toBeGreaterThanOrEqual((kills * PETS) / (KILLS + 1))
      const killed = services[kills % 2] as Service
      killed.kill('SIGKILL')
      await killed.ended
      services[kills % 2] = await start()
    }
  }

  await Promise.all([kill(), ...Array.from({ length: SELLERS }, sell)])
  expect(ended).toHaveLength(PETS)
  for (const { sale, order } of ended) expect([sale.petId, order.price]).toEqual([sale.petId, priceOf(sale)])

  // Over several days, so that the days of the time zones differ.
  await sql(
    DATABASE_URL,
    `update orders set closed_at = closed_at - make_interval(mins => (id % 97 * 43)::int)`,
  )
  const api = apiFixtureAt({ origin: services[0]?.origin ?? '', apiKey }, DATABASE_URL, db)
  const sorted = '/store/orders?status=completed&sort=closedAt&limit=50'
  const orders = (await walkPages<Order>(api, sorted)).flat()
  const sold = ended.filter(({ sale }) => !sale.isCancelled)
  expect(orders.map(({ petId }) => petId).toSorted((a, b) => a - b)).toEqual(
    sold.map(({ sale }) => sale.petId).toSorted((a, b) => a - b),
  )
  for (const timeZone of ZONES) {
    const { body } = await api.get(`/store/figures?days=10&timeZone=${timeZone}`)
    const days = (body as Figures).days.filter(({ sales }) => sales.orders > 0)
    const counted = days.map(({ day, sales: { orders: count, withoutPrice, totals } }) => {
      const cents = totals.reduce((sum, { amount }) => sum + BigInt(amount.replace('.', '')), 0n)
      return [day, { orders: count, withoutPrice, cents }]
    })
    expect(Object.fromEntries(counted), timeZone).toEqual(totalsOf(orders, timeZone))
  }
  await Promise.all(services.map((service) => service.stop()))
  expect(await auditStore(DATABASE_URL)).toEqual([])
  expect(await auditFeed(DATABASE_URL)).toEqual([])
})
