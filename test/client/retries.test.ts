// Which calls the client retries: each operation with each fault.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Petstore } from '@petstore/client'
import { Client } from 'pg'
import { afterAll, describe, expect, test } from 'vitest'
import { behindFaultInjector, collect, errorOf, openClientFixture } from '../support/client-fixture.ts'
import { fetchUnlessBusy } from '../support/client.ts'
import type { Fault } from '../support/fault-injector.ts'
import { asSuperuser } from '../support/roles.ts'

const client = await openClientFixture()
const { store: direct, api } = client
/** The timers by their time, so that a test can end the attempt that hangs, and no other one. */
const timers = new Map<unknown, () => void>()
const { setTimeout: startTimer } = globalThis
globalThis.setTimeout = Object.assign((...timer: Parameters<typeof startTimer>) => {
  timers.set(timer[1], timer[0])
  return startTimer(...timer)
}, startTimer)
afterAll(() => {
  globalThis.setTimeout = startTimer
})
/** Longer than any test. Each client that hangs has another timeout, by which its timers are found. */
let hangingTimeoutMs = 1_000_000
const pet = await direct.pets.create({ name: 'Biscuit', categoryId: 1 })
const order = await direct.orders.place({ petId: pet.id })

const newPet = () => direct.pets.create({ name: 'Crumb', categoryId: 2 })
const newOrder = async () => direct.orders.place({ petId: (await newPet()).id })
const newApiKey = () => direct.apiKeys.create({ name: 'till' })
const webhook = await direct.webhooks.create({ url: 'https://shop.example/hooks' })

/** Prepares data with a client without faults and returns the call itself. */
type Operation = (store: Petstore) => Promise<() => Promise<unknown>>

/** Calls that the client sends so that they are idempotent: safe to retry. */
const IDEMPOTENT: Record<string, Operation> = {
  'pets.list':
    async ({ pets }) =>
    () =>
      pets.list({ status: 'sold' }).page(),
  'pets.find':
    async ({ pets }) =>
    () =>
      pets.find(pet.id),
  'pets.get':
    async ({ pets }) =>
    () =>
      pets.get(pet.id),
  'pets.history':
    async ({ pets }) =>
    () =>
      pets.history(pet.id).page(),
  'pets.create':
    async ({ pets }) =>
    () =>
      pets.create({ name: 'Crumb', categoryId: 2 }),
  'pets.changeMany':
    async ({ pets }) =>
    () =>
      pets.changeMany([{ create: { name: 'Crumb', categoryId: 2 } }]),
  'pets.delete': async ({ pets }) => {
    const { id } = await newPet()
    return () => pets.delete(id)
  },
  'orders.list':
    async ({ orders }) =>
    () =>
      orders.list().page(),
  'orders.get':
    async ({ orders }) =>
    () =>
      orders.get(order.id),
  'orders.place': async ({ orders }) => {
    const { id } = await newPet()
    return () => orders.place({ petId: id })
  },
  'orders.complete': async ({ orders }) => {
    const { id } = await newOrder()
    return () => orders.complete(id)
  },
  'orders.cancel': async ({ orders }) => {
    const { id } = await newOrder()
    return () => orders.cancel(id)
  },
  'categories.list':
    async ({ categories }) =>
    () =>
      categories.list().page(),
  'categories.put':
    async ({ categories }) =>
    () =>
      categories.put(2, { name: 'Cats' }),
  inventory: async (store) => () => store.inventory(),
  'apiKeys.own':
    async ({ apiKeys }) =>
    () =>
      apiKeys.own(),
  'apiKeys.list':
    async ({ apiKeys }) =>
    () =>
      apiKeys.list().page(),
  'apiKeys.update': async ({ apiKeys }) => {
    const { id } = await newApiKey()
    return () => apiKeys.update(id, { name: 'web-shop' })
  },
  'apiKeys.revoke': async ({ apiKeys }) => {
    const { id } = await newApiKey()
    return () => apiKeys.revoke(id)
  },
  'webhooks.list':
    async ({ webhooks }) =>
    () =>
      webhooks.list().page(),
  'webhooks.get':
    async ({ webhooks }) =>
    () =>
      webhooks.get(webhook.id),
  'webhooks.deliveries':
    async ({ webhooks }) =>
    () =>
      webhooks.deliveries(webhook.id).page(),
  'webhooks.delete': async ({ webhooks }) => {
    const { id } = await direct.webhooks.create({ url: 'https://shop.example/hooks' })
    return () => webhooks.delete(id)
  },
}

