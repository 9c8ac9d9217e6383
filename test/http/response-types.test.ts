// The schema of a response is also the type of what its handler returns. `npm run check` compiles this file: it fails if a
// line below a `@ts-expect-error` compiles.
import fastify from 'fastify'
import { Type } from 'typebox'
import { expect, test } from 'vitest'
import { Int64 } from '../../src/contract/int64-schema.ts'
import { response, withSchemaTypes } from '../../src/http/operation.ts'

const VisitSchema = Type.Object(
  {
    id: Int64,
    at: Type.Unsafe<Date>({ type: 'string', format: 'date-time' }),
    note: Type.Optional(Type.String()),
    pets: Type.Array(Int64),
  },
  { $id: 'Visit' },
)
const schema = { response: { 200: response(VisitSchema, { description: 'A visit.', example: {} }) } }
const visit = { id: 9_223_372_036_854_775_807n, at: new Date(0), pets: [1n] as const }

function openApp() {
  const app = fastify()
  app.addSchema(VisitSchema)
  return withSchemaTypes(app)
}

test('a handler can return what the schema of its response describes', async () => {
  const app = openApp()
  app.route({ method: 'GET', url: '/visit', schema, handler: async () => visit })
  app.route({ method: 'GET', url: '/sent', schema, handler: async (_request, reply) => reply.send(visit) })
  app.route({ method: 'GET', url: '/no-note', schema, handler: async () => ({ ...visit, note: undefined }) })
  for (const url of ['/visit', '/sent', '/no-note']) {
    const { body } = await app.inject(url)
    expect(body).toBe('{"id":9223372036854775807,"at":"1970-01-01T00:00:00.000Z","pets":[1]}')
  }
})

test('a handler that returns something else does not compile', () => {
  const app = openApp()
  // @ts-expect-error -- An id is a bigint.
  app.route({ method: 'GET', url: '/number', schema, handler: async () => ({ ...visit, id: 1 }) })
  // @ts-expect-error -- The serialiser formats a time.
  app.route({ method: 'GET', url: '/text', schema, handler: async () => ({ ...visit, at: '1970-01-01' }) })
  // @ts-expect-error -- A required field is missing.
  app.route({ method: 'GET', url: '/missing', schema, handler: async () => ({ id: 1n, pets: [] }) })
  // @ts-expect-error -- A list has other entries.
  app.route({ method: 'GET', url: '/entries', schema, handler: async () => ({ ...visit, pets: ['1'] }) })
  // @ts-expect-error -- The response is one visit.
  app.route({ method: 'GET', url: '/list', schema, handler: async () => [visit] })
  // @ts-expect-error -- The same types apply to `send`.
  app.route({ method: 'GET', url: '/send', schema, handler: async (_request, reply) => reply.send('visit') })
  expect(app.hasRoute({ method: 'GET', url: '/send' })).toBe(true)
})

test('a schema without a name cannot be the schema of a response', () => {
  const nameless = Type.Object({ id: Int64 })
  expect(() => response(nameless, { description: 'A visit.', example: {} })).toThrow('needs an $id')
})
