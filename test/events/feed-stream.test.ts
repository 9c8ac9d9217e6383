// GET /v1/events/stream: order, resumption, filters, privacy, limits, and how a stream ends.
import { Writable } from 'node:stream'
import { afterAll, expect, onTestFinished, test, vi } from 'vitest'
import { revokeApiKey } from '../../src/access/api-keys/api-keys.ts'
import type { NewApiKey } from '../../src/access/api-keys/schema.ts'
import { SCOPES, type Scope } from '../../src/contract/scopes.ts'
import type { Db, Statement } from '../../src/db/database.ts'
import { durableEvents } from '../../src/events/feed/durable.ts'
import { findFeedState, insertEpoch } from '../../src/events/feed/queries.ts'
import { EVENT_TYPES, PET_EVENT_TYPES } from '../../src/events/feed/schema.ts'
import { sequenceDueEvents, sequenceEvents } from '../../src/events/feed/sequencer.ts'
import { type EventStreamsOptions, openEventStreams } from '../../src/events/feed/streams.ts'
import type { AppOptions } from '../../src/server/app.ts'
import { startBackground } from '../../src/server/background.ts'
import { openLog } from '../../src/telemetry/log.ts'
import { openMetrics } from '../../src/telemetry/metrics.ts'
import { issueApiKey } from '../support/app.ts'
import { createTestDatabase, openTestDatabase, sql } from '../support/database.ts'
import { openStream, type StreamOptions, type TestStream } from '../support/event-stream.ts'
import { openApiFixtureOn } from '../support/api-fixture.ts'
import { until } from '../support/until.ts'

const databaseUrl = await createTestDatabase()
const db = openTestDatabase(databaseUrl)

/** An application with streams, and the background job that sends events to them. */
async function start(
  streamOptions: Partial<EventStreamsOptions> & { db?: Db } = {},
  choices: Partial<AppOptions> = {},
) {
  const streams = openEventStreams({ db, max: 1_000, ...streamOptions })
  const api = await openApiFixtureOn(databaseUrl, db, { eventStreams: streams, ...choices })
  const work = async () => streams.advance(await sequenceDueEvents(streamOptions.db ?? db))
  const background = startBackground([{ name: 'sequence events', everyMs: 20, work }], openLog('silent'))
  const newKey = async (values: Partial<NewApiKey> = {}) => issueApiKey(db, { scopes: SCOPES, ...values })
  const { text: apiKey, id: apiKeyId } = await newKey()
  const open = (options: Partial<StreamOptions> = {}) =>
    openStream({ origin: api.origin, apiKey, query: 'after=latest', ...options })
  return { ...api, streams, newKey, apiKeyId, open, stop: background.stop }
}

/** Another application on the same database, until the end of the test. */
async function startAnother(...options: Parameters<typeof start>) {
  const another = await start(...options)
  onTestFinished(another.stop)
  return another
}

const api = await start()
afterAll(api.stop)
const { addPet, patch, hold, end, get, newKey, open } = api

const typesOf = ({ events }: TestStream) => events.map(({ type }) => type)
const numberOf = (position: string) => Number(position.split('-')[1])

/** Adds pets in one statement. Their long names make the events large. */
const insertPets = (count: number, name = 'x'.repeat(100)) =>
  sql(databaseUrl, `insert into pets (name, category_id) select $2, 7 from generate_series(1, $1)`, [
    count,
    name,
  ])

/** Their events have 6 MB, more than the buffers of a connection, and are more than the service keeps in memory. */
const LARGE_PETS = 3_000
const insertLargePets = () => insertPets(LARGE_PETS, '🐈'.repeat(500))

/** The numbers of these events, which must be consecutive. */
function expectNoGaps(events: readonly { position: string }[]): void {
  const numbers = events.map(({ position }) => numberOf(position))
  const first = numbers[0] ?? 0
  expect(numbers).toEqual(numbers.map((_, index) => first + index))
}

