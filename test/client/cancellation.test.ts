// An AbortSignal ends a call at any point.
import { getEventListeners } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { behindFaultInjector, collect, errorOf, openClientFixture } from './fixture.ts'

const client = await openClientFixture()
for (const name of ['a', 'b', 'c']) await client.store.pets.create({ name, categoryId: 1 })

test('sends nothing if the signal is already aborted', async () => {
  const { store, injector } = await behindFaultInjector(client)
  const reason = new Error('the user closed the page')
  const error = await errorOf(store.inventory({ signal: AbortSignal.abort(reason) }))
  expect(error).toMatchObject({ code: 'aborted', cause: reason, outcomeUnknown: false })
  expect(injector.seen).toEqual([])
})

test('ends an attempt in flight at once; the outcome of a write is unknown', async () => {
  const { store, injector } = await behindFaultInjector(client)
  injector.next('hang before', 'hang before')
  for (const [call, outcomeUnknown] of [
    [store.inventory, false],
    [(options: object) => store.pets.create({ name: 'x', categoryId: 1 }, options), true],
  ] as const) {
    const controller = new AbortController()
    setTimeout(() => controller.abort(), 50)
    const startedAt = performance.now()
    expect(await errorOf(call({ signal: controller.signal }))).toMatchObject({
      code: 'aborted',
      outcomeUnknown,
    })
    // The timeout of one attempt is much longer.
    expect(performance.now() - startedAt).toBeLessThan(8_000)
  }
})

test('ends the wait for the next attempt at once', async () => {
  let attempts = 0
  const store = client.open({
    fetch: async () => {
      attempts += 1
      const rejected = '{"code":"rate_limited","message":"","status":429}'
      return new Response(rejected, { status: 429, headers: { 'retry-after': '30' } })
    },
  })
  const controller = new AbortController()
  const calling = errorOf(store.inventory({ signal: controller.signal }))
  await expect.poll(() => attempts).toBe(1)
  await sleep(50)
  const abortedAt = performance.now()
  controller.abort()
  expect(await calling).toMatchObject({ code: 'aborted' })
  expect(performance.now() - abortedAt).toBeLessThan(20_000)
  expect(attempts).toBe(1)
})

test('ends an iteration between two pages', async () => {
  const { store, injector } = await behindFaultInjector(client)
  const controller = new AbortController()
  const seen: string[] = []
  const iterate = async () => {
    for await (const { name } of store.pets.list({ limit: 1 }, { signal: controller.signal })) {
      seen.push(name)
      controller.abort()
    }
  }
  expect(await errorOf(iterate())).toMatchObject({ code: 'aborted' })
  expect(seen).toEqual(['c'])
  expect(injector.seen).toHaveLength(1)
})

test('leaves no listener on the signal after the calls', async () => {
  const { store, injector } = await behindFaultInjector(client)
  const { signal } = new AbortController()
  injector.next('unavailable', 'reset before')
  await collect(store.pets.list({ limit: 1 }, { signal }))
  await store.pets.create({ name: 'd', categoryId: 1 }, { signal })
  expect(getEventListeners(signal, 'abort')).toEqual([])
})
