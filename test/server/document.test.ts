// What generators of code and validators take from openapi.json: errors with their details, unions that stay open for types
// of later versions, and addresses without variables.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect, test } from 'vitest'
import { EVENT_TYPES } from '../../src/events/feed/schema.ts'
import { TEST_TYPE } from '../../src/events/webhooks/rules.ts'
import { openApiFixture } from '../support/api-fixture.ts'
import { startApp } from '../support/app.ts'
import { createTestDatabase, openTestDatabase } from '../support/database.ts'

interface Union {
  oneOf: { $ref: string }[]
  discriminator: { mapping: Record<string, string> }
}

interface Examples {
  content: { 'application/json': { examples: Record<string, { value: { code: string } }> } }
}

const document = JSON.parse(readFileSync(join(import.meta.dirname, '../../openapi.json'), 'utf8')) as {
  servers: { url: string }[]
  components: { schemas: Record<string, Union>; responses: Record<string, Examples> }
}
const { schemas, responses } = document.components
const ajv = new Ajv2020({ strict: false, validateFormats: false })
ajv.addSchema(document, 'openapi.json')
const isValid = (schema: string, value: unknown) =>
  ajv.validate({ $ref: `openapi.json#/components/schemas/${schema}` }, value)

const examples = Object.values(responses).flatMap(({ content }) =>
  Object.values(content['application/json'].examples).map(({ value }) => value),
)

test('the example of each error with details is a response of the service', async () => {
  const petstore = await openApiFixture({ categoryPolicy: 'strict' })
  const bodies = await Promise.all([
    petstore.post('/pets', { categoryId: 1 }),
    petstore.post('/pets', { name: 'Rex', categoryId: 99 }),
    petstore.get('/pets?limit=0'),
    petstore.get('/pets?statuss=sold'),
    petstore.post('/store/orders', { petId: 1, price: '10.00', currency: 'USD' }),
  ])
  const withDetails = examples.filter((example) => 'details' in example)
  for (const { body } of bodies as { body: { code: string } }[]) {
    expect(examples.filter(({ code }) => code === body.code).length, body.code).toBeGreaterThan(0)
    for (const example of examples.filter(({ code }) => code === body.code)) expect(example).toEqual(body)
  }
  const codes = new Set(withDetails.map(({ code }) => code))
  expect([...codes].toSorted()).toEqual(bodies.map(({ body }) => (body as { code: string }).code).toSorted())
})

const pet = { id: 1, name: 'Rex', categoryId: 1, status: 'sold' }
const event = { position: 'a-1', occurredAt: '2026-11-15T10:00:00.000Z', petId: 1 }
const message = { timestamp: '2026-11-15T10:00:00.000Z' }

test.each([
  ['Event', (type: string, data: object) => ({ type, ...event, ...data }), EVENT_TYPES],
  [
    'WebhookMessage',
    (type: string, data: object) => ({ type, ...message, data: { position: 'a-1', petId: 1, ...data } }),
    [...EVENT_TYPES, TEST_TYPE],
  ],
])('%s is a union by type that accepts a type of a later version', (name, write, types) => {
  const { oneOf, discriminator } = schemas[name] as Union
  expect(Object.keys(discriminator.mapping)).toEqual([...types, '(a type of a later version)'])
  expect(oneOf.map(({ $ref }) => $ref)).toEqual(Object.values(discriminator.mapping))
  expect(isValid(name, write('pet.created', { pet }))).toBe(true)
  expect(isValid(name, write('pet.updated', { pet, changed: ['name'] }))).toBe(true)
  expect(isValid(name, write('pet.weighed', { pet, grams: 5 }))).toBe(true)
  // A known type has its fields.
  expect(isValid(name, write('pet.created', {}))).toBe(false)
  expect(isValid(name, write('order.placed', { pet }))).toBe(false)
})

test('the addresses of services are complete: the first is that of the service itself', async () => {
  expect(document.servers.map(({ url }) => url)).toEqual([
    '/v1',
    'https://petstore.example/v1',
    'https://staging.petstore.example/v1',
  ])
  const publicUrl = 'https://pets.example.com'
  const petstore = await startApp(openTestDatabase(await createTestDatabase()), { publicUrl })
  const { servers } = (await petstore.call('GET', '/openapi.json', { apiKey: null })).body as typeof document
  expect(servers[0]?.url).toBe('https://pets.example.com/v1')
})