test('sends events in the order of the feed, with their position as id', async () => {
  const stream = await open()
  expect(stream.status).toBe(200)
  expect(stream.headers['content-type']).toBe('text/event-stream')
  expect(stream.headers['cache-control']).toBe('no-store')
  const { id } = await addPet()
  await patch(id, { name: 'Rex' })
  await end('complete', (await hold({ petId: id })).id)
  await expect
    .poll(() => typesOf(stream))
    .toEqual([
      'pet.created',
      'pet.updated',
      'pet.updated',
      'order.placed',
      'order.completed',
      'order.entry_added',
      'pet.updated',
    ])
  const { body } = await get(`/events?after=${stream.lastEventId()}`)
  expect(body).toEqual([])
  expectNoGaps(stream.events)
  expect(stream.text()).toMatch(/^retry: 1000\n\n/)
})

test('sends the same events as GET /v1/events, from the start of the feed', async () => {
  const { body } = await get('/events?limit=1000')
  const stream = await open({ query: '' })
  await expect.poll(() => stream.events).toEqual(body)
})

test('continues after Last-Event-ID without a skipped or repeated event, which wins over `after`', async () => {
  // Keeps recent events in memory. Without it, each new stream reads from the database.
  const witness = await open()
  let stream = await open()
  const seen: string[] = []
  for (let round = 0; round < 10; round += 1) {
    await addPet()
    if (round % 3 > 0) await expect.poll(() => stream.events.length).toBeGreaterThan(0)
    stream.close()
    await stream.ended
    seen.push(...stream.events.map(({ position }) => position))
    await addPet()
    await expect.poll(() => witness.events.length).toBe((round + 1) * 2)
    stream = await open({ lastEventId: stream.lastEventId() })
  }
  await expect.poll(() => seen.length + stream.events.length).toBe(20)
  seen.push(...stream.events.map(({ position }) => position))
  expect(seen).toEqual(witness.events.map(({ position }) => position))
})

test('tells a new client its position before the first event', async () => {
  const stream = await open()
  await expect.poll(() => stream.lastEventId()).toBeDefined()
  stream.close()
  await addPet()
  const resumed = await open({ lastEventId: stream.lastEventId() })
  await expect.poll(() => typesOf(resumed)).toEqual(['pet.created'])
})

test('sends only the wanted types, and now and then the position that they do not show', async () => {
  const { open: openHere } = await startAnother({ keepAliveEveryMs: 50 })
  const stream = await openHere({
    query: 'after=latest&type=pet.deleted&type=order.placed&type=order.placed',
  })
  const { petId } = await hold()
  await expect.poll(() => typesOf(stream)).toEqual(['order.placed'])
  await patch(petId, { name: 'Rex' })
  await sequenceEvents(db)
  const { epoch, head } = await findFeedState(db)
  await expect.poll(() => stream.lastEventId()).toBe(`${epoch}-${head}`)
  expect(typesOf(stream)).toEqual(['order.placed'])
})

test('hides orders and actors from a key without the scope orders:read', async () => {
  const { text: apiKey } = await newKey({ scopes: ['events:read'] })
  const full = await open()
  // The same types as the next stream, so that only the actors differ.
  const pets = await open({ query: `after=latest&type=${PET_EVENT_TYPES.join('&type=')}` })
  const limited = await open({ apiKey })
  // After a first event, all streams are at the same position and share the events in memory.
  const { id: petId } = await addPet()
  for (const stream of [full, pets, limited])
    await expect.poll(() => typesOf(stream)).toEqual(['pet.created'])
  await hold({ petId })
  await expect.poll(() => typesOf(full)).toContain('order.placed')
  await expect.poll(() => typesOf(limited)).toEqual(['pet.created', 'pet.updated'])
  expect(limited.text()).not.toMatch(/actor|requestId|order/)
  await expect.poll(() => typesOf(pets)).toEqual(['pet.created', 'pet.updated'])
  for (const { events } of [full, pets]) for (const event of events) expect(event).toHaveProperty('actor')
  const resumed = await open({ apiKey, lastEventId: full.events[0]?.position })
  await expect.poll(() => typesOf(resumed)).toEqual(['pet.updated'])
  expect(resumed.text()).not.toMatch(/actor|requestId|order/)
})

const rejections: [name: string, query: string, status: number, code: string, scopes: Scope[]][] = [
  ['a malformed position', 'after=x', 400, 'invalid_parameter', ['events:read']],
  ['an unknown type', 'type=pet.sold', 400, 'invalid_parameter', ['events:read']],
  ['a position of another epoch', 'after=000000000000-1', 410, 'events_expired', ['events:read']],
  ['a key without the scope events:read', 'after=latest', 403, 'insufficient_scope', ['pets:read']],
  ['orders without the scope orders:read', 'type=order.placed', 403, 'insufficient_scope', ['events:read']],
]

