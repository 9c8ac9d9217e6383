// `node lab/bench/sales.ts`: sells pets with the services of two checkouts and with the peer of peers/express-shop.ts, in turn.
// A life of a pet is a create and a hold, both with an Idempotency-Key, and a sale with a method.
import { fork } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { Client } from 'pg'
import { print, say, table } from '../../src/cli/terminal/terminal.ts'
import { environmentWith } from '../../src/config/config.ts'
import { median, quantile } from '../parts/quantile.ts'
import { type Server, startService, startStore, type Store, toServer, withRoleSettings } from './setup.ts'
import { usedBy, usedWithChildren } from './tools.ts'

const HELP = `node lab/bench/sales.ts [options]

  --before FOLDER   also measure the service of the checkout in FOLDER
  --clients LIST    numbers of concurrent clients (default 8,32,128)
  --seconds S       length of each measurement (default 5)
  --rounds R        number of rounds; each one measures every program (default 5)
  --pools LIST      pool sizes of the peer, each a program of its own (default 10,20,40)
  --contended N     instead, N clients want the same pet at once: 50 pets, one after the other

Prints sold pets per second, ratios to the peer (the best of its pools in the same round), and per sold pet the CPU time of
PostgreSQL and of the program, and the WAL. Example: node lab/bench/sales.ts --before ../petstore-main --clients 32`

