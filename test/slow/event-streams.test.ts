// Many streams of events on one process: their memory, how much they slow down lists, and how soon an event arrives.
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { issueApiKey } from '../support/app.ts'
import { createTestDatabase, openTestDatabase } from '../support/database.ts'
import { openStream } from '../support/event-stream.ts'
import { CHECKS_FIGURES } from '../support/figures.ts'
import { runClients } from '../support/load.ts'
import { asSuperuser } from '../support/roles.ts'
import { type Service, startService } from '../support/service.ts'
import { openStreams } from '../support/stream-readers.ts'
import { volume } from '../support/volume.ts'

const STREAMS = volume(300, 1_000)
const STREAMS_PER_KEY = 100
const ROUNDS = 5
const ROUND_MS = volume(1_000, 5_000)
const CLIENTS = 8
const EVENTS_PER_SECOND = 2
const EXTRA_BYTES_MAX = 50 * 1_024 * 1_024
/** Of the p99 on a quiet host, where two equal rounds differ by up to half, and of the median on any host. */
const P99_RATIO_MAX = 1.8
const MEDIAN_RATIO_MAX = 2
const LATENCY_MS_MAX = 400
const LATENCY_EVENTS = volume(600, 4_000)
const LATENCY_EVENTS_PER_SECOND = 200

const databaseUrl = await createTestDatabase()
const db = openTestDatabase(databaseUrl)

async function start(): Promise<Service> {
  const service = await startService({ DATABASE_URL: databaseUrl, LOG_LEVEL: 'error' })
  onTestFinished(async () => {
    service.kill('SIGKILL')
    await service.ended
  })
  return service
}

async function openSql(): Promise<Client> {
  const client = new Client(asSuperuser(databaseUrl))
  await client.connect()
  onTestFinished(() => client.end())
  return client
}

const quantile = (sorted: readonly number[], part: number) => sorted[Math.floor(sorted.length * part)] ?? 0

/** The resident memory of the service. */
function residentBytes({ pid }: Service): number {
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1_024
}

test(`${STREAMS} streams take little memory, and lists stay fast`, async () => {
  const service = await start()
  const keys = await Promise.all(
    Array.from({ length: Math.ceil(STREAMS / STREAMS_PER_KEY) }, () =>
      issueApiKey(db, { scopes: ['events:read', 'pets:read'] }),
    ),
  )
  const apiKeys = keys.map(({ text }) => text)
  const target = { origin: service.origin, apiKey: apiKeys[0] as string }
  const changes = await openSql()

  /** How long lists take in milliseconds, while a few changes are made. */
  async function measureLists(): Promise<{ median: number; p99: number }> {
    const times: number[] = []
    const until = AbortSignal.timeout(ROUND_MS)
    const addPet = () => changes.query(`insert into pets (name, category_id) values ('Ada', 1)`)
    await addPet()
    const changing = setInterval(() => void addPet(), 1_000 / EVENTS_PER_SECOND)
    await runClients(target, CLIENTS, until, async ({ send }) => {
      const { status, ms } = await send('GET', '/v1/pets?limit=5')
      expect(status).toBe(200)
      times.push(ms)
    })
    clearInterval(changing)
    times.sort((a, b) => a - b)
    return { median: quantile(times, 0.5), p99: quantile(times, 0.99) }
  }

  await measureLists()
  await measureLists()
  const ratios = { median: [] as number[], p99: [] as number[] }
  const extra: number[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    const before = residentBytes(service)
    const alone = await measureLists()
    const streams = await openStreams({
      origin: service.origin,
      count: STREAMS,
      apiKeys,
      perKey: STREAMS_PER_KEY,
    })
    const withStreams = await measureLists()
    extra.push(residentBytes(service) - before)
    await expect.poll(streams.events).toBeGreaterThanOrEqual(STREAMS)
    await streams.close()
    ratios.median.push(withStreams.median / alone.median)
    ratios.p99.push(withStreams.p99 / alone.p99)
    console.log({ alone, withStreams, extraMegabytes: (extra.at(-1) ?? 0) / 1e6 })
    await sleep(200)
  }
  const middle = (values: number[]) =>
    quantile(
      values.sort((a, b) => a - b),
      0.5,
    )
  expect(Math.max(...extra)).toBeLessThan(EXTRA_BYTES_MAX)
  expect(middle(ratios.median)).toBeLessThan(MEDIAN_RATIO_MAX)
  if (CHECKS_FIGURES) expect(middle(ratios.p99)).toBeLessThan(P99_RATIO_MAX)
})

test(`an event arrives soon after its commit, at ${LATENCY_EVENTS_PER_SECOND} events per second`, async () => {
  const service = await start()
  const { text: apiKey } = await issueApiKey(db, { scopes: ['events:read'] })
  const stream = await openStream({ origin: service.origin, apiKey, query: 'after=latest' })
  const changes = await openSql()
  const committedAt: number[] = []
  const latencies: number[] = []
  const startedAt = performance.now()
  for (let index = 0; index < LATENCY_EVENTS; index += 1) {
    await sleep(Math.max(0, startedAt + (index * 1_000) / LATENCY_EVENTS_PER_SECOND - performance.now()))
    await changes.query(`insert into pets (name, category_id) values ('Ada', 1)`)
    committedAt.push(performance.now())
    for (const now = performance.now(); latencies.length < stream.events.length; ) {
      latencies.push(now - (committedAt[latencies.length] as number))
    }
  }
  await expect.poll(() => stream.events.length).toBe(LATENCY_EVENTS)
  latencies.sort((a, b) => a - b)
  const [p50, p99] = [quantile(latencies, 0.5), quantile(latencies, 0.99)]
  console.log({ p50, p99 })
  if (CHECKS_FIGURES) expect(p99).toBeLessThan(LATENCY_MS_MAX)
  expect(await service.stop()).toBe(0)
  expect((await stream.ended).isClean).toBe(true)
})
