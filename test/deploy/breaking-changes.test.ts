// The check that openapi.json breaks no client of a release: a released document, and changes of it.
import { expect, test } from 'vitest'
import { breakingChanges } from '../../dev/breaking-changes.ts'

const text = { type: 'string' }

function documentWith({ limitIsRequired = false, path = '/pets', fields = {}, scopes = ['pets:read'] } = {}) {
  const pet = { type: 'object', required: ['name'], properties: { name: text, ...fields } }
  const ApiKey = { type: 'object', properties: { scopes: { type: 'array', items: { enum: scopes } } } }
  const content = {
    'application/json': { schema: { oneOf: [pet, { $ref: '#/components/schemas/ApiKey' }] } },
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Petstore', version: '1.0.0' },
    paths: {
      [path]: {
        get: {
          operationId: 'listPets',
          parameters: [
            { name: 'limit', in: 'query', required: limitIsRequired, schema: { type: 'integer' } },
          ],
          responses: { 200: { description: 'The pets', content } },
        },
      },
    },
    components: { schemas: { ApiKey } },
  }
}

const released = documentWith({ fields: { breed: text } })

test.each([
  ['nothing', released],
  ['a new field', documentWith({ fields: { breed: text, sex: text } })],
  ['a new scope', documentWith({ fields: { breed: text }, scopes: ['pets:read', 'till:read'] })],
])('allows %s', (_what, current) => {
  expect(breakingChanges(released, current)).toBeUndefined()
})

test.each([
  ['an operation that is gone', documentWith({ fields: { breed: text }, path: '/animals' }), '/pets'],
  ['a field that is gone', documentWith(), 'breed'],
  [
    'a parameter that is now required',
    documentWith({ fields: { breed: text }, limitIsRequired: true }),
    'limit',
  ],
])('rejects %s', (_what, current, named) => {
  expect(breakingChanges(released, current)).toContain(named)
})
