// Many sellers sell, correct, refund and void at the same time, and a day is closed in the middle: the drawer has exactly the
// cash that they were told.
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, expect, test } from 'vitest'
import { SCOPES } from '../../src/contract/scopes.ts'
import { createTestDatabase, sql } from '../support/database.ts'
import { openConnection, retryWhileBusy } from '../support/load.ts'
import { amountOf, centsOf, openSellers } from '../support/sellers.ts'
import { petstore, startService } from '../support/service.ts'
import { auditStore } from '../support/store-audit.ts'
import { volume } from '../support/volume.ts'

const SELLERS = volume(12, 100)
const SECONDS = volume(4, 60)
/** Each seller changes its mind in every way, however slow the host is. */
const TURNS_MIN = 5
const DAY_MS = 86_400_000

const environment = { DATABASE_URL: await createTestDatabase(), LOG_LEVEL: 'error' }
const { stdout } = await petstore(
  ['api-keys', 'create', '--name', 'till', '--scopes', SCOPES.join(',')],
  environment,
)
const apiKey = stdout.trim()
const services = [await startService(environment), await startService(environment)] as const
afterAll(() => Promise.all(services.map((service) => service.stop())))

interface Drawer {
  today: string
  totals: { pets: number; sales: string; paid: string }[]
  drawer: { expected: string }
}

test(`the drawer has the cash that ${SELLERS} sellers were told, with a closing in the middle`, async () => {
  const sellers = openSellers((seller) => services[seller % 2]?.origin ?? '', apiKey)
  const { told, counts } = sellers
  const connection = openConnection({ origin: services[0].origin, apiKey })
  const read = async (query: string) =>
    (await retryWhileBusy(() => connection.send('GET', `/v1/store/totals?${query}`))).body as Drawer
  const { today } = await read('')
  const until = performance.now() + SECONDS * 1_000
  async function runSeller(seller: number): Promise<void> {
    for (let turn = seller; turn < seller + TURNS_MIN || performance.now() < until; turn += 1)
      await sellers.sellOne(seller, turn)
  }
  const selling = Array.from({ length: SELLERS }, (_, seller) => runSeller(seller))
  await sleep(SECONDS * 500)
  while (told.pets < SELLERS) await sleep(50)
  const closing = { day: today, counted: '100.00', kept: '100.00' }
  const closed = await sellers.post(SELLERS, 'store/day-closings', closing)
  expect(closed.status).toBe(201)
  await Promise.all(selling)
  const { expected } = closed.body as { expected: string }
  const later = new Date(Date.parse(today) + 2 * DAY_MS).toISOString().slice(0, 10)
  const { drawer, totals } = await read(`from=${today}&to=${later}`)
  console.log({ ...told, ...counts, closing: expected })
  // What was kept is counted by the closing, and again after it.
  expect(centsOf(expected) + centsOf(drawer.expected) - 10_000).toBe(told.paid)
  expect(totals).toEqual([
    { currency: 'EUR', pets: told.pets, sales: amountOf(told.sales), paid: amountOf(told.paid) },
  ])
  expect(centsOf(expected)).toBeGreaterThan(0)
  expect(told.pets).toBeGreaterThan(2 * SELLERS)
  const [row] = await sql<{ count: string }>(
    environment.DATABASE_URL,
    `select count(*) from orders where status = 'completed' and not exists (
      select from entries where order_id = orders.id and kind = 'sale')`,
  )
  expect(row?.count).toBe('0')
  expect(await auditStore(environment.DATABASE_URL)).toEqual([])
  connection.close()
  sellers.close()
})
