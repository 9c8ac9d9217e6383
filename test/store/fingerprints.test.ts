// The fingerprints of requests with an Idempotency-Key, to the byte: a retry after an upgrade must find the stored response.
// test/store/orders-prices.test.ts has those of placeOrder.
import { expect, test } from 'vitest'
import { openApiFixture } from '../support/api-fixture.ts'

const api = await openApiFixture()

async function fingerprintOf(path: string, body: object): Promise<string | undefined> {
  const key = crypto.randomUUID()
  const response = await api.post(path, body, { 'idempotency-key': key })
  expect(response.status, response.text).toBeLessThan(300)
  const [row] = await api.sql(
    `select encode(fingerprint, 'hex') as hex from idempotency_keys where key = $1`,
    [key],
  )
  return row?.['hex'] as string | undefined
}

const PET = { name: 'Biscuit', categoryId: 1 }
/** Facts that are added later do not belong here: without them, a request keeps its fingerprint. */
const PROFILE = {
  price: '129.00',
  breed: 'Beagle',
  sex: 'female',
  bornOn: '2025-05-31',
  chipNumber: '276098106123456',
  description: 'Calm with children.',
}

test('createPet', async () => {
  expect(await fingerprintOf('/pets', PET)).toBe(
    '4e9df14db43f027ccb6cee11ba5f740432cc3cc988efbcf9dde08ed7f33c9638',
  )
})

test.each([
  ['no facts', { create: PET }, '40794b8a4d59c7f0ccae2e6881b39e5562bbb2164266ee9df0be4bdf24b282d2'],
  [
    'all facts',
    { create: { ...PET, status: 'sold', profile: PROFILE } },
    '082f96c0cc0e857e7afcd4076492973eb8faa4783a447bd78533f1692383bf80',
  ],
  [
    'all facts in another order',
    { create: { ...PET, status: 'sold', profile: reversed(PROFILE) } },
    '082f96c0cc0e857e7afcd4076492973eb8faa4783a447bd78533f1692383bf80',
  ],
  [
    'some facts',
    { create: { ...PET, profile: { sex: 'male', breed: 'Pug' } } },
    'cfff8d6ce63d3d526f23ad1cf40ef2bf5a871c0aadd2a593a9cf5dfcce06656c',
  ],
  [
    'an update',
    { update: { petId: 1, version: 3, name: 'Rex' } },
    'cc6eb1d64d8d4669c58e463c9030c3bfb9f7cd5b0e8dd9e1e25df1753fbce6ef',
  ],
  [
    'a deletion',
    { delete: { petId: 1, version: 3 } },
    'db664395589eb47dcf19fed51168823acec35fbec3fab5def315282f6b9c8f2e',
  ],
  [
    'a fault',
    { create: { ...PET, profile: { breed: '' } } },
    '8db8a1a659892433686e5237e77054095001286ca01cfddb6cc83eec885907c3',
  ],
])('changePets with %s', async (_, change, fingerprint) => {
  expect(await fingerprintOf('/pet-changes', { changes: [change, { delete: { petId: 9_999 } }] })).toBe(
    fingerprint,
  )
})

function reversed(fields: object): object {
  return Object.fromEntries(Object.entries(fields).toReversed())
}
