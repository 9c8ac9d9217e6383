// Orders for a pet that another transaction is about to free: they wait for the lock of the pet, and one order succeeds.
import { Client } from 'pg'
import { afterAll, expect, test } from 'vitest'
import { untilBlocked } from '../support/database.ts'
import { asSuperuser } from '../support/roles.ts'
import { openApiFixture } from '../support/api-fixture.ts'

const BUYERS = 3
const api = await openApiFixture()
const other = new Client(asSuperuser(api.databaseUrl))
await other.connect()
afterAll(() => other.end())

/** Closes a new order and frees its pet in a transaction that commits once all buyers wait for the lock of the pet. */
async function raceForFreedPet(orderStatus: string, buyers: number, headers: Record<string, string> = {}) {
  const { id, petId } = await api.hold()
  await other.query('begin')
  await other.query(`update pets set status = 'available', version = version + 1 where id = $1`, [petId])
  await other.query(`update orders set status = $2::order_status, closed_at = now() where id = $1`, [
    id,
    orderStatus,
  ])
  const placing = Array.from({ length: buyers }, () => api.post('/store/orders', { petId }, headers))
  await untilBlocked(api.databaseUrl, buyers)
  await other.query('commit')
  return Promise.all(placing)
}

test.each([
  { status: 'expired', how: 'without an Idempotency-Key', headers: {} },
  { status: 'cancelled', how: 'without an Idempotency-Key', headers: {} },
  { status: 'expired', how: 'with an Idempotency-Key', headers: { 'idempotency-key': 'only-buyer' } },
])('a waiting buyer gets the pet after its order is $status, $how', async ({ status, headers }) => {
  const [response] = await raceForFreedPet(status, 1, headers)
  expect(response).toMatchObject({ status: 201, body: { status: 'open' } })
})

test('one of several waiting buyers gets the pet after its order is expired; the others get 409', async () => {
  const statuses = (await raceForFreedPet('expired', BUYERS)).map(({ status }) => status)
  expect(statuses.toSorted((a, b) => a - b)).toEqual([201, ...Array.from({ length: BUYERS - 1 }, () => 409)])
})
