// Every method of the client retries a call with an unknown outcome exactly if `x-retry` of its operation allows it.
// retries.test.ts shows it for each kind of failure, against the real service.
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { CLIENT_METHODS, operationOf, REJECTION, requestsOf } from '../../dev/client-methods.ts'

interface Operation {
  operationId: string
  parameters?: { name: string; in: string }[]
  'x-retry': string
}

const document = JSON.parse(readFileSync(new URL('../../openapi.json', import.meta.url), 'utf8')) as {
  paths: Record<string, Record<string, Operation>>
}
const operations = Object.values(document.paths).flatMap((verbs) => Object.values(verbs))

/** The attempts of a call whose first one has an unknown outcome, without and with `ifMatch`. */
const ATTEMPTS: Record<string, [without: number, withIfMatch: number]> = {
  safe: [2, 2],
  'with Idempotency-Key': [2, 2],
  'with If-Match': [1, 2],
  never: [1, 1],
}
const HEADERS: Record<string, string> = {
  'with Idempotency-Key': 'idempotency-key',
  'with If-Match': 'if-match',
}

const afterBadGateway = (attempt: number) =>
  attempt === 1 ? new Response('bad gateway', { status: 502 }) : REJECTION()

test('the methods call every operation of openapi.json, and no other', async () => {
  const called = await Promise.all(
    CLIENT_METHODS.map(async (method) => {
      const [request] = await requestsOf(method, REJECTION)
      return operationOf(document, request as Request)
    }),
  )
  expect([...new Set(called)].sort()).toEqual(operations.map(({ operationId }) => operationId).sort())
})

test.each(CLIENT_METHODS)('%s is retried as its operation allows', async (method) => {
  const [without, withIfMatch] = await Promise.all([
    requestsOf(method, afterBadGateway),
    requestsOf(method, afterBadGateway, { ifMatch: '"1"' }),
  ])
  const operationId = operationOf(document, without[0] as Request)
  const rule = operations.find((operation) => operation.operationId === operationId)?.['x-retry'] ?? ''
  expect([without.length, withIfMatch.length], `${operationId} is ${rule}`).toEqual(ATTEMPTS[rule])
  const keys = without.map(({ headers }) => headers.get('idempotency-key'))
  expect(new Set(keys).size).toBe(1)
  expect(keys[0] !== null).toBe(rule === 'with Idempotency-Key')
})

test.each(operations)('$operationId accepts the header that its rule needs', (operation) => {
  const needed = HEADERS[operation['x-retry']]
  const headers = (operation.parameters ?? []).filter((one) => one.in === 'header').map(({ name }) => name)
  if (needed !== undefined) expect(headers).toContain(needed)
  // A create with a key is never less safe than its rule says.
  expect(headers.includes('idempotency-key')).toBe(operation['x-retry'] === 'with Idempotency-Key')
})
