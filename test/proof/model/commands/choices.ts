// The values of commands: few names, few categories and few keys, so that commands often use the same ones.
import * as fc from 'fast-check'
import type { Id, OrderStatus, PetStatus } from '../reference/store.ts'
import type { Sender, Session } from '../fixture.ts'

/** One step of a sequence. */
export type Command = (session: Session) => Promise<void>

/** A command with its own choices; every command also chooses an instance and an API key. */
export function command<Values extends object>(
  values: { [Name in keyof Values]: fc.Arbitrary<Values[Name]> },
  run: (session: Session, sender: Sender, values: Values) => Promise<void>,
): fc.Arbitrary<Command> {
  return fc
    .record({ sender, chosen: fc.record<Values>(values) })
    .map((step) => (session: Session) => run(session, step.sender, step.chosen))
}

const LARGEST_ID = 9_223_372_036_854_775_807n

const sender: fc.Arbitrary<Sender> = fc.record({
  at: fc.constantFrom(0 as const, 1 as const),
  as: fc.oneof(
    { arbitrary: fc.constant('staff' as const), weight: 40 },
    { arbitrary: fc.nat(3), weight: 6 },
    { arbitrary: fc.constant('anonymous' as const), weight: 1 },
  ),
})

export const name = fc.constantFrom(
  'Biscuit',
  'biscuit',
  'Bis',
  'BISON',
  'Äpfelchen',
  'äpfelin',
  'Rex',
  '🐕 Rex',
  'Rex (Bison)',
)
export const namePrefix = fc.constantFrom('b', 'bis', 'BISC', 'ä', 'Rex', '🐕', 'nobody')
export const word = fc.constantFrom('b', 'BIS', 'bison', 'ä', 'rex', '🐕', 'rex bis', 'bison, rex', 'nobody')
export const categoryId = fc.constantFrom<Id>(1, 2, 3, LARGEST_ID)
export const petStatus = fc.constantFrom<PetStatus>('available', 'pending', 'sold')
export const orderStatus = fc.constantFrom<OrderStatus>('open', 'completed', 'cancelled', 'expired')
export const limit = fc.option(fc.constantFrom(1, 2, 3, 100), { nil: undefined })

export const optional = <Value>(arbitrary: fc.Arbitrary<Value>) =>
  fc.option(arbitrary, { nil: undefined, freq: 2 })

/** A price in the currency of the store, or none. */
export const price = optional(fc.constantFrom('129.00', '0.10', '9999999999.99'))
/** Mostly none or that of the store. */
export const currency = fc.oneof(
  { arbitrary: fc.constantFrom(undefined, 'EUR'), weight: 9 },
  { arbitrary: fc.constant('JPY'), weight: 1 },
)

/** An amount in the currency of the store, which sometimes lacks its decimal places. */
export const amount = fc.oneof(
  { arbitrary: fc.constantFrom('0.00', '0.10', '20.00', '129.00', '9999999999.99'), weight: 12 },
  { arbitrary: fc.constant('20'), weight: 1 },
)
export const method = optional(fc.constantFrom('cash', 'card'))
export const reason = optional(fc.constantFrom('wrong_price', 'other'))

/** Mostly another one each time. */
export const requiredKey = fc.oneof(
  { arbitrary: fc.uuid(), weight: 5 },
  { arbitrary: fc.constantFrom('k1', 't1', 't2'), weight: 1 },
)

export const idempotencyKey = fc.oneof(
  { arbitrary: fc.constant(undefined), weight: 3 },
  { arbitrary: fc.constantFrom('k1', 'k2', 'k3'), weight: 2 },
)

/** An existing item, as an index from the newest, or an item that does not exist. */
export const choice = fc.oneof(
  { arbitrary: fc.nat(5), weight: 25 },
  { arbitrary: fc.constant('deleted' as const), weight: 1 },
  { arbitrary: fc.constant('unknown' as const), weight: 1 },
)
export type Choice = number | 'deleted' | 'unknown'

export function pickPet({ store }: Session, chosen: Choice): Id {
  if (chosen === 'deleted') return store.deletedPets.at(-1) ?? LARGEST_ID
  return pick([...store.pets.keys()], chosen)
}

export function pickOrder({ store }: Session, chosen: Choice): Id {
  return pick([...store.orders.keys()], chosen)
}

export function pick(ids: readonly Id[], chosen: Choice): Id {
  return typeof chosen === 'string' || ids.length === 0
    ? LARGEST_ID
    : (ids.at(-1 - (chosen % ids.length)) ?? LARGEST_ID)
}
