// Clients of one store who do everything at random, and remember what they were told of each thing they did.
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Order } from '../../api/fixture.ts'
import type { TestResponse, TestClient } from '../../support/client.ts'
import { inTime, outcomeOf } from './operation.ts'
import type { Random } from '../random.ts'
import { count, countOutcome, type Outcome } from './tally.ts'

/** How often a client with an Idempotency-Key asks again before it gives up. */
const REPEATS_MAX = 8
const IN_USE = 'idempotency_key_in_use'
const IN_USE_FOR_MS = 300
const AT_ONCE = 6

/** One change: what marks it in the database, and everything that was said of it. */
export interface Change {
  token: string
  outcomes: Outcome[]
}

export interface Store {
  /** Animals that all clients want to buy. */
  contested: readonly number[]
  /** Animals that are changed all the time, and never sold. */
  changed: readonly number[]
  /** Mistaken entries: each is deleted once. */
  mistaken: { id: number; name: string }[]
}

/** Does one thing after the other until it is told to stop. */
export function openBuyer(client: TestClient, store: Store, random: Random) {
  const changes: Change[] = []
  const wrong: string[] = []
  const orders: Order[] = []

  /** Asks, and asks again while that is safe and needed; answers what the last answer was. */
  async function change(
    token: string,
    ask: () => Promise<TestResponse>,
    rules: Rules,
  ): Promise<TestResponse | undefined> {
    const outcomes: Outcome[] = []
    changes.push({ token, outcomes })
    for (let tries = 1; ; tries += 1) {
      const response = await inTime(ask())
      // Only of what was sent before: its transaction ends when PostgreSQL notices that nobody is there.
      if (outcomes.length > 0 && tries < REPEATS_MAX && codeOf(response) === IN_USE) {
        await sleep(IN_USE_FOR_MS)
        continue
      }
      const outcome = outcomeOf(response, rules.status, rules.rejection)
      countOutcome(outcome)
      outcomes.push(outcome)
      if (outcome === 'done' || outcome === 'rejected') return response
      if (!rules.isIdempotent || tries === REPEATS_MAX) return undefined
      count('repeated until done')
    }
  }

  async function create(isIdempotent: boolean): Promise<void> {
    const name = randomUUID()
    const headers = isIdempotent ? { 'idempotency-key': name } : {}
    const body = { name, categoryId: 1 + random.below(3) }
    await change(name, () => client.post('/pets', body, headers), { status: 201, isIdempotent })
  }

  /** At once, so that they share a statement: what one of them is told, all are told. */
  async function createMany(isIdempotent: boolean): Promise<void> {
    await Promise.all(Array.from({ length: AT_ONCE }, () => create(isIdempotent)))
  }

  async function buy(isIdempotent: boolean): Promise<void> {
    const note = randomUUID()
    const headers = isIdempotent ? { 'idempotency-key': note } : {}
    const body = { petId: random.pick(store.contested), note }
    const rules = { status: 201, isIdempotent, rejection: 'pet_not_available' }
    const response = await change(note, () => client.post('/store/orders', body, headers), rules)
    if (response?.status === 201) orders.push(response.body as Order)
  }

  async function endOrder(): Promise<void> {
    const order = orders.shift()
    if (order === undefined) return buy(true)
    // Most are let go, so that there is something left to sell.
    const [verb, status] = random.chance(0.2) ? ['complete', 'completed'] : ['cancel', 'cancelled']
    const ask = () => client.call('POST', `/v1/store/orders/${order.id}/${verb}`)
    await change(`order ${order.id} ${status}`, ask, { status: 200, isIdempotent: true })
  }

  async function update(): Promise<void> {
    const body = { categoryId: 1 + random.below(1_000_000), reason: randomUUID() }
    const ask = () => client.call('PATCH', `/v1/pets/${random.pick(store.changed)}`, { body })
    await change(body.reason, ask, { status: 200 })
  }

  async function remove(): Promise<void> {
    const pet = store.mistaken.pop()
    if (pet === undefined) return create(false)
    const ask = () => client.call('DELETE', `/v1/pets/${pet.id}`)
    await change(`${pet.name} is gone`, ask, { status: 204 })
  }

  async function issueKey(): Promise<void> {
    const name = randomUUID()
    await change(name, () => client.post('/api-keys', { name }), { status: 201 })
  }

  async function read(): Promise<void> {
    const path = random.pick([
      '/pets?limit=5',
      '/store/inventory',
      '/store/orders?limit=5',
      '/categories?limit=5',
    ])
    const outcome = outcomeOf(await inTime(client.get(path)), 200)
    countOutcome(outcome)
    if (outcome === 'outcome_unknown') wrong.push(`GET ${path} was told ${outcome}`)
  }

  const things: (() => Promise<void>)[] = [
    () => create(true),
    () => create(false),
    () => createMany(true),
    () => createMany(false),
    () => buy(true),
    () => buy(false),
    endOrder,
    endOrder,
    update,
    remove,
    issueKey,
    read,
    read,
  ]

  return {
    changes,
    wrong,
    doSomething: async (): Promise<void> => {
      try {
        await random.pick(things)()
      } catch (error) {
        count('answers of another kind')
        wrong.push(String(error))
      }
    },
  }
}

interface Rules {
  status: number
  /** Whether doing it again never makes a second one. */
  isIdempotent?: boolean
  /** The one other answer that is right. */
  rejection?: string
}

function codeOf({ status, body }: TestResponse): string | undefined {
  return status < 400 ? undefined : (body as { code: string }).code
}
