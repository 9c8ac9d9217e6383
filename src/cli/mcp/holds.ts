// The tools that hold, sell and release pets. An order holds a pet until it is sold, released, or the hold ends.
import { Type } from 'typebox'
import type { Order, Pet, Petstore } from '../../../client/src/petstore.ts'
import { LIST_ORDERS, NEW_ORDER, ORDER_COMPLETION } from '../../../client/src/rules.ts'
import { HOLD_MINUTES_MAX } from '../../contract/hold-limit.ts'
import { ToolFailure } from './failures.ts'
import { required } from './pets.ts'
import { localInstant, toHold } from './results.ts'
import {
  HoldShape,
  idInput,
  inputOf,
  limitOf,
  NEXT_CURSOR,
  PAGE_INPUTS,
  PRICE_INPUTS,
  textInput,
} from './schemas.ts'
import { defineTool, type ToolContext } from './tool.ts'

const SEARCHED_PAGE_SIZE = LIST_ORDERS.limit.maximum
const SEARCHED_PAGES_MAX = 10

type PaymentMethod = (typeof ORDER_COMPLETION.method.enum)[number]

const HoldResult = Type.Object({ hold: HoldShape })

const holdPet = defineTool({
  name: 'hold_pet',
  title: 'Hold a pet for a customer',
  description:
    'Holds an available pet for a customer, so that nobody else can hold or buy it. Returns the orderId for sell_pet and release_pet. Also the first step to sell a pet that is available. Each call that succeeds is one more hold, so call it once for each customer. It fails if another person was faster.',
  scopes: ['pets:read', 'orders:write'],
  effect: 'adds',
  input: inputOf({
    petId: idInput('The number of the pet.'),
    note: Type.Optional(textInput('Who the pet is for, such as "Ms Okafor, comes at noon".', NEW_ORDER.note)),
    ...PRICE_INPUTS,
    until: Type.Optional(
      Type.String({
        minLength: 1,
        description:
          'When the hold ends: a time of today such as 12:00, or a date with time such as 2026-11-15T12:00. In the time zone of this computer, unless it has an offset.',
      }),
    ),
    minutes: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: HOLD_MINUTES_MAX,
        description: 'How long the hold lasts, instead of until. Without both, the store decides.',
      }),
    ),
  }),
  output: HoldResult,
  run: async ({ petId, note, price, currency, until, minutes }, { store, call }) => {
    if (until !== undefined && minutes !== undefined)
      throw new ToolFailure('Nothing was changed: give until or minutes, not both.')
    const holdMinutes = until === undefined ? minutes : minutesUntil(until)
    // Before the change: a failed read after it would look like a failed change.
    const pet = required(await store.pets.find(petId, call))
    const wanted = { petId, holdMinutes, note, price, currency }
    return { hold: toHold(await store.orders.place(wanted, call), pet) }
  },
})

const TIME_OF_DAY = /^([01]?\d|2[0-3]):([0-5]\d)$/
const DATE_AND_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}/

/** Rounds up, so that the hold does not end before the time that a customer was told. */
export function minutesUntil(until: string, now: Date = new Date()): number {
  const minutes = Math.ceil((endOf(until, now) - now.getTime()) / 60_000)
  if (minutes >= 1 && minutes <= HOLD_MINUTES_MAX) return minutes
  const what = Number.isNaN(minutes)
    ? 'must be a time such as 12:00 or 2026-11-15T12:00'
    : minutes < 1
      ? 'is in the past; give the date too'
      : 'is more than a week from now'
  throw new ToolFailure(`Nothing was changed: until ${what}. Now it is ${localInstant(now)}.`)
}

/** NaN if the text is no time. */
function endOf(until: string, now: Date): number {
  const [, hour, minute] = TIME_OF_DAY.exec(until) ?? []
  if (hour !== undefined) return new Date(now).setHours(Number(hour), Number(minute), 0, 0)
  return DATE_AND_TIME.test(until) ? Date.parse(until) : Number.NaN
}

const BOTH_IDS = {
  orderId: idInput('The order that holds the pet, from hold_pet, list_holds or show_pet.'),
  petId: idInput('The number of the pet, to make sure that it is the right order.'),
}

