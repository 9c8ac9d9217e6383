// Many sellers sell, correct, refund and void at the same time, and a day is closed in the middle: the drawer has exactly the
// cash that they were told.
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, expect, test } from 'vitest'
import { SCOPES } from '../../src/contract/scopes.ts'
import { createTestDatabase, sql } from '../support/database.ts'
import { type Connection, type Exchange, openConnection, retryWhileBusy } from '../support/load.ts'
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

/** What the sellers were told, in cents. */
const told = { paid: 0, sales: 0, pets: 0, refused: 0 }
const centsOf = (amount: string) => Number(amount.replace('.', ''))
const amountOf = (cents: number) => (cents / 100).toFixed(2)

let requests = 0
async function post(connection: Connection, path: string, body?: object): Promise<Exchange> {
  requests += 1
  const headers = { 'idempotency-key': `till-${requests}` }
  return retryWhileBusy(() => connection.send('POST', `/v1/${path}`, body, headers))
}

interface Told {
  id: number
  paid: string
  sales: string
  pets: number
}

function add({ paid, sales, pets }: Told): void {
  told.paid += centsOf(paid)
  told.sales += centsOf(sales)
  told.pets += pets
}

/** Sells a pet, and then changes its mind in one of several ways. */
async function sellOne(connection: Connection, turn: number): Promise<void> {
  const pet = await post(connection, 'pets', { name: 'Rex', categoryId: 1 + (turn % 3) })
  const { id: petId } = pet.body as { id: number }
  const deposit = turn % 4 === 0 ? { deposit: '20.00', method: 'cash' } : {}
  const held = await post(connection, 'store/orders', { petId, ...deposit })
  const { id } = held.body as { id: number }
  const price = amountOf(10_000 + turn * 7)
  const sold = await post(connection, `store/orders/${id}/complete`, { price, method: 'cash' })
  expect([pet.status, held.status, sold.status]).toEqual([201, 201, 200])
  add({ id, paid: price, sales: price, pets: 1 })
  const right = amountOf(centsOf(price) - 1_000)
  if (turn % 5 === 1) {
    const { status, body } = await post(connection, `store/orders/${id}/correct`, { price: right })
    expect([status, (body as { netPrice: string }).netPrice]).toEqual([200, right])
    add({ id, paid: '-10.00', sales: '-10.00', pets: 0 })
  }
  if (turn % 5 === 2)
    await changeMind(connection, `store/orders/${id}/refund`, { amount: '29.50', takeBack: false })
  if (turn % 5 === 3)
    await changeMind(connection, `store/orders/${id}/refund`, { amount: price, takeBack: true })
  if (turn % 5 === 4) {
    const { body } = await connection.send('GET', `/v1/store/entries?orderId=${id}`)
    await changeMind(connection, `store/entries/${(body as Told[])[0]?.id}/void`)
  }
}

/** A closing may have made the entry final. */
async function changeMind(connection: Connection, path: string, body?: object): Promise<void> {
  const response = await post(connection, path, body)
  if (response.status === 409) told.refused += 1
  else {
    expect(response.status, JSON.stringify(response.body)).toBeLessThan(300)
    add(response.body as Told)
  }
}

async function runSeller(index: number, until: number): Promise<void> {
  const connection = openConnection({ origin: services[index % 2]?.origin ?? '', apiKey })
  for (let turn = index; turn < index + TURNS_MIN || performance.now() < until; turn += 1) {
    await sellOne(connection, turn)
  }
  connection.close()
}

interface Drawer {
  today: string
  totals: { pets: number; sales: string; paid: string }[]
  drawer: { expected: string }
}

test(`the drawer has the cash that ${SELLERS} sellers were told, with a closing in the middle`, async () => {
  const connection = openConnection({ origin: services[0].origin, apiKey })
  const read = async (query: string) =>
    (await connection.send('GET', `/v1/store/totals?${query}`)).body as Drawer
  const { today } = await read('')
  const until = performance.now() + SECONDS * 1_000
  const selling = Array.from({ length: SELLERS }, (_, index) => runSeller(index, until))
  await sleep(SECONDS * 500)
  while (told.pets < SELLERS) await sleep(50)
  const closed = await post(connection, 'store/day-closings', {
    day: today,
    counted: '100.00',
    kept: '100.00',
  })
  expect(closed.status).toBe(201)
  await Promise.all(selling)
  const { expected } = closed.body as { expected: string }
  const later = new Date(Date.parse(today) + 2 * DAY_MS).toISOString().slice(0, 10)
  const { drawer, totals } = await read(`from=${today}&to=${later}`)
  console.log({ ...told, closing: expected, requests })
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
})
