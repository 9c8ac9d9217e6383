// Which operations wait for a sweep of expired holds. test/store/holds.test.ts shows what they return after it.
import fastify from 'fastify'
import { expect, test } from 'vitest'
import { showFreshHolds } from '../../src/http/fresh-holds.ts'
import { declarations } from '../security/operations.ts'
import { openApiFixture } from '../support/api-fixture.ts'

const WAITING = [
  'exportPets',
  'getInventory',
  'getOrder',
  'getPet',
  'getPetCount',
  'getPetHistory',
  'listCategories',
  'listOrders',
  'listPets',
  'putCategory',
]

test('exactly the operations that show pets or holds declare it', () => {
  const waiting = Object.entries(declarations()).filter(([, { showsHolds }]) => showsHolds === true)
  expect(waiting.map(([operationId]) => operationId).toSorted()).toEqual(WAITING)
})

test('a HEAD request waits like GET', async () => {
  let waits = 0
  const waitUntilFresh = () => {
    waits += 1
    return undefined
  }
  const api = await openApiFixture({ holds: { waitUntilFresh } })
  for (const method of ['GET', 'HEAD'])
    expect(await api.call(method, '/v1/pets')).toMatchObject({ status: 200 })
  expect(waits).toBe(2)
})

test('a request continues when the sweep has ended', async () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const app = fastify()
  showFreshHolds(app, { waitUntilFresh: () => promise })
  let isSwept = false
  app.get('/pets', { config: { showsHolds: true } }, async () => ({ isSwept }))
  app.get('/figures', { config: { showsHolds: false } }, async () => ({ isSwept }))
  const waiting = app.inject('/pets')
  expect((await app.inject('/figures')).json()).toEqual({ isSwept: false })
  isSwept = true
  resolve()
  expect((await waiting).json()).toEqual({ isSwept: true })
})

test('the service does not start with a read that does not declare whether it shows holds', () => {
  const app = fastify()
  showFreshHolds(app, { waitUntilFresh: () => undefined })
  const handler = async () => 'pets'
  expect(() => app.get('/pets', handler)).toThrow('GET /pets does not declare showsHolds')
  expect(() => app.get('/figures', { config: { showsHolds: false } }, handler)).not.toThrow()
  expect(() => app.post('/pets', handler)).not.toThrow()
})
