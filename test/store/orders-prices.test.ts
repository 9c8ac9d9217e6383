// The price of an order: given by the caller, or taken from the profile of the pet, at placing and at completing.
import { describe, expect, test } from 'vitest'
import { sequenceEvents } from '../../src/events/feed/sequencer.ts'
import { lockPet } from '../../src/store/holds/queries.ts'
import { type Order, openApiFixture, openApiFixtureOn } from '../support/api-fixture.ts'
import { issueApiKey } from '../support/app.ts'
import { untilBlocked } from '../support/database.ts'
import { faultyFields } from '../support/pets.ts'
import { shopIn } from '../support/settings.ts'

const api = await openApiFixture()

/** Sets the price in the profile of a pet. */
const setPrice = (petId: number, price: string | null, currency = 'EUR') =>
  api.sql(
    `insert into pet_profiles (pet_id, price, currency) values ($1, $2, $3)
      on conflict (pet_id) do update set price = excluded.price, currency = excluded.currency`,
    [petId, price, price === null ? null : currency],
  )

async function addPetFor(price: string, currency?: string): Promise<number> {
  const { id } = await api.addPet()
  await setPrice(id, price, currency)
  return id
}

const complete = async (orderId: number, body?: unknown, at = api) => {
  const response = await at.call('POST', `/v1/store/orders/${orderId}/complete`, { body })
  expect(response.status, response.text).toBe(200)
  return response.body as Order
}

describe('placing an order', () => {
  test('stores the given price with the currency of the store', async () => {
    const petId = await addPetFor('129.00')
    const order = await api.hold({ petId, price: '99.50' })
    expect(order).toMatchObject({ price: '99.50', currency: 'EUR' })
    expect((await api.get(`/store/orders/${order.id}`)).body).toEqual(order)
    expect((await api.get(`/store/orders?petId=${petId}`)).body).toEqual([order])
    const inYen = await openApiFixtureOn(api.databaseUrl, api.db, { settings: shopIn('JPY') })
    expect(await inYen.hold({ price: '12900' })).toMatchObject({ price: '12900', currency: 'JPY' })
  })

  test('takes the price and the currency of the profile if none is given', async () => {
    const petId = await addPetFor('1.250', 'KWD')
    const order = await api.hold({ petId })
    expect(order).toMatchObject({ price: '1.250', currency: 'KWD' })
    await setPrice(petId, '2.000', 'KWD')
    expect((await api.get(`/store/orders/${order.id}`)).body).toEqual(order)
  })

  test('stores no price if none is given and the pet has none', async () => {
    const { id: petId } = await api.addPet()
    await setPrice(petId, null)
    for (const order of [await api.hold(), await api.hold({ petId })]) {
      expect(order).not.toHaveProperty('price')
      expect(order).not.toHaveProperty('currency')
    }
  })

  test.each([null, '129.00'])(
    'takes the price of the moment, not %s of when it began to wait',
    async (before) => {
      const { id: petId } = await api.addPet()
      if (before !== null) await setPrice(petId, before)
      // A change of a profile holds the lock of the pet.
      const { placing } = await api.db.transaction(async (tx) => {
        await lockPet(tx, BigInt(petId))
        const waiting = api.hold({ petId })
        await untilBlocked(api.databaseUrl)
        const text = `insert into pet_profiles (pet_id, price, currency) values ($1, 99.00, 'EUR')
        on conflict (pet_id) do update set price = 99.00`
        await tx.write({ name: 'set_price', text, values: [petId] })
        return { placing: waiting }
      })
      expect(await placing).toMatchObject({ price: '99.00', currency: 'EUR' })
    },
  )

  test('replays the price with its Idempotency-Key, also in another currency, and rejects the key with another one (422)', async () => {
    const { id: petId } = await api.addPet()
    const headers = { 'idempotency-key': 'with a price' }
    const { text: apiKey } = await issueApiKey(api.db, { scopes: ['orders:write'] })
    const place = (body: object) =>
      api.call('POST', '/v1/store/orders', { apiKey, body: { petId, ...body }, headers })
    const first = await place({ price: '99.50' })
    expect(first).toMatchObject({ status: 201, body: { price: '99.50', currency: 'EUR' } })
    expect((await place({ price: '99.50' })).text).toBe(first.text)
    const inYen = await openApiFixtureOn(api.databaseUrl, api.db, { settings: shopIn('JPY') })
    const retry = { apiKey, body: { petId, price: '99.50' }, headers }
    expect((await inYen.call('POST', '/v1/store/orders', retry)).text).toBe(first.text)
    for (const body of [{}, { price: '99.51' }, { note: '99.50' }]) {
      expect(await place(body)).toMatchObject({ status: 422, body: { code: 'idempotency_key_reused' } })
    }
  })
})

describe('a price in another currency', () => {
  const placing = (petId: number, body: object) => api.post('/store/orders', { petId, ...body })

  test('is accepted if it is the price of the pet, or of the order', async () => {
    const stored = { price: '129', currency: 'JPY' }
    const placed = await placing(await addPetFor('129', 'JPY'), stored)
    expect(placed).toMatchObject({ status: 201, body: stored })
    const { id, petId } = placed.body as Order
    await setPrice(petId, '5.00', 'USD')
    expect(await complete(id, stored)).toMatchObject(stored)
  })

  test.each([
    { stored: undefined, body: { price: '129', currency: 'JPY' } },
    { stored: '129', body: { price: '130', currency: 'JPY' } },
    { stored: '129', body: { price: '129.00' } },
    { stored: '129', body: { currency: 'USD' } },
  ])('is rejected with %j (400), and nothing changes', async ({ stored, body }) => {
    const petId = stored === undefined ? (await api.addPet()).id : await addPetFor(stored, 'JPY')
    expect(await placing(petId, body)).toMatchObject({ status: 400, body: { code: 'currency_mismatch' } })
    const { id } = await api.hold({ petId })
    const completed = await api.post(`/store/orders/${id}/complete`, body)
    expect(completed).toMatchObject({ status: 400, body: { code: 'currency_mismatch' } })
    expect((await api.get(`/store/orders/${id}`)).body).toMatchObject({ status: 'open' })
  })
})

