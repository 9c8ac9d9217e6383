// examples/nats-relay with a real nats-server: the messages in the stream equal the events in the feed, although relays and
// nats-server are killed and two relays run at once.
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { jetstream, jetstreamManager, type StreamConfig } from '@nats-io/jetstream'
import { connect, nanos, type NatsConnection } from '@nats-io/transport-node'
import { Petstore, type StoreEvent } from '@petstore/client'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { readJson } from '../../client/src/ids.ts'
import type { Scope } from '../../src/contract/scopes.ts'
import { createTestDatabase, sql } from '../support/database.ts'
import { NATS_VERSION, type NatsServer, startNatsServer } from '../support/nats-server.ts'
import { type Command, petstore, type Service, startPetstore, startService } from '../support/service.ts'
import { volume } from '../support/volume.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const RELAY = join(ROOT, 'examples/nats-relay/relay.ts')
const STREAM = 'petstore'
const EVENTS = volume(5_000, 100_000)
/** Written over HTTP while relays run. The others are there before. */
const LIVE_EVENTS = volume(2_000, 20_000)
const RELAY_KILLS = volume(4, 10)
const SERVER_KILLS = 2
const WRITERS = 16
/** The shortest window that JetStream allows: a relay must not depend on it. */
const SHORT_WINDOW_MS = 100

const DATABASE_URL = await createTestDatabase()
let nats: NatsServer
let service: Service
let apiKey: string

async function newApiKey(...scopes: Scope[]): Promise<string> {
  const args = ['api-keys', 'create', '--name', 'relay', '--scopes', scopes.join(',')]
  return (await petstore(args, { DATABASE_URL })).stdout.trim()
}

interface Message {
  subject: string
  msgID: string
  event: StoreEvent
}

/** The events of the whole feed, as messages. */
async function readFeed(): Promise<Message[]> {
  const messages: Message[] = []
  let path = '/v1/events?limit=1000'
  for (;;) {
    const response = await fetch(service.origin + path, { headers: { authorization: `Bearer ${apiKey}` } })
    const events = readJson(await response.text()) as StoreEvent[]
    if (events.length === 0) return messages
    for (const event of events) {
      messages.push({ subject: `petstore.${event.type}.${event.petId}`, msgID: event.position, event })
    }
    path = /<.*(\/v1\/.*)>/.exec(response.headers.get('link') ?? '')?.[1] ?? ''
  }
}

async function withNats<Result>(work: (connection: NatsConnection) => Promise<Result>): Promise<Result> {
  const connection = await connect({ servers: nats.url, reconnect: false })
  try {
    return await work(connection)
  } finally {
    await connection.close()
  }
}

function readStream(): Promise<Message[]> {
  return withNats(async (connection) => {
    const consumer = await jetstream(connection).consumers.get(STREAM)
    let { num_pending: left } = await consumer.info()
    const messages: Message[] = []
    while (left > 0) {
      for await (const message of await consumer.fetch({ max_messages: Math.min(left, 1_000) })) {
        const msgID = message.headers?.get('Nats-Msg-Id') ?? ''
        messages.push({ subject: message.subject, msgID, event: message.json<StoreEvent>() })
        left -= 1
      }
    }
    return messages
  })
}

/** The number of messages in the stream; 0 if it does not exist or nats-server is unreachable. */
async function countMessages(): Promise<number> {
  try {
    return await withNats(async (connection) => {
      const { streams } = await jetstreamManager(connection)
      return (await streams.info(STREAM)).state.messages
    })
  } catch {
    return 0
  }
}

async function untilMessages(count: number): Promise<void> {
  while ((await countMessages()) < count) await sleep(20)
}

async function recreateStream(changes: Partial<StreamConfig>): Promise<void> {
  await withNats(async (connection) => {
    const { streams } = await jetstreamManager(connection)
    await streams.delete(STREAM)
    await streams.add({ name: STREAM, subjects: ['petstore.>'], ...changes })
  })
}

function startRelay(environment: Record<string, string> = {}): Command {
  const relay = startPetstore(
    [],
    {
      PETSTORE_URL: service.origin,
      PETSTORE_API_KEY: apiKey,
      NATS_URL: nats.url,
      NATS_STREAM: STREAM,
      ...environment,
    },
    RELAY,
  )
  onTestFinished(() => relay.kill('SIGKILL'))
  return relay
}

/** Creates pets in SQL: one statement creates many. */
async function writeBacklog(events: number): Promise<void> {
  for (let written = 0; written < events; written += 500) {
    await sql(
      DATABASE_URL,
      `insert into pets (name, category_id) select 'Pet ' || id, 1 from generate_series(1, 500) id`,
    )
  }
}

/** Creates, changes and sells pets over HTTP. */
async function writeEvents(events: number): Promise<void> {
  const store = new Petstore({ baseUrl: `${service.origin}/v1`, apiKey })
  let written = 0
  const write = async () => {
    while (written < events) {
      written += 6
      const { id } = await store.pets.create({ name: 'Rex', categoryId: 1 })
      await store.pets.update(id, { name: 'Max' })
      const order = await store.orders.place({ petId: id })
      await store.orders.complete(order.id)
    }
  }
  await Promise.all(Array.from({ length: WRITERS }, write))
}

