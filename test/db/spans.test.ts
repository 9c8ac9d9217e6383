// The spans of statements that fail, are retried or wait for a connection.
import { afterAll, expect, test } from 'vitest'
import { batchTrace } from '../../src/db/batch-spans.ts'
import { batched } from '../../src/db/batch.ts'
import type { Db } from '../../src/db/database.ts'
import { openDatabase } from '../../src/db/open-database.ts'
import { createTestDatabase, sql, TEST_TIMEOUTS, withServerTimeouts } from '../support/database.ts'
import { type RecordedSpan, recordTracing } from '../support/recorded-tracing.ts'

const databaseUrl = await createTestDatabase()
await sql(databaseUrl, 'create sequence tries; grant usage on sequence tries to public')

function open(size = 2, url = databaseUrl): { db: Db; request: RecordedSpan } {
  const { tracing, request } = recordTracing()
  const db = openDatabase({
    ...TEST_TIMEOUTS,
    databaseUrl: withServerTimeouts(url),
    applicationName: 'spans',
    size,
    onError: () => {},
    tracing,
  })
  afterAll(() => db.close())
  return { db, request }
}

const statement = (name: string, text: string) => ({ name, text, values: [] })
const namesOf = ({ children }: RecordedSpan) => children.map(({ name }) => name)
const statementsOf = ({ children }: RecordedSpan) =>
  children.filter(({ name }) => name !== 'wait for connection')

test('a retry has the number of its attempt, and the failed attempt its SQLSTATE', async () => {
  const { db, request } = open()
  await sql(databaseUrl, 'alter sequence tries restart')
  await db.read(
    statement('flaky', `select pg_terminate_backend(pg_backend_pid()) where nextval('tries') = 1`),
  )
  const [first, second, ...more] = statementsOf(request)
  expect(more).toEqual([])
  expect(first).toMatchObject({ name: 'flaky', errorType: '57P01' })
  expect(first?.attributes).toMatchObject({
    'db.response.status_code': '57P01',
    'db.operation.name': 'select',
  })
  expect(first?.attributes).not.toHaveProperty('petstore.attempt')
  expect(second).toMatchObject({ name: 'flaky', errorType: undefined, attributes: { 'petstore.attempt': 2 } })
})

test('a transaction that fails ends with rollback', async () => {
  const { db, request } = open()
  const failing = db.transaction((tx) => tx.write(statement('divide', 'select 1 / 0')))
  await expect(failing).rejects.toThrow('a statement failed')
  const statements = statementsOf(request)
  expect(statements.map(({ name }) => name)).toEqual(['begin', 'divide', 'rollback'])
  expect(statements.map(({ errorType }) => errorType)).toEqual([undefined, '22012', undefined])
  expect(statements.every((span) => !span.isOpen())).toBe(true)
})

test('a wait for a connection is shown if it is long, and belongs to the attempt that waited', async () => {
  const { db, request } = open(1)
  await db.read(statement('one', 'select 1'))
  request.children.length = 0
  const startedAt = performance.now()
  const slow = db.read(statement('slow', 'select pg_sleep(0.1)'))
  const next = db.read(statement('next', 'select 1'))
  const bothStartedAt = performance.now()
  await Promise.all([slow, next])
  // On a busy host, the first read has a wait too.
  expect(namesOf(request).slice(-3)).toEqual(['slow', 'wait for connection', 'next'])
  // The wait starts with its attempt, not when the connection is free.
  const wait = request.children.at(-2)
  expect(wait?.startedAt).toBeGreaterThanOrEqual(startedAt)
  expect(wait?.startedAt).toBeLessThanOrEqual(bothStartedAt)
})

test('every attempt to reach an unavailable database is shown', async () => {
  const { db, request } = open(1, 'postgres://petstore_app@127.0.0.1:1/petstore')
  await expect(db.read(statement('one', 'select 1'))).rejects.toMatchObject({ code: 'unavailable' })
  expect(new Set(namesOf(request))).toEqual(new Set(['wait for connection']))
  expect(request.children).toHaveLength(20)
  expect(request.children.map(({ errorType }) => errorType)).toEqual(
    request.children.map(() => 'ECONNREFUSED'),
  )
  expect(request.children.slice(0, 3).map(({ attributes }) => attributes['petstore.attempt'])).toEqual([
    undefined,
    2,
    3,
  ])
})

test('if one item makes a batch fail, each item has a batch span of its own', async () => {
  const { db } = open()
  const { tracing, request } = recordTracing()
  const divide = batched(
    async (divisors: number[]) => {
      await db.read({ name: 'divide_all', text: 'select 1 / unnest($1::int[])', values: [divisors] })
      return divisors
    },
    { sizeMax: 10, inFlightMax: 1, waitingMax: 10 },
    undefined,
    batchTrace(tracing, 'divide'),
  )
  const results = await Promise.allSettled([divide(9), divide(1), divide(0)])
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected'])
  const batches = request.children.filter(({ name }) => name === 'batch divide')
  expect(batches.map(({ attributes, errorType }) => [attributes['petstore.batch.size'], errorType])).toEqual([
    [1, undefined],
    [2, '22012'],
    [1, undefined],
    [1, '22012'],
  ])
  expect(request.children.filter(({ name }) => name === 'wait for batch').length).toBe(3)
})