test.each(rejections)('rejects %s before the stream starts', async (_name, query, status, code, scopes) => {
  const { text: apiKey } = await newKey({ scopes })
  const response = await get(`/events/stream?${query}`, { apiKey })
  expect(response).toMatchObject({ status, body: { code } })
})

test('rejects a request without a key (401) and a malformed Last-Event-ID (400)', async () => {
  expect((await get('/events/stream', { apiKey: null })).status).toBe(401)
  const malformed = await get('/events/stream', { headers: { 'last-event-id': 'x' } })
  expect(malformed).toMatchObject({ status: 400, body: { details: [{ field: 'last-event-id' }] } })
})

test('responds to HEAD with the headers only', async () => {
  const response = await api.call('HEAD', '/v1/events/stream?after=latest')
  expect(response.status).toBe(200)
  expect(response.headers.get('content-type')).toBe('text/event-stream')
  expect((await api.call('HEAD', '/v1/events/stream?after=000000000000-1')).status).toBe(410)
})

test('allows web pages of CORS_ORIGINS to read the stream and to send Last-Event-ID', async () => {
  const origin = 'https://shop.example'
  const shop = await startAnother({}, { corsOrigins: [origin] })
  const stream = await shop.open({ headers: { origin } })
  expect(stream.headers['access-control-allow-origin']).toBe(origin)
  const preflight = await shop.call('OPTIONS', '/v1/events/stream', {
    headers: { origin, 'access-control-request-method': 'GET' },
  })
  expect(preflight.headers.get('access-control-allow-headers')).toContain('Last-Event-ID')
})

test('sends a comment at intervals while nothing happens', async () => {
  const idle = await startAnother({ keepAliveEveryMs: 20 })
  const stream = await idle.open()
  await expect.poll(() => stream.text()).toMatch(/(: keep-alive\n\n){3}/)
})

test('ends within a second when the key is revoked or expires, and other streams go on', async () => {
  // The timer that checks keys starts with the first stream.
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  onTestFinished(() => void vi.useRealTimers())
  const { open: openHere } = await startAnother()
  const [kept, revoked, expiring] = [
    await newKey(),
    await newKey(),
    await newKey({ expiresInSeconds: 3_600 }),
  ]
  const [keptStream, revokedStream, expiringStream] = [
    await openHere({ apiKey: kept.text }),
    await openHere({ apiKey: revoked.text }),
    await openHere({ apiKey: expiring.text }),
  ]
  await revokeApiKey(db, revoked.id)
  await sql(databaseUrl, 'update api_keys set expires_at = now() where id = $1', [expiring.id])
  vi.advanceTimersByTime(999)
  expect((await revokedStream.ended).isClean).toBe(true)
  expect((await expiringStream.ended).isClean).toBe(true)
  await addPet()
  await expect.poll(() => keptStream.events).toHaveLength(1)
  expect(revokedStream.events).toEqual([])
})

test('a stream that is opened while the keys of others are checked goes on', async () => {
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  let isChecking = false
  const slow: Db = {
    ...db,
    read: async <Row>(statement: Statement) => {
      const rows = await db.read<Row>(statement)
      if (statement.name !== 'find_valid_api_key_ids') return rows
      isChecking = true
      await released
      return rows
    },
  }
  const another = await startAnother({ db: slow })
  await another.open()
  await until(() => isChecking)
  const { text: apiKey } = await newKey()
  const stream = await another.open({ apiKey })
  release()
  await addPet()
  await expect.poll(() => typesOf(stream)).toEqual(['pet.created'])
})

test('limits the streams of a key (429) and of the process (503)', async () => {
  const limited = await startAnother({ max: 3, perKeyMax: 2 })
  const [one, two] = [await limited.open(), await limited.open()]
  const rejected = await limited.open()
  expect([rejected.status, rejected.headers['retry-after']]).toEqual([429, '5'])
  const others = (await limited.newKey()).text
  expect((await limited.open({ apiKey: others })).status).toBe(200)
  const overloaded = await limited.open({ apiKey: others })
  expect([overloaded.status, overloaded.headers['retry-after']]).toEqual([503, '1'])
  one.close()
  await expect.poll(async () => (await limited.open()).status).toBe(200)
  two.close()
})