describe('completing an order', () => {
  test('replaces the price by the given one', async () => {
    const { id } = await api.hold({ petId: await addPetFor('129.00') })
    expect(await complete(id, { price: '119.00' })).toMatchObject({ price: '119.00', currency: 'EUR' })
    const inYen = await openApiFixtureOn(api.databaseUrl, api.db, { settings: shopIn('JPY') })
    const other = await api.hold({ price: '129.00' })
    const inNewCurrency = { price: '0', currency: 'JPY' }
    expect(await complete(other.id, inNewCurrency, inYen)).toMatchObject(inNewCurrency)
  })

  test('keeps the price of the order if none is given, also if that of the profile has changed', async () => {
    const petId = await addPetFor('129.00')
    const { id } = await api.hold({ petId })
    await setPrice(petId, '139.00', 'USD')
    expect(await complete(id)).toMatchObject({ status: 'completed', price: '129.00', currency: 'EUR' })
  })

  test('takes the price of the profile if neither the request nor the order has one', async () => {
    const order = await api.hold()
    await setPrice(order.petId, '139.00', 'USD')
    expect(await complete(order.id, {})).toMatchObject({ price: '139.00', currency: 'USD' })
    expect(await complete((await api.hold()).id)).not.toHaveProperty('price')
  })

  test('again returns the order unchanged, whatever price it sends', async () => {
    const { id } = await api.hold({ price: '129.00' })
    const first = await complete(id, { price: '119.00' })
    for (const body of [undefined, {}, { price: '1.00' }, { price: '1' }, { price: '119.00' }]) {
      expect(await complete(id, body)).toEqual(first)
    }
    const other = await api.hold()
    const second = await complete(other.id)
    await setPrice(other.petId, '139.00')
    expect(await complete(other.id, { price: '1.00' })).toEqual(second)
  })

  test('by 8 concurrent requests with different prices stores one of them, which all requests return', async () => {
    const { id, petId } = await api.hold()
    const prices = Array.from({ length: 8 }, (_, index) => `10${index}.00`)
    // Several requests find the order open before one of them completes it.
    const { completing } = await api.db.transaction(async (tx) => {
      await lockPet(tx, BigInt(petId))
      const waiting = Promise.all(prices.map((price) => complete(id, { price })))
      await untilBlocked(api.databaseUrl, 2)
      return { completing: waiting }
    })
    const returned = await completing
    expect(new Set(returned.map((order) => JSON.stringify(order))).size).toBe(1)
    expect(prices).toContain(returned[0]?.price)
  })
})

test('cancelling an order keeps its price', async () => {
  const { id } = await api.hold({ price: '129.00' })
  const response = await api.call('POST', `/v1/store/orders/${id}/cancel`)
  expect(response).toMatchObject({ status: 200, body: { price: '129.00', currency: 'EUR' } })
})

test('events contain the price with its decimal places', async () => {
  await sequenceEvents(api.db)
  const after = linkOf((await api.get('/events?after=latest')).headers)
  const { id } = await api.hold({ price: '129.00' })
  await complete(id, { price: '119.50' })
  await complete((await api.hold()).id)
  await sequenceEvents(api.db)
  const { body: events } = await api.get(`/events?after=${after}&type=order.placed&type=order.completed`)
  expect((events as { order: Order }[]).map(({ order: { price, currency } }) => [price, currency])).toEqual([
    ['129.00', 'EUR'],
    ['119.50', 'EUR'],
    [undefined, undefined],
    [undefined, undefined],
  ])
})

const linkOf = (headers: Headers) => /[?&]after=([^&>]+)/.exec(headers.get('link') ?? '')?.[1] ?? ''

const WRONG = [
  '129',
  '129.0',
  '129.000',
  '129,00',
  '-1.00',
  '01.00',
  '1e3',
  ' 1.00',
  '',
  '10000000000.00',
  129,
  null,
]

test.each(WRONG)('rejects the price %j (400), and changes nothing', async (price) => {
  const pet = await api.addPet()
  const placed = await api.post('/store/orders', { petId: pet.id, price })
  expect(placed).toMatchObject({ status: 400, body: { code: 'invalid_body' } })
  expect(faultyFields(placed)).toEqual(['price'])
  expect(await api.findPet(pet.id)).toEqual(pet)
  const order = await api.hold({ petId: pet.id })
  const completed = await api.call('POST', `/v1/store/orders/${order.id}/complete`, { body: { price } })
  expect(completed).toMatchObject({ status: 400, body: { code: 'invalid_body' } })
  expect(faultyFields(completed)).toEqual(['price'])
  expect((await api.get(`/store/orders/${order.id}`)).body).toEqual(order)
})

test('says how many decimal places a price needs', async () => {
  const { body } = await api.post('/store/orders', { petId: 1, price: '129' })
  const [{ message } = { message: '' }] = (body as { details: { message: string }[] }).details
  expect(message).toContain('2 decimal places, such as 129.00')
})

test.each([`price = 5`, `currency = 'EUR'`, `price = -1, currency = 'EUR'`, `price = 5, currency = 'Euro'`])(
  'the database rejects an order with %s',
  async (wrong) => {
    const { id } = await api.hold()
    await expect(api.sql(`update orders set ${wrong} where id = $1`, [id])).rejects.toThrow(
      'orders_price_check',
    )
  },
)
