// Every write declares how clients can retry it. test/client/retry-rules.test.ts compares the client with the declarations.
import fastify from 'fastify'
import { expect, test } from 'vitest'
import { requireDeclaredRetry } from '../../src/http/operation.ts'

test('the service does not start with a write that does not declare how clients can retry it', () => {
  const app = fastify()
  requireDeclaredRetry(app)
  const handler = async () => 'done'
  const schema = { operationId: 'sell' }
  expect(() => app.post('/sales', { schema }, handler)).toThrow('POST /sales does not declare `retry`')
  expect(() => app.get('/sales', { schema }, handler)).not.toThrow()
  const retry = { rule: 'never', effect: 'A retry sells again.' } as const
  expect(() => app.post('/sales', { schema, config: { retry } }, handler)).not.toThrow()
})
