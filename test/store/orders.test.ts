// /v1/store/orders: placing, completing and cancelling orders.
import { describe, expect, test } from 'vitest'
import { lockPet } from '../../src/store/holds/queries.ts'
import { NOT_IDS, type Order, openApiFixture, openApiFixtureOn, UNKNOWN_ID } from '../support/api-fixture.ts'
import { untilBlocked } from '../support/database.ts'
import { faultyFields } from '../support/pets.ts'

const api = await openApiFixture()
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const minutesOf = ({ createdAt, expiresAt }: Order) =>
  (Date.parse(expiresAt) - Date.parse(createdAt)) / 60_000

describe('placing an order', () => {
  test('sets createdAt to the time when it gets the lock of the pet, not when it starts to wait', async () => {
    const { id } = await api.addPet()
    let waited: Promise<Order> | undefined
    const [clock] = await api.db.transaction(async (tx) => {
      await lockPet(tx, BigInt(id))
      waited = api.hold({ petId: id })
      await untilBlocked(api.databaseUrl)
      return tx.read<{ at: Date }>({ name: 'clock', text: 'select clock_timestamp() as at', values: [] })
    })
    expect(Date.parse((await waited)?.createdAt ?? '')).toBeGreaterThanOrEqual(clock?.at.getTime() ?? 0)
  })

  test('holds the pet and returns 201 with the order and its Location', async () => {
    const pet = await api.addPet()
    const before = Date.now()
    const response = await api.post('/store/orders', { petId: pet.id, holdMinutes: 30, note: 'Ms Okafor 🐕' })
    const after = Date.now()
    expect(response.status).toBe(201)
    const order = response.body as Order
    expect(order).toEqual({
      id: expect.any(Number),
      petId: pet.id,
      status: 'open',
      note: 'Ms Okafor 🐕',
      placedBy: 'staff',
      createdAt: expect.stringMatching(TIME),
      expiresAt: expect.stringMatching(TIME),
    })
    expect(minutesOf(order)).toBe(30)
    expect(Date.parse(order.createdAt)).toBeGreaterThanOrEqual(before)
    expect(Date.parse(order.createdAt)).toBeLessThanOrEqual(after)
    expect(response.headers.get('location')).toBe(`/v1/store/orders/${order.id}`)
    expect((await api.get(`/store/orders/${order.id}`)).body).toEqual(order)
    expect(await api.findPet(pet.id)).toEqual({ ...pet, status: 'pending' })
  })

  test('uses the configured hold time if holdMinutes is missing, and returns no note if none was sent', async () => {
    expect(minutesOf(await api.hold())).toBe(60)
    const other = await openApiFixtureOn(api.databaseUrl, api.db, { holdMinutes: 7 })
    const order = await other.hold()
    expect(minutesOf(order)).toBe(7)
    expect(order).not.toHaveProperty('note')
    expect(minutesOf(await other.hold({ holdMinutes: 8 }))).toBe(8)
  })

  test.each([1, 2, 10_079, 10_080])('holds the pet for holdMinutes: %i', async (holdMinutes) => {
    expect(minutesOf(await api.hold({ holdMinutes }))).toBe(holdMinutes)
  })

  test.each([
    { sent: {}, fields: ['petId'] },
    { sent: { petId: 0 }, fields: ['petId'] },
    { sent: { petId: '1' }, fields: ['petId'] },
    { sent: { petId: 1.5 }, fields: ['petId'] },
    { sent: { petId: null }, fields: ['petId'] },
    ...[0, -1, 10_081, 1.5, '5', null, true, 1e300].map((holdMinutes) => ({
      sent: { petId: 1, holdMinutes },
      fields: ['holdMinutes'],
    })),
    ...['', 'n'.repeat(501), 'a\0b', '\ud800', 7, null].map((note) => ({
      sent: { petId: 1, note },
      fields: ['note'],
    })),
    { sent: { petId: 'x', holdMinutes: 0, note: '' }, fields: ['holdMinutes', 'note', 'petId'] },
  ])('rejects $sent (400) and names the fields $fields', async ({ sent, fields }) => {
    const response = await api.post('/store/orders', sent)
    expect(response).toMatchObject({ status: 400, body: { code: 'invalid_body' } })
    expect(faultyFields(response)).toEqual(fields)
  })

  test('returns the maximum in the message if holdMinutes is out of range', async () => {
    const { body } = await api.post('/store/orders', { petId: 1, holdMinutes: 10_081 })
    expect((body as { details: { message: string }[] }).details[0]?.message).toMatch(/10.?080/)
  })

  test.each([
    { length: '1 letter', note: 'x' },
    { length: '500 letters', note: 'n'.repeat(500) },
    { length: '500 emoji', note: '🐕'.repeat(500) },
  ])('stores a note of $length', async ({ note }) => {
    expect((await api.hold({ note })).note).toBe(note)
  })

  test.each([
    { body: undefined, code: 'missing_body' },
    { body: '{', code: 'invalid_json' },
    { body: '[]', code: 'invalid_body' },
  ])('rejects the body $body (400 $code)', async ({ body, code }) => {
    const response = await api.call('POST', '/v1/store/orders', { body })
    expect(response).toMatchObject({ status: 400, body: { code } })
  })

  test('returns 404 for an unknown pet', async () => {
    const response = await api.post('/store/orders', `{"petId": ${UNKNOWN_ID}}`)
    expect(response).toMatchObject({ status: 404, body: { code: 'pet_not_found' } })
  })

  test.each(['pending', 'sold'])('rejects a pet that is %s (409) and does not change it', async (status) => {
    const pet = await api.addPet({ status })
    const response = await api.post('/store/orders', { petId: pet.id })
    const message = `The pet is not available: it is ${status}.`
    expect(response).toMatchObject({ status: 409, body: { code: 'pet_not_available', message } })
    expect(await api.findPet(pet.id)).toEqual(pet)
    expect((await api.get(`/store/orders?petId=${pet.id}`)).body).toEqual([])
  })

  test('rejects a held pet (409) until its order is cancelled', async () => {
    const { id, petId } = await api.hold()
    const rejected = await api.post('/store/orders', { petId })
    expect(rejected).toMatchObject({ status: 409, body: { code: 'pet_not_available' } })
    await api.end('cancel', id)
    expect((await api.hold({ petId })).id).toBeGreaterThan(id)
  })

  test.each(['pending', 'sold'])(
    'rejects a pet that a concurrent transaction makes %s (409)',
    async (status) => {
      const { id: petId } = await api.addPet()
      const placing = await api.db.transaction(async (tx) => {
        // Lock the pet first, as the service does.
        await lockPet(tx, BigInt(petId))
        const text = `update pets set status = '${status}', version = version + 1 where id = $1`
        await tx.write({ name: `make_${status}`, text, values: [petId] })
        const response = api.post('/store/orders', { petId })
        await untilBlocked(api.databaseUrl)
        return { response }
      })
      expect(await placing.response).toMatchObject({ status: 409, body: { code: 'pet_not_available' } })
      expect((await api.get(`/store/orders?petId=${petId}`)).body).toEqual([])
    },
  )

  test('returns 404 if it waits while the pet is deleted', async () => {
    const { id: petId } = await api.addPet()
    const placing = await api.db.transaction(async (tx) => {
      await lockPet(tx, BigInt(petId))
      const response = api.post('/store/orders', { petId })
      await untilBlocked(api.databaseUrl)
      await tx.write({ name: 'delete', text: 'delete from pets where id = $1', values: [petId] })
      return { response }
    })
    expect(await placing.response).toMatchObject({ status: 404, body: { code: 'pet_not_found' } })
  })

  test('succeeds for exactly one of 32 concurrent buyers; the others get 409', async () => {
    const { id } = await api.addPet()
    // Both requests wait for the lock of the pet at the same time, so that they race even on a busy host.
    const placing = await api.db.transaction(async (tx) => {
      await lockPet(tx, BigInt(id))
      const all = Array.from({ length: 32 }, () => api.post('/store/orders', { petId: id }))
      await untilBlocked(api.databaseUrl, 2)
      return { all }
    })
    const responses = await Promise.all(placing.all)
    expect(responses.filter(({ status }) => status === 201)).toHaveLength(1)
    const others = responses.filter(({ status }) => status !== 201).map(({ body }) => body)
    expect(others.every((body) => (body as { code: string }).code === 'pet_not_available')).toBe(true)
    expect((await api.get(`/store/orders?petId=${id}`)).body).toHaveLength(1)
    expect((await api.history(id)).map(({ event }) => event)).toEqual(['order_placed', 'created'])
  })
})

