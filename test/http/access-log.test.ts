// The log line of a request, for routes whose responses stay open.
import fastify from 'fastify'
import { expect, onTestFinished, test } from 'vitest'
import { logRequests } from '../../src/http/access-log.ts'
import { openMetrics } from '../../src/telemetry/metrics.ts'
import { createTestDatabase, openTestDatabase } from '../support/database.ts'
import { openTestLog } from '../support/test-log.ts'
import { until } from '../support/until.ts'

test('a route with a stream keeps its own hooks, and its response is logged when it closes', async () => {
  const lines: string[] = []
  const log = openTestLog('info', (line) => void lines.push(line))
  const app = fastify()
  app.decorateRequest('caller', null)
  const metrics = openMetrics(openTestDatabase(await createTestDatabase()), log)
  logRequests(app, { log, metrics, logClientAddress: false })
  const called: string[] = []
  const note = (name: string) => async () => void called.push(name)
  const config = { isStream: true } as const
  app.get('/one', { config, preHandler: note('one') }, async () => 'one')
  app.get('/several', { config, preHandler: [note('first'), note('second')] }, async () => 'several')
  app.get('/none', { config }, async () => 'none')
  const origin = await app.listen({ port: 0 })
  onTestFinished(() => app.close())
  for (const path of ['/one', '/several', '/none']) await (await fetch(origin + path)).text()
  expect(called).toEqual(['one', 'first', 'second'])
  await until(() => lines.length === 3)
  expect(lines.map((line) => (JSON.parse(line) as { route: string }).route)).toEqual([
    '/one',
    '/several',
    '/none',
  ])
})
