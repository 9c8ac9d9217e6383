// Commands on orders.
import * as fc from 'fast-check'
import { endOrder, getOrder, placeOrder } from '../reference/orders.ts'
import { ask } from '../world.ts'
import * as some from './choices.ts'
import { type Command, command, pickOrder, pickPet } from './choices.ts'

const place = command(
  {
    choice: some.choice,
    holdMinutes: some.optional(fc.constantFrom(5, 10_080)),
    note: some.optional(fc.constantFrom('Ms Okafor', 'noon')),
    key: some.idempotencyKey,
  },
  async (world, asking, { choice, holdMinutes, note, key }) => {
    const order = { petId: pickPet(world, choice), holdMinutes, note }
    await ask(
      world,
      asking,
      {
        operation: 'placeOrder',
        scope: 'orders:write',
        method: 'POST',
        path: '/store/orders',
        body: order,
        headers: { 'idempotency-key': key },
      },
      (caller, seen) => placeOrder(world.store, caller, order, key, seen),
    )
  },
)

const ENDINGS = {
  completed: { operation: 'completeOrder', verb: 'complete' },
  cancelled: { operation: 'cancelOrder', verb: 'cancel' },
}

const end = command(
  { choice: some.choice, as: fc.constantFrom('completed' as const, 'cancelled' as const) },
  async (world, asking, { choice, as }) => {
    const id = pickOrder(world, choice)
    const { operation, verb } = ENDINGS[as]
    await ask(
      world,
      asking,
      { operation, scope: 'orders:write', method: 'POST', path: `/store/orders/${id}/${verb}` },
      (caller, seen) => endOrder(world.store, caller, id, as, seen),
    )
  },
)

const get = command({ choice: some.choice }, async (world, asking, { choice }) => {
  const id = pickOrder(world, choice)
  await ask(
    world,
    asking,
    { operation: 'getOrder', scope: 'orders:read', method: 'GET', path: `/store/orders/${id}` },
    () => getOrder(world.store, id),
  )
})

export const orderCommands: fc.WeightedArbitrary<Command>[] = [
  { arbitrary: place, weight: 9 },
  { arbitrary: end, weight: 6 },
  { arbitrary: get, weight: 2 },
]
