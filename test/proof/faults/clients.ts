// Clients of one store that act at random, and record the outcome of each change.
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Order } from '../../support/api-fixture.ts'
import type { TestResponse, TestClient } from '../../support/client.ts'
import { inTime, outcomeOf } from './operation.ts'
import type { Random } from '../random.ts'
import { count, countOutcome, type Outcome } from './tally.ts'

/** Attempts of a client with an Idempotency-Key before it gives up. */
const ATTEMPTS_MAX = 30
const IN_USE = 'idempotency_key_in_use'
const IN_USE_FOR_MS = 300
/** Ends a client whose key is never released. */
const IN_USE_MAX_MS = 300_000
const AT_ONCE = 6

/** One change: its marker in the database, and the outcome of each attempt. */
export interface Change {
  token: string
  outcomes: Outcome[]
}

export interface Store {
  /** Pets that all clients want to buy. */
  contested: readonly number[]
  /** Pets that are updated all the time, and never sold. */
  changed: readonly number[]
  /** Pets that were created by mistake. Each is deleted once. */
  mistaken: { id: number; name: string }[]
}

/** A client that runs one random action after another. */
export function openBuyer(client: TestClient, store: Store, random: Random) {
  const changes: Change[] = []
  const wrong: string[] = []
  const orders: Order[] = []

  /** Sends the request, and retries while that is safe and needed. Returns the final response, if there is one. */
  async function change(
    token: string,
    send: () => Promise<TestResponse>,
    rules: Rules,
  ): Promise<TestResponse | undefined> {
    const outcomes: Outcome[] = []
    changes.push({ token, outcomes })
    const giveUpAt = performance.now() + IN_USE_MAX_MS
    for (let tries = 1; ; tries += 1) {
      let response = await inTime(send())
      // An earlier attempt still has the key: its transaction ends when PostgreSQL notices the disconnect.
      while (outcomes.length > 0 && codeOf(response) === IN_USE && performance.now() < giveUpAt) {
        await sleep(IN_USE_FOR_MS)
        response = await inTime(send())
      }
      const outcome = outcomeOf(response, rules.status, rules.rejection)
      countOutcome(outcome)
      outcomes.push(outcome)
      if (outcome === 'done' || outcome === 'rejected') return response
      if (!rules.isIdempotent || tries === ATTEMPTS_MAX) return undefined
      count('retried until done')
    }
  }

  async function create(isIdempotent: boolean): Promise<void> {
    const name = randomUUID()
    const headers = isIdempotent ? { 'idempotency-key': name } : {}
    const body = { name, categoryId: 1 + random.below(3) }
    await change(name, () => client.post('/pets', body, headers), { status: 201, isIdempotent })
  }

  /** Sends several creates at once, so that the service batches them into one statement with one outcome. */
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
    // Most orders are cancelled, so that pets remain to be sold.
    const [verb, status] = random.chance(0.2) ? ['complete', 'completed'] : ['cancel', 'cancelled']
    const send = () => client.call('POST', `/v1/store/orders/${order.id}/${verb}`)
    await change(`order ${order.id} ${status}`, send, { status: 200, isIdempotent: true })
  }

  async function update(): Promise<void> {
    const body = { categoryId: 1 + random.below(1_000_000), reason: randomUUID() }
    const send = () => client.call('PATCH', `/v1/pets/${random.pick(store.changed)}`, { body })
    await change(body.reason, send, { status: 200 })
  }

  async function remove(): Promise<void> {
    const pet = store.mistaken.pop()
    if (pet === undefined) return create(false)
    const send = () => client.call('DELETE', `/v1/pets/${pet.id}`)
    await change(`${pet.name} is deleted`, send, { status: 204 })
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
    if (outcome === 'outcome_unknown') wrong.push(`GET ${path} returned ${outcome}`)
  }

  const actions: (() => Promise<void>)[] = [
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
    act: async (): Promise<void> => {
      try {
        await random.pick(actions)()
      } catch (error) {
        count('other responses')
        wrong.push(String(error))
      }
    },
  }
}

interface Rules {
  status: number
  /** Whether a retry never has a second effect. */
  isIdempotent?: boolean
  /** The code of the only other correct response. */
  rejection?: string
}

function codeOf({ status, body }: TestResponse): string | undefined {
  return status < 400 ? undefined : (body as { code: string }).code
}