const { values: options } = parseArgs({
  options: {
    before: { type: 'string' },
    clients: { type: 'string', default: '8,32,128' },
    seconds: { type: 'string', default: '5' },
    rounds: { type: 'string', default: '5' },
    pools: { type: 'string', default: '10,20,40' },
    contended: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
})
const PETS = 10_000
const CONTENDED_PETS = 50
const SCOPES = ['pets:read', 'pets:write', 'orders:read', 'orders:write'] as const
const [seconds, rounds] = [Number(options.seconds), Number(options.rounds)]
const clientCounts = options.clients.split(',').map(Number)

interface Target {
  name: string
  isPeer: boolean
  server: Server
  store: Store
  apiKey: string
}

interface Sample {
  perSecond: number
  /** Of a life; of a hold if the pets are contended. */
  p99Ms: number
  postgresMicros: number
  programMicros: number
  walBytes: number
}

interface Reply {
  status: number
  id: number
  text: string
}

interface Http {
  post: (path: string, body: object, key?: string) => Promise<Reply>
  close: () => void
}

function openHttp({ server, apiKey }: Target, sockets: number): Http {
  const agent = new Agent({ keepAlive: true, maxSockets: sockets })
  const { hostname, port } = new URL(server.origin)
  return {
    close: () => agent.destroy(),
    post: (path, body, key) =>
      new Promise((resolve, reject) => {
        const text = JSON.stringify(body)
        const headers: Record<string, string | number> = {
          authorization: `Bearer ${apiKey}`,
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(text),
          ...(key !== undefined && { 'idempotency-key': key }),
        }
        const sent = request({ hostname, port, path, method: 'POST', agent, headers }, (response) => {
          let received = ''
          response.setEncoding('utf8')
          response.on('data', (part: string) => (received += part))
          response.on('end', () => {
            const { id = 0 } = JSON.parse(received) as { id?: number }
            resolve({ status: response.statusCode ?? 0, id, text: received })
          })
        })
        sent.on('error', reject)
        sent.end(text)
      }),
  }
}

async function expectStatus(sending: Promise<Reply>, status: number): Promise<number> {
  const response = await sending
  if (response.status !== status)
    throw new Error(`${response.text}, status ${response.status} instead of ${status}`)
  return response.id
}

/** Creates, holds and sells one pet after the other. Returns the milliseconds of each life. */
async function sellPets({ post }: Http, untilMs: number): Promise<number[]> {
  const lives: number[] = []
  while (performance.now() < untilMs) {
    const startedAt = performance.now()
    const pet = { name: 'Rex the dog', categoryId: 1 + (lives.length % 20) }
    const petId = await expectStatus(post('/v1/pets', pet, randomUUID()), 201)
    const hold = { petId, price: '129.00' }
    const orderId = await expectStatus(post('/v1/store/orders', hold, randomUUID()), 201)
    await expectStatus(post(`/v1/store/orders/${orderId}/complete`, { method: 'card' }), 200)
    lives.push(performance.now() - startedAt)
  }
  return lives
}

/** All clients want the same pet at once. Returns the milliseconds of each hold. Throws unless exactly one gets the pet. */
async function contend({ post }: Http, clients: number): Promise<number[]> {
  const times: number[] = []
  for (let number = 0; number < CONTENDED_PETS; number += 1) {
    const petId = await expectStatus(post('/v1/pets', { name: 'Wanted', categoryId: 1 }), 201)
    const statuses = await Promise.all(
      Array.from({ length: clients }, async () => {
        const startedAt = performance.now()
        const { status } = await post('/v1/store/orders', { petId })
        times.push(performance.now() - startedAt)
        return status
      }),
    )
    const won = statuses.filter((status) => status === 201).length
    if (won !== 1 || statuses.some((status) => status !== 201 && status !== 409))
      throw new Error(`${won} clients got the pet: ${[...new Set(statuses)].join(', ')}`)
  }
  return times
}

async function sample(target: Target, clients: number, isContended: boolean): Promise<Sample> {
  const { store, server } = target
  const http = openHttp(target, clients)
  const database = new Client(store.databaseUrl)
  await database.connect()
  try {
    const walPosition = async () =>
      BigInt((await database.query(`select pg_current_wal_lsn() - '0/0' as at`)).rows[0].at)
    const used = () => ({
      postgres: usedWithChildren(store.postgresPid),
      program: usedBy(server.pid).cpuSeconds,
    })
    await database.query('checkpoint')
    const [walBefore, before] = [await walPosition(), used()]
    const startedAt = performance.now()
    const endsAt = startedAt + seconds * 1_000
    const times = isContended
      ? await contend(http, clients)
      : (await Promise.all(Array.from({ length: clients }, () => sellPets(http, endsAt)))).flat()
    const elapsed = (performance.now() - startedAt) / 1_000
    const [after, walAfter] = [used(), await walPosition()]
    return {
      perSecond: times.length / elapsed,
      p99Ms: quantile(times, 0.99),
      postgresMicros: ((after.postgres - before.postgres) / times.length) * 1e6,
      programMicros: ((after.program - before.program) / times.length) * 1e6,
      walBytes: Number(walAfter - walBefore) / times.length,
    }
  } finally {
    http.close()
    await database.end()
  }
}

async function startPeer(store: Store, poolSize: string): Promise<{ server: Server; apiKey: string }> {
  const database = new URL(withRoleSettings(store.databaseUrl))
  database.pathname = '/peer'
  const child = fork(join(import.meta.dirname, 'peers/express-shop.ts'), [database.href, poolSize], {
    env: environmentWith({ NODE_ENV: 'production' }),
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const exited = once(child, 'exit').then(() => {
    throw new Error('peers/express-shop.ts did not start')
  })
  const [{ origin, apiKey }] = (await Promise.race([once(child, 'message'), exited])) as [
    { origin: string; apiKey: string },
  ]
  return { server: toServer(child, origin), apiKey }
}

async function startTargets(stop: (() => Promise<void>)[]): Promise<Target[]> {
  const store = async (checkout?: string) => {
    const started = await startStore(PETS, { scopes: SCOPES, ...(checkout !== undefined && { checkout }) })
    stop.unshift(started.close)
    return started
  }
  const own = await store()
  const targets: Target[] = []
  const add = (target: Target) => {
    stop.unshift(target.server.stop)
    targets.push(target)
  }
  add({
    name: 'service',
    isPeer: false,
    server: await startService(own.databaseUrl),
    store: own,
    apiKey: own.apiKey,
  })
  if (options.before !== undefined) {
    // A PostgreSQL of its own: the schemas can differ.
    const other = await store(options.before)
    const server = await startService(other.databaseUrl, { checkout: options.before })
    add({ name: 'before', isPeer: false, server, store: other, apiKey: other.apiKey })
  }
  const client = new Client(own.databaseUrl)
  await client.connect()
  await client.query('create database peer')
  await client.end()
  for (const pool of options.pools.split(','))
    add({ name: `express ${pool}`, isPeer: true, ...(await startPeer(own, pool)), store: own })
  return targets
}

type Samples = Map<string, Sample>

function describe(targets: Target[], all: Samples[]): string {
  const bestPeer = (samples: Samples) =>
    Math.max(...targets.filter(({ isPeer }) => isPeer).map(({ name }) => samples.get(name)?.perSecond ?? 0))
  const rows = targets.map(({ name }) => {
    const of = (what: keyof Sample) => median(all.map((samples) => samples.get(name)?.[what] ?? Number.NaN))
    const ratios = all.map((samples) => (samples.get(name)?.perSecond ?? Number.NaN) / bestPeer(samples))
    return [
      name,
      of('perSecond').toFixed(0),
      `${median(ratios).toFixed(2)} (${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)})`,
      of('p99Ms').toFixed(1),
      of('postgresMicros').toFixed(0),
      of('programMicros').toFixed(0),
      of('walBytes').toFixed(0),
    ]
  })
  const heads = ['program', 'per second', 'to the peer', 'p99 ms', 'PostgreSQL µs', 'program µs', 'WAL bytes']
  return table([heads, ...rows])
}

async function main(): Promise<void> {
  if (options.help) return print(HELP)
  const isContended = options.contended !== undefined
  const stop: (() => Promise<void>)[] = []
  try {
    const targets = await startTargets(stop)
    for (const clients of isContended ? [Number(options.contended)] : clientCounts) {
      const all: Samples[] = []
      for (let round = 0; round <= rounds; round += 1) {
        say(`${clients} clients: ${round === 0 ? 'warm-up' : `round ${round} of ${rounds}`}`)
        const samples: Samples = new Map()
        const order = round % 2 === 0 ? targets : targets.toReversed()
        for (const target of order) samples.set(target.name, await sample(target, clients, isContended))
        if (round > 0) all.push(samples)
      }
      print(`${clients} clients, medians of ${rounds} rounds of ${isContended ? 'holds' : 'lives'}`)
      print(describe(targets, all))
    }
  } finally {
    for (const close of stop) await close()
  }
}

await main()