describe.each([
  { verb: 'complete', status: 'completed', other: 'cancel', petStatus: 'sold' },
  { verb: 'cancel', status: 'cancelled', other: 'complete', petStatus: 'available' },
] as const)('POST /v1/store/orders/{orderId}/$verb', ({ verb, status, other, petStatus }) => {
  test(`closes the order and makes the pet ${petStatus}`, async () => {
    const order = await api.hold({ note: 'x' })
    const response = await api.end(verb, order.id)
    expect(response.status).toBe(200)
    const sale = verb === 'complete' ? { netPrice: '0.00', currency: 'EUR' } : {}
    expect(response.body).toEqual({ ...order, ...sale, status, closedAt: expect.stringMatching(TIME) })
    const { closedAt = '' } = response.body as Order
    expect(Date.parse(closedAt)).toBeGreaterThanOrEqual(Date.parse(order.createdAt))
    expect((await api.get(`/store/orders/${order.id}`)).body).toEqual(response.body)
    expect(await api.findPet(order.petId)).toMatchObject({ status: petStatus })
  })

  test('needs no body, and rejects a wrong one before it changes anything (400)', async () => {
    const { id } = await api.hold()
    const end = (body: string) => api.call('POST', `/v1/store/orders/${id}/${verb}`, { body })
    expect(await end('{')).toMatchObject({ status: 400, body: { code: 'invalid_json' } })
    for (const body of ['5', '[]', '{"status": "open"}'])
      expect(await end(body), body).toMatchObject({ status: 400, body: { code: 'invalid_body' } })
    expect((await api.get(`/store/orders/${id}`)).body).toMatchObject({ status: 'open' })
    for (const body of ['null', '{}'])
      expect(await end(body), body).toMatchObject({ status: 200, body: { status } })
  })

  test('is idempotent: 9 requests, 8 of them concurrent, return the same 200 and change the pet once', async () => {
    const { id, petId } = await api.hold()
    const responses = await Promise.all(Array.from({ length: 8 }, () => api.end(verb, id)))
    responses.push(await api.end(verb, id))
    expect(responses.map((response) => response.status)).toEqual(Array.from({ length: 9 }, () => 200))
    expect(new Set(responses.map(({ text }) => text)).size).toBe(1)
    expect(await api.history(petId)).toHaveLength(3)
  })

  test('returns the closed order even after the next order for its pet', async () => {
    const { id, petId } = await api.hold()
    const first = await api.end(verb, id)
    await api.patch(petId, { status: 'available' })
    await api.hold({ petId })
    const broughtBack = verb === 'complete' ? { broughtBackAt: expect.stringMatching(TIME) } : {}
    expect((await api.end(verb, id)).body).toEqual({ ...(first.body as Order), ...broughtBack })
    expect(await api.findPet(petId)).toMatchObject({ status: 'pending' })
  })

  test(`is rejected after a ${other} request (409), and changes nothing`, async () => {
    const { id, petId } = await api.hold()
    const ended = await api.end(other, id)
    const pet = await api.findPet(petId)
    expect(await api.end(verb, id)).toMatchObject({ status: 409, body: { code: 'order_closed' } })
    expect((await api.get(`/store/orders/${id}`)).body).toEqual(ended.body)
    expect(await api.findPet(petId)).toEqual(pet)
  })

  test(`excludes a concurrent ${other} request: exactly one of them succeeds`, async () => {
    for (let round = 0; round < 5; round += 1) {
      const { id, petId } = await api.hold()
      const [one, two] = await Promise.all([api.end(verb, id), api.end(other, id)])
      expect(['200 409', '409 200']).toContain(`${one.status} ${two.status}`)
      const sold = (verb === 'complete') === (one.status === 200)
      expect(await api.findPet(petId)).toMatchObject({ status: sold ? 'sold' : 'available' })
    }
  })

  test.each([
    { what: 'an empty body with a JSON content type', body: '' },
    { what: 'an empty object', body: '{}' },
  ])('accepts $what', async ({ body }) => {
    const { id } = await api.hold()
    const response = await api.call('POST', `/v1/store/orders/${id}/${verb}`, {
      body,
      headers: { 'content-type': 'application/json' },
    })
    expect(response).toMatchObject({ status: 200, body: { status } })
  })

  test.each([UNKNOWN_ID, ...NOT_IDS])('returns 404 for the order id %s', async (orderId) => {
    expect(await api.end(verb, orderId)).toMatchObject({ status: 404, body: { code: 'order_not_found' } })
  })
})