test('gives the place of a rejected stream to others', async () => {
  const limited = await startAnother({ max: 1 })
  for (let tries = 0; tries < 3; tries += 1) {
    expect((await limited.open({ query: 'after=000000000000-1' })).status).toBe(410)
  }
  expect((await limited.open()).status).toBe(200)
})

test('does not count streams as requests in flight, and leaves them out of the latency metric', async () => {
  const metrics = openMetrics(db, openLog('silent'))
  const small = await startAnother({ onCount: metrics.setEventStreams }, { inFlightMax: 2, metrics })
  const streams = await Promise.all([small.open(), small.open()]).then(async (two) => [
    ...two,
    await small.open(),
  ])
  expect(streams.map(({ status }) => status)).toEqual([200, 200, 200])
  expect(await metrics.registry.metrics()).toContain('petstore_event_streams 3')
  expect((await small.get('/pets')).status).toBe(200)
  for (const stream of streams) stream.close()
  await expect.poll(() => metrics.registry.metrics()).toContain('petstore_event_streams 0')
  expect(await metrics.registry.metrics()).not.toContain('streamEvents')
  const responses = await Promise.all([small.get('/pets'), small.get('/pets')])
  expect(responses.map(({ status }) => status)).toEqual([200, 200])
})

test('ends all streams on shutdown, with a random delay to reconnect, and rejects new ones (503)', async () => {
  const { streams, open: openHere } = await startAnother()
  const opened = await Promise.all(Array.from({ length: 5 }, () => openHere()))
  streams.close()
  const ends = await Promise.all(opened.map(({ ended }) => ended))
  expect(ends.every(({ isClean }) => isClean)).toBe(true)
  for (const { retryMs } of opened) expect(retryMs()).toBeGreaterThanOrEqual(100)
  for (const { retryMs } of opened) expect(retryMs()).toBeLessThanOrEqual(1_000)
  expect((await openHere()).status).toBe(503)
})

test('sends every event to a slow reader', async () => {
  const [slow, fast] = [await open(), await open()]
  slow.pause()
  await insertLargePets()
  await expect.poll(() => fast.events.length).toBe(LARGE_PETS)
  slow.resume()
  await expect.poll(() => slow.events.length).toBe(LARGE_PETS)
  expectNoGaps(slow.events)
  expectNoGaps(fast.events)
})

test('sends every event to a reader that is too far behind for the events in memory', async () => {
  const { streams } = await startAnother()
  // Accepts nothing until it is released. Unlike a socket, it has no buffer in the kernel.
  let [isReleased, text] = [false, '']
  let release = () => {}
  const sink = new Writable({
    highWaterMark: 1,
    write: (chunk, _encoding, done) => {
      text += String(chunk)
      if (isReleased) setImmediate(done)
      else release = done
    },
  })
  await streams.open(api.apiKeyId, 'latest', { types: EVENT_TYPES, showActors: true }, () => sink)
  const positions = () =>
    [...text.matchAll(/^id: (.*)\nevent: /gm)].map(([, position = '']) => ({ position }))
  await insertPets(5_000)
  await sequenceEvents(db)
  await streams.advance(await findFeedState(db))
  expect(positions()).toEqual([])
  isReleased = true
  release()
  await expect.poll(() => positions().length).toBe(5_000)
  await addPet()
  await expect.poll(() => positions().length).toBe(5_001)
  expectNoGaps(positions())
})

test('sends every event to a reader that is behind, in parts if the pages are large', async () => {
  const { streams } = await startAnother()
  const { epoch, head } = await findFeedState(db)
  await insertPets(1_000, '🐈'.repeat(500))
  await sequenceEvents(db)
  let text = ''
  const sizes: number[] = []
  const sink = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      text += String(chunk)
      sizes.push(chunk.length)
      setImmediate(done)
    },
  })
  const everything = { types: EVENT_TYPES, showActors: true }
  await streams.open(api.apiKeyId, { epoch, number: head }, everything, () => sink)
  const positions = () =>
    [...text.matchAll(/^id: (.*)\nevent: /gm)].map(([, position = '']) => ({ position }))
  await expect.poll(() => positions().length).toBe(1_000)
  expectNoGaps(positions())
  // 200 of these events have 440 KB. A page ends after the event with which it has 64 KiB.
  expect(Math.max(...sizes)).toBeLessThan(68 * 1_024)
})

