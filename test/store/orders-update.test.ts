// PATCH /v1/store/orders/{orderId}: changing the note of an order, and when it expires.
import { describe, expect, test } from 'vitest'
import { lockPet } from '../../src/store/holds/queries.ts'
import { NOT_IDS, type Order, openApiFixture, UNKNOWN_ID } from '../support/api-fixture.ts'
import { untilBlocked } from '../support/database.ts'
import { faultyFields } from '../support/pets.ts'

// The app does not sweep, so that an overdue hold stays open until a request ends it.
const api = await openApiFixture({ holds: { waitUntilFresh: () => undefined } })
const MINUTE_MS = 60_000
const WEEK_MINUTES = 10_080

const update = (id: number | string, body: unknown) => api.call('PATCH', `/v1/store/orders/${id}`, { body })
const orderOf = async (id: number) => (await api.get(`/store/orders/${id}`)).body as Order
const inMinutes = (minutes: number) => new Date(Date.now() + minutes * MINUTE_MS).toISOString()

test('changes the given fields and returns the order; the pet and its history stay', async () => {
  const { note: _note, ...order } = await api.hold({ note: 'Ms Okafor' })
  const pet = await api.findPet(order.petId)
  const expiresAt = inMinutes(180)
  const noted = await update(order.id, { note: 'Mr Lind 🐕' })
  expect(noted).toMatchObject({ status: 200, body: { ...order, note: 'Mr Lind 🐕' } })
  expect((await update(order.id, { expiresAt })).body).toEqual({ ...order, note: 'Mr Lind 🐕', expiresAt })
  expect((await update(order.id, {})).body).toEqual({ ...order, note: 'Mr Lind 🐕', expiresAt })
  expect((await update(order.id, { note: null })).body).toEqual({ ...order, expiresAt })
  expect(await orderOf(order.id)).toEqual({ ...order, expiresAt })
  expect(await api.findPet(order.petId)).toEqual(pet)
  expect(await api.history(order.petId)).toHaveLength(2)
})

test.each(['complete', 'cancel'] as const)(
  'after %s, changes the note, and rejects another end of the hold (409)',
  async (verb) => {
    const { id, expiresAt } = await api.hold({ note: 'x' })
    const { body: ended } = await api.end(verb, id)
    const both = await update(id, { note: 'y', expiresAt: inMinutes(5) })
    expect(both).toMatchObject({ status: 409, body: { code: 'order_closed' } })
    expect(await update(id, { expiresAt })).toMatchObject({ status: 409 })
    expect(await orderOf(id)).toEqual(ended)
    expect((await update(id, { note: 'y' })).body).toEqual({ ...(ended as Order), note: 'y' })
  },
)

describe('a hold that has expired but is not swept yet', () => {
  test('is closed: another end is rejected (409), and does not hold the pet again', async () => {
    const { id, petId } = await api.hold()
    await api.makeOverdue(id)
    const response = await update(id, { expiresAt: inMinutes(60) })
    expect(response).toMatchObject({ status: 409, body: { code: 'order_closed' } })
    await api.hold({ petId })
  })

  test('expires when its note changes', async () => {
    const { id, petId } = await api.hold()
    await api.makeOverdue(id)
    const { body } = await update(id, { note: 'did not come' })
    expect(body).toMatchObject({ status: 'expired', note: 'did not come' })
    expect((body as Order).closedAt).toBe((body as Order).expiresAt)
    expect(await api.findPet(petId)).toMatchObject({ status: 'available' })
    const [last] = await api.history(petId)
    expect(last).toMatchObject({ event: 'order_expired', actor: 'petstore' })
  })
})

describe('expiresAt', () => {
  test.each([
    { minutes: 1, text: 'a minute' },
    { minutes: WEEK_MINUTES - 1, text: 'a minute less than a week' },
  ])('can be $text from now', async ({ minutes }) => {
    const { id } = await api.hold()
    const expiresAt = inMinutes(minutes)
    expect((await update(id, { expiresAt })).body).toMatchObject({ expiresAt })
  })

  test.each([
    { expiresAt: () => inMinutes(-1), text: 'a minute ago' },
    { expiresAt: () => inMinutes(WEEK_MINUTES + 1), text: 'a minute more than a week from now' },
    { expiresAt: () => '0000-01-01T00:00:00Z', text: 'in the year 0' },
    { expiresAt: () => '9999-12-31T23:59:59.999999-12:00', text: 'in the year 10000' },
  ])('cannot be $text (400), and nothing changes', async ({ expiresAt }) => {
    const order = await api.hold()
    const response = await update(order.id, { note: 'x', expiresAt: expiresAt() })
    expect(response).toMatchObject({ status: 400, body: { code: 'invalid_body' } })
    expect((response.body as { details: unknown[] }).details).toEqual([
      {
        field: 'expiresAt',
        code: 'out_of_range',
        message: 'expiresAt must be in the future, and at most 10080 minutes from now.',
      },
    ])
    expect(await orderOf(order.id)).toEqual(order)
  })
})

test('waits for a sale that is in progress, and then keeps its result', async () => {
  const { id, petId } = await api.hold()
  const { selling, updating } = await api.db.transaction(async (tx) => {
    await lockPet(tx, BigInt(petId))
    const first = api.end('complete', id)
    await untilBlocked(api.databaseUrl)
    const second = update(id, { expiresAt: inMinutes(60) })
    await untilBlocked(api.databaseUrl, 2)
    return { selling: first, updating: second }
  })
  expect(await selling).toMatchObject({ status: 200 })
  expect(await updating).toMatchObject({ status: 409, body: { code: 'order_closed' } })
})

test.each([
  ...['', 'n'.repeat(501), 'a\0b', '\ud800', 7].map((note) => ({ sent: { note }, fields: ['note'] })),
  ...[null, '', 'tomorrow', '2026-11-15', 1_794_000_000_000].map((expiresAt) => ({
    sent: { expiresAt },
    fields: ['expiresAt'],
  })),
  { sent: { note: '', expiresAt: '' }, fields: ['expiresAt', 'note'] },
  { sent: { holdMinutes: 5 }, fields: ['holdMinutes'] },
])('rejects $sent (400) and names the fields $fields', async ({ sent, fields }) => {
  const { id } = await api.hold()
  const response = await update(id, sent)
  expect(response).toMatchObject({ status: 400, body: { code: 'invalid_body' } })
  expect(faultyFields(response)).toEqual(fields)
})

test.each([UNKNOWN_ID, ...NOT_IDS])('returns 404 for the order id %s', async (orderId) => {
  expect(await update(orderId, {})).toMatchObject({ status: 404, body: { code: 'order_not_found' } })
})