/** Calls that are unsafe to retry: a retry could undo a change made in between, create a second key or send a second message. */
const NOT_IDEMPOTENT: Record<string, Operation> = {
  'pets.update': async ({ pets }) => {
    const { id } = await newPet()
    return () => pets.update(id, { name: 'Renamed' })
  },
  'apiKeys.create':
    async ({ apiKeys }) =>
    () =>
      apiKeys.create({ name: 'till' }),
  'apiKeys.rotate': async ({ apiKeys }) => {
    const { id } = await newApiKey()
    return () => apiKeys.rotate(id)
  },
  'webhooks.create':
    async ({ webhooks }) =>
    () =>
      webhooks.create({ url: 'https://shop.example/hooks' }),
  'webhooks.update':
    async ({ webhooks }) =>
    () =>
      webhooks.update(webhook.id, { description: 'the shop' }),
  'webhooks.rotateSecret':
    async ({ webhooks }) =>
    () =>
      webhooks.rotateSecret(webhook.id),
  'webhooks.sendTest':
    async ({ webhooks }) =>
    () =>
      webhooks.sendTest(webhook.id),
  'webhooks.replay':
    async ({ webhooks }) =>
    () =>
      webhooks.replay(webhook.id, { after: 'latest' }),
}

const NOT_EXECUTED: Fault[] = ['unavailable', 'overloaded', 'rate limited']
const MAYBE_EXECUTED: Partial<Record<Fault, string>> = {
  'outcome unknown before': 'outcome_unknown',
  'outcome unknown after': 'outcome_unknown',
  'bad gateway after': 'unexpected_answer',
  'reset before': 'network_error',
  'reset after': 'network_error',
  'truncated response': 'network_error',
  'hang after': 'timeout',
}
const everyFault = [...NOT_EXECUTED, ...(Object.keys(MAYBE_EXECUTED) as Fault[])]

const behind = () => behindFaultInjector(client)

/** `endAttempt` waits until the first request hangs, and lets the timeout of the client elapse. */
async function behindHanging() {
  hangingTimeoutMs += 1
  const timeoutMs = hangingTimeoutMs
  const { store, injector } = await behindFaultInjector(client, { timeoutMs })
  const endAttempt = async () => {
    while (injector.forwarded().total === 0 || injector.forwarded().inFlight > 0) await sleep(10)
    timers.get(timeoutMs)?.()
  }
  return { store, injector, endAttempt }
}

describe.concurrent('each operation', () => {
  for (const [name, prepare] of Object.entries({ ...IDEMPOTENT, ...NOT_IDEMPOTENT })) {
    test(`${name} is retried if nothing was executed`, async () => {
      const { store, injector } = await behind()
      const call = await prepare(store)
      injector.next(...NOT_EXECUTED)
      await call()
      expect(injector.seen).toHaveLength(NOT_EXECUTED.length + 1)
      expect(injector.forwarded().total).toBe(1)
    })
  }

  for (const [name, prepare] of Object.entries(IDEMPOTENT)) {
    test(`${name} is retried after a lost response`, async () => {
      const { store, injector } = await behind()
      const call = await prepare(store)
      injector.next('reset after', 'outcome unknown after')
      await call()
      expect(injector.seen).toHaveLength(3)
    })
  }

  for (const [name, prepare] of Object.entries(NOT_IDEMPOTENT)) {
    for (const [fault, code] of Object.entries(MAYBE_EXECUTED)) {
      test(`${name} is not retried after the fault "${fault}", and its outcome is unknown`, async () => {
        const { store, injector, endAttempt } = await behindHanging()
        const call = await prepare(store)
        injector.next(fault as Fault)
        const failing = errorOf(call())
        if (fault === 'hang after') await endAttempt()
        expect(await failing).toMatchObject({ code, outcomeUnknown: true })
        expect(injector.seen).toHaveLength(1)
      })
    }
  }
})

describe.concurrent('a create adds exactly one pet', () => {
  for (const fault of everyFault) {
    test(`after the fault "${fault}"`, async () => {
      const { store, injector, endAttempt } = await behindHanging()
      injector.next(fault)
      const name = `Only, after ${fault}`
      const creating = store.pets.create({ name, categoryId: 3 })
      if (fault === 'hang after') await endAttempt()
      const { id } = await creating
      expect(await api.sql('select id::text from pets where name = $1', [name])).toEqual([{ id }])
      expect(injector.seen.length).toBeGreaterThanOrEqual(2)
    })
  }
})

