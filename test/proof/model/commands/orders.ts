// Commands on orders.
import * as fc from 'fast-check'
import { endOrder, getOrder, placeOrder, updateOrder } from '../reference/orders.ts'
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
    deposit: fc.option(some.amount, { nil: undefined, freq: 1 }),
    method: some.method,
    key: some.idempotencyKey,
  },
  async (session, sender, { choice, key, ...values }) => {
    const order = { petId: pickPet(session, choice), ...values }
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

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

const update = command(
  {
    choice: some.choice,
    note: some.optional(fc.constantFrom('Ms Okafor', 'evening', null)),
    // Far enough from the limits, now and a week, whatever the time that a call takes.
    inMs: some.optional(
      fc.oneof(
        { arbitrary: fc.constantFrom(HOUR_MS, 6 * DAY_MS), weight: 6 },
        { arbitrary: fc.constantFrom(-HOUR_MS, 8 * DAY_MS), weight: 1 },
      ),
    ),
  },
  async (session, sender, { choice, note, inMs }) => {
    const expiresAt = inMs === undefined ? undefined : new Date(Date.now() + inMs).toISOString()
    const change = { note, expiresAt }
    const id = pickOrder(session, choice)
    await callBoth(
      session,
      sender,
      {
        operation: 'updateOrder',
        scope: 'orders:write',
        method: 'PATCH',
        path: `/store/orders/${id}`,
        body: change,
      },
      (caller) => updateOrder(session.store, caller, id, change),
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
    note: some.optional(fc.constantFrom('Mr Lind', null)),
    price: some.price,
    currency: some.currency,
    method: some.method,
    reason: some.reason,
    hasBody: fc.boolean(),
  },
  async (session, sender, { choice, as, hasBody, ...values }) => {
    const body = hasBody ? (as === 'completed' ? values : {}) : undefined
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
  { arbitrary: update, weight: 4 },
  { arbitrary: end, weight: 6 },
  { arbitrary: get, weight: 2 },
]
