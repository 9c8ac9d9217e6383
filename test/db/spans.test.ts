// The spans of batches, and of statements that fail, are retried or wait for a connection.
import { SpanStatusCode } from '@opentelemetry/api'
import { hrTimeToMilliseconds } from '@opentelemetry/core'
import type { ReadableSpan } from '@opentelemetry/sdk-trace'
import { afterAll, expect, onTestFinished, test, vi } from 'vitest'
import { batchTrace } from '../../src/db/batch-spans.ts'
import { batched } from '../../src/db/batch.ts'
import type { Db } from '../../src/db/database.ts'
import { openDatabase } from '../../src/db/open-database.ts'
import { createTestDatabase, sql, TEST_TIMEOUTS, withServerTimeouts } from '../support/database.ts'
import { errorTypeOf, recordRequests, recordTracing } from '../support/recorded-tracing.ts'

const databaseUrl = await createTestDatabase()
await sql(databaseUrl, 'create sequence tries; grant usage on sequence tries to public')

function open(size = 2, url = databaseUrl): { db: Db; spans: ReadableSpan[] } {
  const { tracing, spans } = recordTracing()
  const db = openDatabase({
    ...TEST_TIMEOUTS,
    databaseUrl: withServerTimeouts(url),
    applicationName: 'spans',
    size,
    onError: () => {},
    tracing,
  })
  afterAll(() => db.close())
  return { db, spans }
}

const statement = (name: string, text: string) => ({ name, text, values: [] })
const namesOf = (spans: ReadableSpan[]) => spans.map(({ name }) => name)
const statementsOf = (spans: ReadableSpan[]) => spans.filter(({ name }) => name !== 'wait for connection')

test('a retry has the number of its attempt, and the failed attempt its SQLSTATE', async () => {
  const { db, spans } = open()
  await sql(databaseUrl, 'alter sequence tries restart')
  await db.read(
    statement('flaky', `select pg_terminate_backend(pg_backend_pid()) where nextval('tries') = 1`),
  )
  const [first, second, ...more] = statementsOf(spans)
  expect(more).toEqual([])
  expect(first).toMatchObject({ name: 'flaky', status: { code: SpanStatusCode.ERROR } })
  expect(first?.attributes).toMatchObject({
    'error.type': '57P01',
    'db.response.status_code': '57P01',
    'db.operation.name': 'select',
  })
  expect(first?.attributes).not.toHaveProperty('petstore.attempt')
  expect(second).toMatchObject({ name: 'flaky', status: { code: SpanStatusCode.UNSET } })
  expect(second?.attributes).toMatchObject({ 'petstore.attempt': 2 })
  expect(second?.attributes).not.toHaveProperty('error.type')
})

test('a transaction that fails ends with rollback', async () => {
  const { db, spans } = open()
  const failing = db.transaction((tx) => tx.write(statement('divide', 'select 1 / 0')))
  await expect(failing).rejects.toThrow('a statement failed')
  const statements = statementsOf(spans)
  expect(statements.map(({ name }) => name)).toEqual(['begin', 'divide', 'rollback'])
  expect(statements.map(errorTypeOf)).toEqual([undefined, '22012', undefined])
  expect(statements.every(({ ended }) => ended)).toBe(true)
})

test('a wait for a connection is shown if it is long, and belongs to the attempt that waited', async () => {
  const { db, spans } = open(1)
  await db.read(statement('one', 'select 1'))
  spans.length = 0
  const startedAt = Date.now()
  const slow = db.read(statement('slow', 'select pg_sleep(0.1)'))
  const next = db.read(statement('next', 'select 1'))
  const bothStartedAt = Date.now()
  await Promise.all([slow, next])
  // On a busy host, the first read has a wait too.
  expect(namesOf(spans).slice(-3)).toEqual(['slow', 'wait for connection', 'next'])
  // The wait starts with its attempt, not when the connection is free.
  const waitedFrom = hrTimeToMilliseconds(spans.at(-2)?.startTime ?? [0, 0])
  // The SDK reads the clock of the host in whole milliseconds.
  expect(waitedFrom).toBeGreaterThanOrEqual(startedAt - 1)
  expect(waitedFrom).toBeLessThanOrEqual(bothStartedAt + 1)
})

test('every attempt to reach an unavailable database is shown', async () => {
  const { db, spans } = open(1, 'postgres://petstore_app@127.0.0.1:1/petstore')
  await expect(db.read(statement('one', 'select 1'))).rejects.toMatchObject({ code: 'unavailable' })
  expect(new Set(namesOf(spans))).toEqual(new Set(['wait for connection']))
  expect(spans).toHaveLength(20)
  expect(spans.map(errorTypeOf)).toEqual(spans.map(() => 'ECONNREFUSED'))
  expect(spans.slice(0, 3).map(({ attributes }) => attributes['petstore.attempt'])).toEqual([undefined, 2, 3])
})

test('concurrent calls share one batch span, which begins when their waits end; the others have a link to it', async () => {
  // The first batch does not count as stalled, however busy the host is.
  vi.useFakeTimers({ toFake: ['setTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const { tracing, spans } = recordRequests()
  const first = Promise.withResolvers<void>()
  const double = batched(
    async (numbers: number[]) => {
      await (numbers.includes(1) ? first.promise : undefined)
      return numbers.map((number) => number * 2)
    },
    { sizeMax: 10, inFlightMax: 1, waitingMax: 10 },
    undefined,
    batchTrace(tracing, 'double'),
  )
  const [one, two, three] = ['one', 'two', 'three'].map((name) => tracing.startRequest(name, {}).span)
  const results = [one, two, three].map((request, index) => tracing.run(request, () => double(index + 1)))
  const batches = () => spans.filter(({ name }) => name === 'batch double')
  const waits = spans.filter(({ name }) => name === 'wait for batch')
  expect(batches()).toHaveLength(1)
  expect(waits.map(({ ended }) => ended)).toEqual([true, false, false])
  first.resolve()
  expect(await Promise.all(results)).toEqual([2, 4, 6])

  const [, batch] = batches() as [ReadableSpan, ReadableSpan]
  expect(batches()).toHaveLength(2)
  expect(batch).toMatchObject({ attributes: { 'petstore.batch.size': 2 }, links: [], ended: true })
  expect(batch.parentSpanContext).toEqual(two?.spanContext())
  const linksOf = (name: string) => spans.find((span) => span.name === name)?.links
  expect([linksOf('one'), linksOf('two')]).toEqual([[], []])
  expect(linksOf('three')).toEqual([{ context: batch.spanContext() }])

  const parents = waits.map(({ parentSpanContext }) => parentSpanContext?.spanId)
  expect(parents).toEqual([one, two, three].map((request) => request?.spanContext().spanId))
  for (const wait of waits.slice(1)) {
    expect(wait.ended).toBe(true)
    const beganAfterMs = hrTimeToMilliseconds(batch.startTime) - hrTimeToMilliseconds(wait.endTime)
    // The start of a span is a whole millisecond of the clock of the host. Its duration is exact.
    expect(beganAfterMs).toBeGreaterThanOrEqual(-1)
  }
})

test('if one item makes a batch fail, each item has a batch span of its own', async () => {
  const { db } = open()
  const { tracing, spans } = recordTracing()
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
  const batches = spans.filter(({ name }) => name === 'batch divide')
  expect(batches.map((span) => [span.attributes['petstore.batch.size'], errorTypeOf(span)])).toEqual([
    [1, undefined],
    [2, '22012'],
    [1, undefined],
    [1, '22012'],
  ])
  expect(spans.filter(({ name }) => name === 'wait for batch').length).toBe(3)
})