test('all attempts of a create have the same Idempotency-Key and different request ids; the next create has another key', async () => {
  const { store, injector } = await behind()
  injector.next('reset after', 'truncated response', 'unavailable')
  await store.pets.create({ name: 'Only', categoryId: 3 })
  const keys = new Set(injector.seen.map(({ headers }) => headers['idempotency-key']))
  expect(keys.size).toBe(1)
  const ids = injector.seen.map(({ headers }) => headers['x-request-id'])
  expect(ids.map((id) => String(id).replace(/^[0-9a-f]{32}/, ''))).toEqual(['.1', '.2', '.3', '.4'])
  await store.pets.create({ name: 'Only', categoryId: 3 })
  expect(keys).not.toContain(injector.seen.at(-1)?.headers['idempotency-key'])
})

test('a create whose first attempt is still in flight retries until it returns the pet', async () => {
  const { store, injector } = await behind()
  // Another session holds the lock of the key, like an attempt that hangs in the database. It is not a session of the
  // service, which PostgreSQL would end if the attempts took long.
  const holder = new Client(asSuperuser(api.databaseUrl))
  await holder.connect()
  await holder.query(
    `select pg_advisory_lock(hashtextextended('slow', id)) from actors where name = 'client'`,
  )
  const creating = store.pets.create({ name: 'Slow', categoryId: 3 }, { idempotencyKey: 'slow' })
  await expect.poll(() => injector.seen.length).toBeGreaterThanOrEqual(3)
  await holder.end()
  expect(await creating).toMatchObject({ name: 'Slow' })
})

describe.concurrent('a change with ifMatch', () => {
  test('is retried, and succeeds if the service did not receive the first attempt', async () => {
    const { store, injector } = await behind()
    const { id, etag } = await newPet()
    injector.next('reset before')
    expect(await store.pets.update(id, { name: 'Renamed' }, { ifMatch: etag })).toMatchObject({
      name: 'Renamed',
    })
    expect(injector.seen).toHaveLength(2)
  })

  test('is not retried if ifMatch is * or has several versions', async () => {
    const { store, injector } = await behind()
    const { id, etag } = await newPet()
    for (const ifMatch of ['*', `${etag}, "2"`]) {
      injector.next('reset before')
      const error = await errorOf(store.pets.update(id, { name: 'Renamed' }, { ifMatch }))
      expect(error).toMatchObject({ code: 'network_error', outcomeUnknown: true })
    }
    expect(injector.seen).toHaveLength(2)
  })

  test('has an unknown outcome if the retry finds another version', async () => {
    const { store, injector } = await behind()
    const { id, etag } = await newPet()
    injector.next('reset after')
    const error = await errorOf(store.pets.update(id, { name: 'Renamed' }, { ifMatch: etag }))
    expect(error).toMatchObject({ code: 'precondition_failed', outcomeUnknown: true })
    expect((await direct.pets.find(id))?.name).toBe('Renamed')
  })
})

describe.concurrent('a delete', () => {
  test('succeeds if the retry after a lost response returns 404', async () => {
    const { store, injector } = await behind()
    const { id } = await newPet()
    injector.next('reset after')
    expect(await store.pets.delete(id)).toBeUndefined()
    expect(await direct.pets.find(id)).toBeUndefined()
  })

  test('of an unknown pet fails with pet_not_found', async () => {
    const { store, injector } = await behind()
    injector.next('unavailable')
    expect(await errorOf(store.pets.delete(404_404))).toMatchObject({ code: 'pet_not_found' })
  })
})

test('an iteration continues after faults between and within pages', async () => {
  const { store, injector } = await behind()
  const all = (await collect(direct.pets.list())).map(({ id }) => id)
  injector.next('none', 'truncated response', 'unavailable', 'none', 'reset after')
  expect((await collect(store.pets.list({ limit: 10 }))).map(({ id }) => id)).toEqual(all)
})

test('retries an update without ifMatch if it could not connect, because nothing was executed', async () => {
  // No program listens on this port, and none can take it while the test runs.
  const unreachable = 'http://127.0.0.1:2'
  let attempts = 0
  const store = client.open({
    fetch: (url, init) => {
      attempts += 1
      return fetchUnlessBusy(attempts < 3 ? unreachable : url, init)
    },
  })
  const { id } = await newPet()
  expect(await store.pets.update(id, { name: 'After the restart' })).toMatchObject({
    name: 'After the restart',
  })
  expect(attempts).toBe(3)
})