test('resets the connection of a reader that accepts nothing', async () => {
  let openStreams = 0
  const onCount = (count: number) => {
    openStreams = count
  }
  const strict = await startAnother({ onCount }, { stalledAfterMs: 300 })
  const stream = await strict.open()
  stream.pause()
  await insertLargePets()
  await expect.poll(() => openStreams).toBe(0)
  stream.resume()
  expect((await stream.ended).isClean).toBe(false)
})

test('buffers a limited number of bytes for a reader that accepts nothing', async () => {
  const { streams } = await startAnother()
  const sink = new Writable({ highWaterMark: 16_384, write: () => {} })
  await streams.open(api.apiKeyId, 'start', { types: EVENT_TYPES, showActors: true }, () => sink)
  for (let round = 0; round < 5; round += 1) {
    await insertPets(1_000)
    await streams.advance(await sequenceDueEvents(db))
  }
  // A page ends after the event with which it has 64 KiB.
  expect(sink.writableLength).toBeLessThan(68 * 1_024)
  streams.close()
})

test('goes on after the database was unavailable', async () => {
  let isUnavailable = false
  const failed: string[] = []
  const failing: Db = {
    ...db,
    read: (statement) => {
      if (!isUnavailable) return db.read(statement)
      failed.push(statement.name)
      return Promise.reject(new Error('unavailable'))
    },
  }
  const { open: openHere } = await startAnother({ db: failing })
  const stream = await openHere()
  await addPet()
  await expect.poll(() => stream.events).toHaveLength(1)
  isUnavailable = true
  await addPet()
  failed.length = 0
  await expect
    .poll(() => failed)
    .toEqual(expect.arrayContaining(['find_feed_state', 'find_valid_api_key_ids']))
  expect(stream.events).toHaveLength(1)
  isUnavailable = false
  await addPet()
  await expect.poll(() => stream.events).toHaveLength(3)
  expectNoGaps(stream.events)
})

test('reports each failed read of a stream that is behind, and goes on after it', async () => {
  const { epoch, head } = await findFeedState(db)
  await insertPets(5_000)
  await sequenceEvents(db)
  const find = durableEvents(db)
  const failures: [read: string, error: unknown][] = []
  const failed = new Error('unavailable')
  let reads = 0
  const { streams } = await startAnother({
    // The first read is that of the first page. The two after it fail.
    findEvents: (...page) => {
      reads += 1
      return reads === 2 || reads === 3 ? Promise.reject(failed) : find(...page)
    },
    onFailure: (...failure) => failures.push(failure),
  })
  let text = ''
  const sink = new Writable({
    write: (chunk, _encoding, done) => {
      text += String(chunk)
      done()
    },
  })
  const everything = { types: EVENT_TYPES, showActors: true }
  await streams.open(api.apiKeyId, { epoch, number: head }, everything, () => sink)
  await expect.poll(() => text.match(/^event: /gm)?.length).toBe(5_000)
  expect(failures).toEqual([
    ['events', failed],
    ['events', failed],
  ])
})

test('ends when a new epoch starts; the former position gets 410', async () => {
  const stream = await open()
  await addPet()
  await expect.poll(() => stream.events).toHaveLength(1)
  await insertEpoch(db)
  expect((await stream.ended).isClean).toBe(true)
  expect((await open({ lastEventId: stream.lastEventId() })).status).toBe(410)
  const next = await open()
  await addPet()
  await expect.poll(() => next.events).toHaveLength(1)
})

test('ends when a new epoch starts before the first events are read for streams', async () => {
  const streams = openEventStreams({ db, max: 1 })
  onTestFinished(() => streams.close())
  const sink = new Writable({ write: (_chunk, _encoding, done) => done() })
  const everything = { types: EVENT_TYPES, showActors: true }
  await streams.open(api.apiKeyId, 'latest', everything, () => sink)
  await insertEpoch(db)
  await streams.advance(await findFeedState(db))
  expect(sink.writableEnded).toBe(true)
})
