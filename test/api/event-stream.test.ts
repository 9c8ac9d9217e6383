// GET /v1/events/stream: order, resumption, filters, privacy, limits, and how a stream ends.
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { revokeApiKey } from '../../src/api-keys/api-keys.ts'
import type { NewApiKey } from '../../src/api-keys/schema.ts'
import { insertEpoch } from '../../src/events/queries.ts'
import { sequenceDueEvents } from '../../src/events/sequencer.ts'
import { type EventStreams, type EventStreamsOptions, openEventStreams } from '../../src/events/streams.ts'
import { SCOPES } from '../../src/scopes.ts'
import { type AppOptions, buildApp } from '../../src/server/app.ts'
import { startBackground } from '../../src/server/background.ts'
import { openLog } from '../../src/telemetry/log.ts'
import { issueApiKey, startApp } from '../support/app.ts'
import { createTestDatabase, openTestDatabase, sql } from '../support/database.ts'
import { openStream, type StreamOptions } from '../support/event-stream.ts'
import { openApiFixtureOn } from './fixture.ts'

const databaseUrl = await createTestDatabase()
const db = openTestDatabase(databaseUrl)

/** An application with streams, and the background job that sends them events. */
async function start(streamOptions: Partial<EventStreamsOptions> = {}, choices: Partial<AppOptions> = {}) {
  const streams = openEventStreams({ db, max: 1_000, ...streamOptions })
  const api = await openApiFixtureOn(databaseUrl, db, { eventStreams: streams, ...choices })
  const work = async () => streams.advance(await sequenceDueEvents(db))
  const background = startBackground([{ name: 'sequence', everyMs: 20, work }], openLog('silent'))
  afterAll(() => background.stop())
  const newKey = async (values: Partial<NewApiKey> = {}) => issueApiKey(db, { scopes: SCOPES, ...values })
  const { text: apiKey } = await newKey()
  const open = (options: Partial<StreamOptions> = {}) =>
    openStream({ origin: api.origin, apiKey, ...options })
  return { ...api, streams, newKey, open }
}

const { addPet, patch, hold, end, open } = await start()

test('sends events in the order of the feed', async () => {
  const stream = await open({ query: 'after=latest' })
  expect(stream.status).toBe(200)
  const { id } = await addPet()
  await patch(id, { name: 'Rex' })
  await end('complete', (await hold({ petId: id })).id)
  await expect
    .poll(() => stream.events.map(({ type }) => type))
    .toEqual(['pet.created', 'pet.updated', 'pet.updated', 'order.placed', 'order.completed', 'pet.updated'])
})
