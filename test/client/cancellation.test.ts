// An AbortSignal ends a call at any point.
import { getEventListeners } from 'node:events'
import { expect, test, vi } from 'vitest'
import { behindFaultInjector, collect, errorOf, openClientFixture } from '../support/client-fixture.ts'

const client = await openClientFixture()
for (const name of ['a', 'b', 'c']) await client.store.pets.create({ name, categoryId: 1 })

test('sends nothing if the signal is already aborted', async () => {
  const { store, injector } = await behindFaultInjector(client)
  const reason = new Error('the user closed the page')
  const error = await errorOf(store.inventory({ signal: AbortSignal.abort(reason) }))
  expect(error).toMatchObject({ code: 'aborted', cause: reason, outcomeUnknown: false })
  expect(injector.seen).toEqual([])
})

// The clients have no timeout: without the signal, the calls would not end before the timeout of the test.
test('ends an attempt in flight at once; the outcome of a write is unknown', async () => {
  const { store, injector } = await behindFaultInjector(client)
  injector.next('hang before', 'hang before')
  for (const [call, outcomeUnknown] of [
    [store.inventory, false],
    [(options: object) => store.pets.create({ name: 'x', categoryId: 1 }, options), true],
  ] as const) {
    const controller = new AbortController()
    const attempts = injector.seen.length
    const calling = errorOf(call({ signal: controller.signal }))
    await expect.poll(() => injector.seen.length).toBe(attempts + 1)
    controller.abort()
    expect(await calling).toMatchObject({ code: 'aborted', outcomeUnknown })
  }
})

test('ends the wait for the next attempt at once', async () => {
  const timers = vi.spyOn(globalThis, 'setTimeout')
  let attempts = 0
  const store = client.open({
    fetch: async () => {
      attempts += 1
      const rejected = '{"code":"rate_limited","message":"","status":429}'
      return new Response(rejected, { status: 429, headers: { 'retry-after': '3600' } })
    },
  })
  const controller = new AbortController()
  const calling = errorOf(store.inventory({ signal: controller.signal }))
  const waits = () => timers.mock.calls.map(([, ms = 0]) => Math.floor(ms / 1_000))
  await expect.poll(waits).toContain(3_600)
  controller.abort()
  expect(await calling).toMatchObject({ code: 'aborted' })
  expect(attempts).toBe(1)
  timers.mockRestore()
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
