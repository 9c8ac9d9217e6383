// `node lab/bench/idle.ts`: measures how many transactions an idle service and deliverer run, and how long an event takes from
// the response to a create until it arrives on a stream. With --before, two checkouts are measured in turn.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { get } from 'node:http'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { Client } from 'pg'
import { print, say, table } from '../../src/cli/terminal/terminal.ts'
import { environmentWith } from '../../src/config/config.ts'
import { quantile } from '../parts/quantile.ts'
import { nodeFlags, type Server, startService, startStore, toServer, withRoleSettings } from './setup.ts'

const HELP = `node lab/bench/idle.ts [options]

  --before FOLDER   also measure the checkout in FOLDER
  --seconds S       length of each measurement (default 20)
  --rate R          creates per second while latencies are measured (default 200)
  --rounds N        rounds of latencies; each one measures every checkout (default 3)`

const { values: options } = parseArgs({
  options: {
    before: { type: 'string' },
    seconds: { type: 'string', default: '20' },
    rate: { type: 'string', default: '200' },
    rounds: { type: 'string', default: '3' },
    help: { type: 'boolean', default: false },
  },
})
const [seconds, rate, rounds] = [Number(options.seconds), Number(options.rate), Number(options.rounds)]
/** PostgreSQL reports the transactions of an idle connection up to ten seconds late. */
const SETTLED_AFTER_MS = 12_000
const OWN_CHECKOUT = join(import.meta.dirname, '../..')
/** Nothing listens there. The webhook gets no event, so nothing is sent. */
const RECEIVER_URL = 'http://127.0.0.1:9/'

interface Side {
  name: string
  service: Server
  apiKey: string
  transactions: () => Promise<number>
  close: () => Promise<void>
}

async function startDelivery(databaseUrl: string, checkout: string): Promise<Server> {
  const child = spawn(
    process.execPath,
    [...nodeFlags(checkout), join(checkout, 'bin/petstore.ts'), 'deliver'],
    {
      env: environmentWith({ DATABASE_URL: withRoleSettings(databaseUrl, checkout), ADMIN_PORT: '0' }),
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    },
  )
  await once(child, 'message')
  return toServer(child, '')
}

async function startSide(name: string, checkout: string): Promise<Side> {
  const store = await startStore(1, {
    checkout,
    scopes: ['pets:read', 'pets:write', 'events:read', 'webhooks:write'],
  })
  const service = await startService(store.databaseUrl, { checkout, webhookNetworks: '127.0.0.1' })
  const delivery = await startDelivery(store.databaseUrl, checkout)
  // Connects to another database, so that its own transactions do not count.
  const client = new Client(store.databaseUrl.replace(/\/postgres$/, '/template1'))
  await client.connect()
  return {
    name,
    service,
    apiKey: store.apiKey,
    transactions: async () => {
      const { rows } = await client.query<{ count: string }>(
        `select xact_commit + xact_rollback as count from pg_stat_database where datname = 'postgres'`,
      )
      return Number(rows[0]?.count)
    },
    close: async () => {
      await client.end()
      await Promise.all([service.stop(), delivery.stop()])
      await store.close()
    },
  }
}

/** Transactions per second of each side, at the same time. */
async function measureIdle(sides: readonly Side[]): Promise<string[]> {
  await sleep(SETTLED_AFTER_MS)
  const before = await Promise.all(sides.map(({ transactions }) => transactions()))
  const startedAt = performance.now()
  await sleep(seconds * 1_000)
  const after = await Promise.all(sides.map(({ transactions }) => transactions()))
  const elapsedSeconds = (performance.now() - startedAt) / 1_000
  return after.map((count, index) => ((count - (before[index] ?? 0)) / elapsedSeconds).toFixed(1))
}

/** Calls `onEvent` for each event of the stream. */
async function follow({ service, apiKey }: Side, onEvent: () => void): Promise<() => void> {
  const request = get(`${service.origin}/v1/events/stream?after=latest`, {
    agent: false,
    headers: { authorization: `Bearer ${apiKey}` },
  })
  request.on('error', () => {})
  const [response] = await once(request, 'response')
  response.setEncoding('utf8')
  response.on('data', (text: string) => {
    for (const _event of text.matchAll(/^event: /gm)) onEvent()
  })
  return () => request.destroy()
}

async function post({ service, apiKey }: Side, path: string, body: object): Promise<void> {
  const response = await fetch(`${service.origin}/v1${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  if (!response.ok) throw new Error(`${path} returned ${response.status}: ${await response.text()}`)
  await response.arrayBuffer()
}

/** Milliseconds from the response to each create until its event has arrived; 0 if the event was first. */
async function measureLatencies(side: Side): Promise<number[]> {
  const responses: number[] = []
  const arrivals: number[] = []
  const close = await follow(side, () => arrivals.push(performance.now()))
  const startedAt = performance.now()
  for (let index = 0; index < rate * seconds; index += 1) {
    const waitMs = startedAt + (index * 1_000) / rate - performance.now()
    if (waitMs > 1) await sleep(waitMs)
    await post(side, '/pets', { name: `Pet ${index}`, categoryId: 1 })
    responses.push(performance.now())
  }
  while (arrivals.length < responses.length) await sleep(10)
  close()
  return responses.map((at, index) => Math.max(0, (arrivals[index] ?? 0) - at))
}

if (options.help) {
  print(HELP)
  process.exit(0)
}
const checkouts: [string, string][] = [['after', OWN_CHECKOUT]]
if (options.before !== undefined) checkouts.unshift(['before', resolve(options.before)])
const sides: Side[] = []
for (const [name, checkout] of checkouts) sides.push(await startSide(name, checkout))
const rows: string[][] = [['transactions per second', ...sides.map(({ name }) => name)]]
/** Also prints each row at once, because the rest takes minutes. */
const report = (...row: string[]): void => {
  rows.push(row)
  say(row.join(' '))
}

report('idle', ...(await measureIdle(sides)))
const streams = await Promise.all(sides.map((side) => follow(side, () => {})))
report('with one stream', ...(await measureIdle(sides)))
for (const close of streams) close()
for (const side of sides) await post(side, '/webhooks', { url: RECEIVER_URL, types: ['pet.deleted'] })
report('with one webhook', ...(await measureIdle(sides)))

say(`${rate} creates per second …`)
const latencies = sides.map(() => [] as number[])
for (let round = 0; round < rounds; round += 1) {
  for (const [index, side] of sides.entries()) latencies[index]?.push(...(await measureLatencies(side)))
}
for (const part of [0.5, 0.99]) {
  const values = latencies.map((all) => `${quantile(all, part).toFixed(0)} ms`)
  report(`create to stream, p${part * 100}`, ...values)
}
for (const { close } of sides) await close()
print(table(rows))