/** Runs two relays, and kills them and nats-server while the stream grows. Each third time, both relays are killed. */
async function causeFaults(relayKills: number, serverKills: number): Promise<Command[]> {
  const relays = [startRelay(), startRelay()]
  const faults = relayKills + serverKills
  const between = Math.floor(faults / (serverKills + 1))
  let killed = 0
  for (let fault = 1; fault <= faults; fault += 1) {
    await untilMessages((fault * EVENTS) / (faults + 1))
    if (killed < serverKills && fault % between === 0) {
      killed += 1
      await nats.killAndRestart()
      continue
    }
    for (const index of fault % 3 === 0 ? [0, 1] : [fault % 2]) {
      relays[index]?.kill('SIGKILL')
      relays[index] = startRelay()
    }
  }
  return relays
}

async function expectEqualFeed(): Promise<void> {
  const feed = await readFeed()
  expect(feed.length).toBeGreaterThanOrEqual(EVENTS)
  await expect.poll(countMessages).toBeGreaterThanOrEqual(feed.length)
  const stream = await readStream()
  // First the positions only: a difference is then easy to read.
  expect(stream.map(({ msgID }) => msgID)).toEqual(feed.map(({ msgID }) => msgID))
  expect(stream).toEqual(feed)
}

async function stopped(relay: Command): Promise<unknown> {
  relay.kill('SIGTERM')
  return (await relay.finished).code
}

describe.skipIf(NATS_VERSION === undefined)(`nats-server ${NATS_VERSION}`, () => {
  beforeAll(async () => {
    const folder = mkdtempSync(join(tmpdir(), 'petstore-relay-'))
    // Builds the client, which the relay imports.
    const pack = ['pack', '--workspace', 'client', '--pack-destination', folder]
    await promisify(execFile)('npm', pack, { cwd: ROOT })
    rmSync(folder, { recursive: true })
    apiKey = await newApiKey('pets:read', 'pets:write', 'orders:read', 'orders:write', 'events:read')
    service = await startService({ DATABASE_URL, LOG_LEVEL: 'error' })
    nats = await startNatsServer()
    // Vitest ignores an afterAll that is called inside a hook.
    return async () => {
      await service.stop()
      await nats.stop()
    }
  })

  test('the stream equals the feed after kills of two relays and of nats-server', async () => {
    await writeBacklog(EVENTS - LIVE_EVENTS)
    const startedAt = performance.now()
    const [relays] = await Promise.all([causeFaults(RELAY_KILLS, SERVER_KILLS), writeEvents(LIVE_EVENTS)])
    await expectEqualFeed()
    const seconds = (performance.now() - startedAt) / 1_000
    console.log(
      `${await countMessages()} events, ${RELAY_KILLS} faults of relays, ${SERVER_KILLS} of nats-server: ${seconds.toFixed(1)} s`,
    )
    expect(await Promise.all(relays.map(stopped))).toEqual([0, 0])
  })

  test('the stream equals the feed without the help of the duplicate window', async () => {
    await recreateStream({ duplicate_window: nanos(SHORT_WINDOW_MS) })
    const relays = await causeFaults(RELAY_KILLS, SERVER_KILLS)
    await expectEqualFeed()
    expect(await Promise.all(relays.map(stopped))).toEqual([0, 0])
  })

  test('a relay continues after a restart of nats-server when the duplicate window has passed', async () => {
    await sleep(2 * SHORT_WINDOW_MS)
    await nats.killAndRestart()
    const relay = startRelay()
    await writeEvents(6)
    await expectEqualFeed()
    expect(await stopped(relay)).toBe(0)
  })

  test('one relay fills a new stream', async () => {
    await recreateStream({})
    const feed = await readFeed()
    const relay = startRelay()
    await untilMessages(1)
    const [startedAt, first] = [performance.now(), await countMessages()]
    await untilMessages(feed.length)
    const seconds = (performance.now() - startedAt) / 1_000
    await expectEqualFeed()
    expect(await stopped(relay)).toBe(0)
    const retries = (await relay.finished).stderr.match(/Retrying/g)?.length ?? 0
    console.log(`${Math.round((feed.length - first) / seconds)} events/s, ${retries} retries`)
  })

  test('a relay with START_AFTER fills a new stream from that position', async () => {
    await recreateStream({})
    const feed = await readFeed()
    const relay = startRelay({ START_AFTER: feed.at(-3)?.msgID ?? '' })
    await untilMessages(2)
    expect(await readStream()).toEqual(feed.slice(-2))
    expect(await stopped(relay)).toBe(0)
  })

  test('a relay whose key is rejected exits with 1', async () => {
    const relay = startRelay({ PETSTORE_API_KEY: await newApiKey('pets:read') })
    const { code, stderr } = await relay.finished
    expect(stderr).toContain('Petstore rejected the request (403)')
    expect(code).toBe(1)
  })

  test('a relay whose position has expired says what to do and exits with 1', async () => {
    await sql(DATABASE_URL, 'truncate pets, orders, entries, pet_history')
    const { code, stderr } = await startRelay().finished
    expect(stderr).toContain(
      `The stream ${STREAM} cannot continue: delete it and start again from an export.`,
    )
    expect(code).toBe(1)
  })
})