const sellPet = defineTool({
  name: 'sell_pet',
  title: 'Sell a pet that is on hold',
  description:
    'Sells a pet to the customer for whom it is on hold. Call it only when the person says that the customer buys the pet. For a pet that is available, call hold_pet first. May be repeated: a pet is never sold twice by the same order, and the price of the first call stays.',
  scopes: ['orders:read', 'orders:write'],
  effect: 'replaces',
  input: inputOf({
    ...BOTH_IDS,
    ...PRICE_INPUTS,
    method: Type.Optional(
      Type.Unsafe<PaymentMethod>({
        type: 'string',
        enum: ORDER_COMPLETION.method.enum,
        description:
          'How the customer pays. Ask if the person does not say it: without it, the expected cash is unknown.',
      }),
    ),
  }),
  output: HoldResult,
  run: ({ price, currency, method, ...ids }, context) => {
    const options = { ...context.call, price, currency, method }
    return endHold(ids, context, ({ orders }) => orders.complete(ids.orderId, options))
  },
})

const releasePet = defineTool({
  name: 'release_pet',
  title: 'Release a pet that is on hold',
  description:
    'Ends a hold without a sale, so that the pet is available again. Call it only when the person says that this customer does not want the pet. May be repeated.',
  scopes: ['orders:read', 'orders:write'],
  effect: 'replaces',
  input: inputOf(BOTH_IDS),
  output: HoldResult,
  run: (ids, context) => endHold(ids, context, ({ orders }) => orders.cancel(ids.orderId, context.call)),
})

/** Numbers of pets and of orders look alike. Both must belong together, so that a mix-up does not sell another pet. */
async function endHold(
  { orderId, petId }: { orderId: string; petId: string },
  context: ToolContext,
  end: (store: Petstore) => Promise<Order>,
) {
  const { store, call } = context
  const order = await store.orders.get(orderId, call)
  if (order.petId !== petId) {
    throw new ToolFailure(
      `Nothing was changed: order ${orderId} is for pet ${order.petId}, not for pet ${petId}. show_pet has the orders of a pet.`,
    )
  }
  const pets = await petsOf([order], context)
  return { hold: toHold(await end(store), pets.get(petId)) }
}

const listHolds = defineTool({
  name: 'list_holds',
  title: 'List the open holds',
  description:
    'Lists the pets that are on hold, with the note about the customer and the orderId for sell_pet and release_pet. The hold that ends next comes first. If a customer comes to fetch a pet, search with customer.',
  scopes: ['orders:read'],
  effect: 'reads',
  input: inputOf({
    customer: Type.Optional(
      textInput(
        'Only holds whose note contains this text, such as the name of the customer. Compare the whole note: "Lind" also finds "Lindqvist". If several match, ask which pet. The result can have more entries than limit.',
        NEW_ORDER.note,
      ),
    ),
    ...PAGE_INPUTS,
  }),
  output: Type.Object({
    now: Type.String({ description: 'The time of this result.' }),
    holds: Type.Array(HoldShape),
    ...NEXT_CURSOR,
  }),
  run: async (input, context) => {
    const { orders, nextCursor } = await readHolds(input, context)
    return { now: localInstant(new Date()), holds: await toHolds(orders, context), nextCursor }
  },
})

/** The service cannot search in notes. With a customer, this reads up to ten large pages; the cursor continues after them. */
async function readHolds(
  { customer = '', cursor, ...input }: { customer?: string; cursor?: string; limit?: number },
  { store, call }: ToolContext,
) {
  const limit = limitOf(input)
  const pageSize = customer === '' ? limit : SEARCHED_PAGE_SIZE
  const orders: Order[] = []
  let nextCursor = cursor
  for (let page = 0; page < SEARCHED_PAGES_MAX && orders.length < limit; page += 1) {
    const query = { status: 'open', sort: 'expiresAt', limit: pageSize, cursor: nextCursor } as const
    const read = await store.orders.list(query, call).page()
    orders.push(...read.items.filter(({ note = '' }) => contains(note, customer)))
    nextCursor = read.nextCursor
    if (nextCursor === undefined) break
  }
  return { orders, nextCursor }
}

const contains = (text: string, part: string) => text.toLowerCase().includes(part.toLowerCase())

export async function toHolds(orders: readonly Order[], context: ToolContext) {
  const pets = await petsOf(orders, context)
  return orders.map((order) => toHold(order, pets.get(order.petId)))
}

/** The pets of the orders, if the key can read pets. */
async function petsOf(
  orders: readonly Order[],
  { store, scopes, call }: ToolContext,
): Promise<Map<string, Pet>> {
  if (!scopes.has('pets:read')) return new Map()
  const { items } = await store.pets.list({ id: orders.map(({ petId }) => petId) }, call).page()
  return new Map(items.map((pet) => [pet.id, pet]))
}

export const HOLD_TOOLS = [holdPet, sellPet, releasePet, listHolds]
