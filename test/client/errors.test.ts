// The errors that failed calls throw.
import { afterAll, expect, test } from 'vitest'
import { Petstore } from '@petstore/client'
import { openLocalServer } from '../../lab/parts/local-server.ts'
import { freePort } from '../../src/data/demo/cluster.ts'
import { errorOf, openClientFixture } from '../support/client-fixture.ts'

const { store, api, open, apiKey } = await openClientFixture()

test('an error response throws an error with its code, status, details and request id', async () => {
  const error = await errorOf(store.pets.create({ name: '', categoryId: 0 }))
  expect(error).toMatchObject({
    name: 'PetstoreError',
    code: 'invalid_body',
    status: 400,
    outcomeUnknown: false,
  })
  expect(new Set(error.details.map(({ field }) => field))).toEqual(new Set(['categoryId', 'name']))
  for (const { message } of error.details) expect(error.message).toContain(message)
  expect(error.requestId).toMatch(/^[0-9a-f]{32}\.1$/)
})

test('an error response without details throws an error with an empty list of details', async () => {
  expect(await errorOf(store.orders.get(404_404))).toMatchObject({ code: 'order_not_found', details: [] })
  const stranger = open({ apiKey: 'petstore_live_nobody' })
  expect(await errorOf(stranger.inventory())).toMatchObject({ code: 'invalid_api_key', status: 401 })
})

test('an unreachable service throws network_error with its cause; the outcome is known', async () => {
  const unreachable = open({ baseUrl: `http://127.0.0.1:${await freePort()}/v1`, deadlineMs: 300 })
  const error = await errorOf(unreachable.pets.create({ name: 'x', categoryId: 1 }))
  expect(error).toMatchObject({ code: 'network_error', status: undefined, outcomeUnknown: false })
  expect(error.cause).toBeInstanceOf(TypeError)
})

test('a response that is not from Petstore throws unexpected_answer, whatever its status', async () => {
  const responses: [status: number, body: string, type: string][] = [
    [200, '<h1>Welcome to the hotel</h1>', 'text/html'],
    [200, '', 'text/plain'],
    [404, 'no such page', 'text/plain'],
    [500, '{"error":"oops"}', 'application/json'],
    [404, '{"status":404,"error":"Not Found","details":{}}', 'application/json'],
    [409, '{"code":"pet_on_hold","message":"of another service"}', 'application/json'],
    [403, 'null', 'application/json'],
  ]
  for (const [status, body, type] of responses) {
    let requests = 0
    const proxied = open({
      fetch: async () => {
        requests += 1
        return new Response(body, { status, headers: { 'content-type': type } })
      },
    })
    const error = await errorOf(proxied.pets.update(1, { name: 'x' }))
    expect(error).toMatchObject({ code: 'unexpected_answer', status })
    expect(error.outcomeUnknown, `${status}`).toBe(status === 200 || status === 500)
    expect(requests).toBe(1)
  }
})

test('does not follow redirects', async () => {
  const requested: string[] = []
  const { origin, close } = await openLocalServer((request, response) => {
    requested.push(request.url ?? '')
    response.writeHead(307, { location: '/elsewhere' }).end()
  })
  afterAll(close)
  const redirected = open({ baseUrl: `${origin}/v1` })
  expect(await errorOf(redirected.inventory())).toMatchObject({ code: 'unexpected_answer', status: 307 })
  expect(requested).toEqual(['/v1/store/inventory'])
})

test('the constructor rejects an apiKey that is missing or has a line break, and an invalid baseUrl', () => {
  const baseUrl = 'http://127.0.0.1:3000/v1'
  for (const missing of [undefined, '']) {
    expect(() => new Petstore({ baseUrl, apiKey: missing as string })).toThrow('apiKey is missing')
  }
  expect(() => new Petstore({ baseUrl, apiKey: 'petstore_live_x\nHost: y' })).toThrow(TypeError)
  expect(() => new Petstore({ baseUrl: 'petstore', apiKey })).toThrow(TypeError)
})

test('baseUrl can end with or without /v1, end in a slash, or be a URL object', async () => {
  const counts = await store.inventory()
  for (const ending of ['', '/', '/v1', '/v1/'])
    expect(await open({ baseUrl: api.origin + ending }).inventory(), ending).toEqual(counts)
  expect(await open({ baseUrl: new URL(api.origin) }).inventory()).toEqual(counts)
  const requested: string[] = []
  const behindPath = open({
    baseUrl: 'http://shop.example/apiv1/',
    fetch: async (url) => {
      requested.push(new Request(url).url)
      return Response.json(counts)
    },
  })
  await behindPath.inventory()
  expect(requested).toEqual(['http://shop.example/apiv1/v1/store/inventory'])
})
