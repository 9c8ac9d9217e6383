// The file of an export: its bytes, and every way in which it can be incomplete.
import { text } from 'node:stream/consumers'
import { Readable } from 'node:stream'
import type { Petstore } from '@petstore/client'
import { expect, test } from 'vitest'
import { behindFaultInjector, collect, errorOf, openClientFixture } from '../support/client-fixture.ts'

const client = await openClientFixture()
const { id } = await client.store.pets.create({ name: 'Biscuit', categoryId: 1 })
const LINES = `id,name,categoryId,status\n${id},Biscuit,1,available\n`

const exported = (store: Petstore) => text(Readable.from(store.pets.export({ categoryId: 1 })))

/** A client of a service that sends the first bytes of a file, and no more. */
function openUnfinished(choices: { timeoutMs?: number } = {}) {
  let isClosed = false
  const store = client.open({
    ...choices,
    fetch: async () => {
      const body = new ReadableStream<Uint8Array>({
        start: (controller) => controller.enqueue(new TextEncoder().encode(LINES)),
        cancel: () => {
          isClosed = true
        },
      })
      return new Response(body, { headers: { 'content-type': 'text/csv' } })
    },
  })
  return { store, isClosed: () => isClosed }
}

test('yields the bytes of the file, for the given filters and format', async () => {
  expect(await exported(client.store)).toBe(LINES)
  const lines = client.store.pets.export({ format: 'ndjson', status: 'sold' })
  expect(await collect(lines)).toEqual([])
  expect(lines.petCount).toBe(0)
})

test.each(['csv', 'ndjson'] as const)(
  'counts the pets of the file, also with line breaks and quotes: %s',
  async (format) => {
    for (const name of ['two\nlines', '"', '""\n"', 'a,b\r\n'])
      await client.store.pets.create({ name, categoryId: 9 })
    const file = client.store.pets.export({ format, categoryId: 9, limit: 4 })
    expect(file.petCount).toBe(0)
    await collect(file)
    expect(file.petCount).toBe(4)
  },
)

test('retries until the file begins', async () => {
  const { store, injector } = await behindFaultInjector(client)
  injector.next('overloaded', 'reset before')
  expect(await exported(store)).toBe(LINES)
  expect(injector.seen).toHaveLength(3)
})

test('fails if the connection is lost before the end of the file, without a retry', async () => {
  const { store, injector } = await behindFaultInjector(client)
  injector.next('truncated response')
  expect(await errorOf(exported(store))).toMatchObject({ code: 'network_error' })
  expect(injector.seen).toHaveLength(1)
})

test('fails if no bytes arrive within the timeout, and closes the connection', async () => {
  const { store, isClosed } = openUnfinished({ timeoutMs: 1 })
  expect(await errorOf(collect(store.pets.export()))).toMatchObject({ code: 'timeout' })
  expect(isClosed()).toBe(true)
})

test('ends at once if its signal is aborted, and closes the connection', async () => {
  const { store, isClosed } = openUnfinished()
  const controller = new AbortController()
  const reading = async () => {
    for await (const _bytes of store.pets.export({}, { signal: controller.signal })) controller.abort()
  }
  expect(await errorOf(reading())).toMatchObject({ code: 'aborted' })
  expect(isClosed()).toBe(true)
})

test('closes the connection if the caller stops reading', async () => {
  const { store, isClosed } = openUnfinished()
  for await (const _bytes of store.pets.export()) break
  expect(isClosed()).toBe(true)
})

test('fails if another server responds, such as a proxy with a login page', async () => {
  const store = client.open({ fetch: async () => new Response('<h1>Log in</h1>') })
  expect(await errorOf(exported(store))).toMatchObject({ code: 'unexpected_answer' })
})
