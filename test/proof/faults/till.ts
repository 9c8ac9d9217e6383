// Every operation that writes into the ledger, or closes a day.
import { randomUUID } from 'node:crypto'
import type { ApiFixture } from '../../support/api-fixture.ts'
import type { FaultFixture } from './fixture.ts'
import { type Operation, outcomeOf } from './operation.ts'

const keyed = (): Record<string, string> => ({ 'idempotency-key': randomUUID() })

async function sell(api: ApiFixture): Promise<{ id: number; petId: number }> {
  const order = await api.hold({ price: '129.00' })
  await api.end('complete', order.id)
  return order
}

async function lastEntry(api: ApiFixture, orderId: number): Promise<number> {
  const [entry] = (await api.get(`/store/entries?orderId=${orderId}`)).body as { id: number }[]
  return entry?.id ?? 0
}

/** How many entries of this kind and amount an order has, while its pet is in the right state; otherwise -1. */
const ENTRIES = `select case when count(*) = 0 or bool_and(pets.status::text = $4) then count(*) else -1 end
  from entries join pets on pets.id = pet_id where order_id = $1 and kind = $2::entry_kind and paid = $3`

interface Writing {
  prepare: (api: ApiFixture) => Promise<{ orderId: number; path: string }>
  body?: object
  headers?: () => Record<string, string>
  status: number
  /** The entry that must be written once, and the status of the pet after it. */
  kind: string
  paid: number
  petStatus: string
}

function write({ prepare, body, headers = () => ({}), status, kind, paid, petStatus }: Writing) {
  return async ({ api, query, client }: FaultFixture) => {
    const { orderId, path } = await prepare(api)
    const sent = headers()
    const call = () => client.call('POST', `/v1/store/${path}`, { headers: sent, ...(body && { body }) })
    return {
      run: async () => outcomeOf(await call(), status),
      effects: () => query(ENTRIES, [orderId, kind, paid, petStatus]),
    }
  }
}

const ofSale = (verb: string) => async (api: ApiFixture) => {
  const { id: orderId } = await sell(api)
  return { orderId, path: `orders/${orderId}/${verb}` }
}

async function ofDeposit(api: ApiFixture) {
  const { id: orderId } = await api.hold({ deposit: '20.00' })
  return { orderId, path: `orders/${orderId}/settle-deposit` }
}

const ofLastEntry =
  (change: (api: ApiFixture, orderId: number) => Promise<unknown>) => async (api: ApiFixture) => {
    const { id: orderId } = await sell(api)
    await change(api, orderId)
    return { orderId, path: `entries/${await lastEntry(api, orderId)}/void` }
  }

const takeBack = (api: ApiFixture, orderId: number) =>
  api.post(`/store/orders/${orderId}/refund`, { amount: '129.00', takeBack: true }, keyed())

/** Each closing needs a day after the last closed one. */
let closed = Date.parse('2001-01-01')
const DAY_MS = 86_400_000

export const TILL: Operation[] = [
  {
    name: 'placeOrder with a deposit',
    commits: 'commit',
    isIdempotent: true,
    prepare: async ({ api, query, client }) => {
      const body = { petId: (await api.addPet()).id, note: randomUUID(), deposit: '20.00' }
      const sent = keyed()
      return {
        run: async () => outcomeOf(await client.post('/store/orders', body, sent), 201),
        effects: () =>
          query(
            `select case when count(*) = count(entries) then count(*) else -1 end
              from orders left join entries on order_id = orders.id and paid = 20 where orders.note = $1`,
            [body.note],
          ),
      }
    },
  },
  {
    name: 'correctOrder',
    commits: 'commit',
    isIdempotent: true,
    prepare: write({
      prepare: ofSale('correct'),
      body: { price: '119.00' },
      status: 200,
      kind: 'correction',
      paid: -10,
      petStatus: 'sold',
    }),
  },
  {
    name: 'refundOrder',
    commits: 'commit',
    isIdempotent: true,
    prepare: write({
      prepare: ofSale('refund'),
      body: {
        amount: '100.00',
        takeBack: true,
      },
      headers: keyed,
      status: 201,
      kind: 'refund',
      paid: -100,
      petStatus: 'available',
    }),
  },
  {
    name: 'settleDeposit',
    commits: 'commit',
    isIdempotent: true,
    prepare: write({
      prepare: ofDeposit,
      body: { refund: '15.00' },
      headers: keyed,
      status: 201,
      kind: 'refund',
      paid: -15,
      petStatus: 'pending',
    }),
  },
  {
    name: 'voidEntry of a sale',
    commits: 'commit',
    isIdempotent: true,
    prepare: write({
      prepare: ofLastEntry(async () => {}),
      status: 200,
      kind: 'void',
      paid: -129,
      petStatus: 'available',
    }),
  },
  {
    name: 'voidEntry of a return',
    commits: 'commit',
    isIdempotent: true,
    prepare: write({
      prepare: ofLastEntry(takeBack),
      status: 200,
      kind: 'void',
      paid: 129,
      petStatus: 'sold',
    }),
  },
  {
    name: 'updatePet of a sold pet',
    commits: 'commit',
    isIdempotent: true,
    prepare: async ({ api, query, client }) => {
      const { id, petId } = await sell(api)
      const body = { status: 'available' }
      return {
        run: async () => outcomeOf(await client.call('PATCH', `/v1/pets/${petId}`, { body }), 200),
        effects: () => query(ENTRIES, [id, 'refund', -129, 'available']),
      }
    },
  },
  {
    name: 'recordCash',
    commits: 'commit',
    isIdempotent: true,
    prepare: async ({ query, client }) => {
      const body = { direction: 'in', amount: '50.00', note: randomUUID() }
      const sent = keyed()
      return {
        run: async () => outcomeOf(await client.post('/store/cash', body, sent), 201),
        effects: () => query('select count(*) from entries where note = $1 and paid = 50', [body.note]),
      }
    },
  },
  {
    name: 'closeDay',
    commits: 'commit',
    isIdempotent: true,
    prepare: async ({ query, client }) => {
      closed += DAY_MS
      const day = new Date(closed).toISOString().slice(0, 10)
      const body = { day, counted: '10.00', kept: '0.00' }
      return {
        // A retry of a closing that was committed finds it.
        run: async () => outcomeOf(await client.post('/store/day-closings', body), [201, 200]),
        effects: () => query('select count(*) from day_closings where day = $1', [day]),
      }
    },
  },
]