describe('the note of a sale', () => {
  const complete = (id: number, body?: object) => api.post(`/store/orders/${id}/complete`, body ?? {})

  test.each([
    { before: 'Ms Okafor', sent: undefined, after: 'Ms Okafor' },
    { before: 'Ms Okafor', sent: 'Mr Lind', after: 'Mr Lind' },
    { before: undefined, sent: 'Mr Lind', after: 'Mr Lind' },
    { before: 'Ms Okafor', sent: null, after: undefined },
    { before: undefined, sent: undefined, after: undefined },
  ])('is $after if the order had $before and the request $sent', async ({ before, sent, after }) => {
    const { id } = await api.hold(before === undefined ? {} : { note: before })
    const { body } = await complete(id, { note: sent })
    expect((body as Order).note).toBe(after)
    expect((await api.get(`/store/orders/${id}`)).body).toEqual(body)
    expect((await complete(id, { note: 'too late' })).body).toEqual(body)
  })

  test('must be storable text (400)', async () => {
    const { id } = await api.hold()
    for (const note of ['', 'n'.repeat(501), 'a\0b', 7])
      expect(await complete(id, { note })).toMatchObject({ status: 400, body: { code: 'invalid_body' } })
    expect((await api.get(`/store/orders/${id}`)).body).toMatchObject({ status: 'open' })
  })
})

test.each([UNKNOWN_ID, ...NOT_IDS])('getOrder returns 404 for the order id %s', async (orderId) => {
  const response = await api.get(`/store/orders/${orderId}`)
  expect(response).toMatchObject({ status: 404, body: { code: 'order_not_found' } })
})
