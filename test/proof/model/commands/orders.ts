// Commands on orders.
import * as fc from 'fast-check'
import { endOrder, getOrder, placeOrder } from '../reference/orders.ts'
import { callBoth } from '../fixture.ts'
import * as some from './choices.ts'
import { type Command, command, pickOrder, pickPet } from './choices.ts'

const place = command(
  {
    choice: some.choice,
    holdMinutes: some.optional(fc.constantFrom(5, 10_080)),
    note: some.optional(fc.constantFrom('Ms Okafor', 'noon')),
    price: some.price,
    currency: some.currency,
    key: some.idempotencyKey,
  },
  async (session, sender, { choice, holdMinutes, note, price, currency, key }) => {
    const order = { petId: pickPet(session, choice), holdMinutes, note, price, currency }
    await callBoth(
      session,
      sender,
      {
        operation: 'placeOrder',
        scope: 'orders:write',
        method: 'POST',
        path: '/store/orders',
        body: order,
        headers: { 'idempotency-key': key },
      },
      (caller, seen) => placeOrder(session.store, caller, order, key, seen),
    )
  },
)

const ENDINGS = {
  completed: { operation: 'completeOrder', verb: 'complete' },
  cancelled: { operation: 'cancelOrder', verb: 'cancel' },
}

const end = command(
  {
    choice: some.choice,
    as: fc.constantFrom('completed' as const, 'cancelled' as const),
    price: some.price,
    currency: some.currency,
    hasBody: fc.boolean(),
  },
  async (session, sender, { choice, as, price, currency, hasBody }) => {
    const body = hasBody ? (as === 'completed' ? { price, currency } : {}) : undefined
    const id = pickOrder(session, choice)
    const { operation, verb } = ENDINGS[as]
    const call = { operation, scope: 'orders:write', method: 'POST', path: `/store/orders/${id}/${verb}` }
    await callBoth(session, sender, { ...call, ...(body !== undefined && { body }) }, (caller, seen) =>
      endOrder(session.store, caller, id, { as, ...body }, seen),
    )
  },
)

const get = command({ choice: some.choice }, async (session, sender, { choice }) => {
  const id = pickOrder(session, choice)
  await callBoth(
    session,
    sender,
    { operation: 'getOrder', scope: 'orders:read', method: 'GET', path: `/store/orders/${id}` },
    () => getOrder(session.store, id),
  )
})

export const orderCommands: fc.WeightedArbitrary<Command>[] = [
  { arbitrary: place, weight: 9 },
  { arbitrary: end, weight: 6 },
  { arbitrary: get, weight: 2 },
]
