// A service under load, in its own process, whose connections to PostgreSQL fail at random.
import { setTimeout as sleep } from 'node:timers/promises'
import { onTestFinished } from 'vitest'
import { startProxy } from '../../../lab/parts/tcp-proxy.ts'
import { openTestClient } from '../../support/client.ts'
import { createTestDatabase, sql } from '../../support/database.ts'
import { auditFeed } from '../../support/feed-audit.ts'
import { petstore, type Service, startService } from '../../support/service.ts'
import { auditStore } from '../../support/store-audit.ts'
import { type Fault, faultyRelay, type Kind, KINDS, type Moment, MOMENTS } from '../../support/wire-faults.ts'
import { type Change, openBuyer, type Store } from './clients.ts'
import { workInTime } from '../late.ts'
import { seeded } from '../random.ts'
import { countFault, judgeEffects } from './tally.ts'

const CLIENTS = 12
const POOL_SIZE = 6
const CHANCE_OF_A_FAULT = 0.1
/** Each silence blocks creates for three seconds. */
const SILENCES_MAX = 3
const QUIET_WITHIN_MS = 120_000
const CONTESTED = 20
const CHANGED = 20

/** Faults that only PostgreSQL can cause, and the moment at which it does. */
const ONLY_MOMENT: Partial<Record<Kind, Moment>> = {
  warning: 'before the end of the response',
  shutdown: 'executed, no response yet',
}
/** All kinds except `idle timeout`, because the proxy does not know whether a transaction is open. */
const RANDOM_KINDS = KINDS.filter((kind) => kind !== 'idle timeout')

/** Runs the load until `faultsWanted` faults have happened. Returns what is wrong. */
export async function loadWithFaults(seed: number, faultsWanted: number): Promise<string[]> {
  const random = seeded(seed)
  const databaseUrl = await createTestDatabase()
  const pets = CONTESTED + CHANGED + faultsWanted
  const store = await stock(databaseUrl, pets)
  let injected = 0
  let silences = 0
  let isCalm = true

  const isEnough = () => injected >= faultsWanted

  function decide(): Fault | undefined {
    if (isCalm || isEnough() || !random.chance(CHANCE_OF_A_FAULT)) return undefined
    const kind = random.pick(RANDOM_KINDS)
    if (kind === 'silence' && silences === SILENCES_MAX) return undefined
    if (kind === 'silence') silences += 1
    return { kind, moment: ONLY_MOMENT[kind] ?? random.pick(MOMENTS) }
  }
  const onInjected = (fault: Fault, statement: string): void => {
    injected += 1
    countFault(fault, statement)
  }
  const proxy = await startProxy(databaseUrl, (link) => faultyRelay(link, { decide, onInjected }))
  onTestFinished(() => proxy.close())
  const service = await startService({
    DATABASE_URL: proxy.url,
    DATABASE_POOL_SIZE: String(POOL_SIZE),
    LOG_LEVEL: 'fatal',
  })
  const apiKey = await createKey(databaseUrl)
  const buyers = Array.from({ length: CLIENTS }, (_, index) =>
    openBuyer(openTestClient({ origin: service.origin, apiKey }), store, seeded(seed + index + 1)),
  )
  isCalm = false
  await Promise.all(
    buyers.map(async ({ act }) => {
      while (!isEnough()) await act()
      // One more action, without faults.
      isCalm = true
      await act()
    }),
  )

  const wrong = buyers.flatMap((buyer) => buyer.wrong)
  wrong.push(...(await leaks(service, () => proxy.clients())))
  const code = await service.stop()
  if (code !== 0) wrong.push(`the service ended with ${code}: ${service.log()}`)
  if (service.log() !== '') wrong.push(service.log())
  await proxy.settled()
  wrong.push(
    ...(await judgeAll(
      databaseUrl,
      pets,
      buyers.flatMap((buyer) => buyer.changes),
    )),
  )
  wrong.push(...(await auditStore(databaseUrl)), ...(await workInTime(() => auditFeed(databaseUrl))))
  return wrong
}

async function createKey(databaseUrl: string): Promise<string> {
  const scopes = 'pets:read,pets:write,orders:read,orders:write,admin'
  const args = ['api-keys', 'create', '--name', 'buyer', '--scopes', scopes]
  return (await petstore(args, { DATABASE_URL: databaseUrl })).stdout.trim()
}

async function stock(databaseUrl: string, count: number): Promise<Store> {
  const rows = await sql<{ id: string; name: string }>(
    databaseUrl,
    `insert into pets (name, category_id) select 'Pet ' || n, 1 + n % 5 from generate_series(1, $1::int) as n
      returning id, name`,
    [count],
  )
  const pets = rows.map(({ id, name }) => ({ id: Number(id), name }))
  const ids = pets.map(({ id }) => id)
  return {
    contested: ids.slice(0, CONTESTED),
    changed: ids.slice(CONTESTED, CONTESTED + CHANGED),
    mistaken: pets.slice(CONTESTED + CHANGED),
  }
}

/** Compares the outcomes of each change with how often its marker is in the database. */
async function judgeAll(databaseUrl: string, pets: number, changes: readonly Change[]): Promise<string[]> {
  const rows = await sql<{ token: string; count: string }>(
    databaseUrl,
    `select name as token, count(*) from pets group by name
    union all select name, count(*) from api_keys join actors on actors.id = actor_id group by name
    union all select reason, count(*) from pet_history where reason is not null group by reason
    union all select note, count(*) from orders where note is not null group by note
    union all select 'order ' || id || ' ' || status, 1 from orders
    union all select 'Pet ' || n || ' is deleted', 1 from generate_series(1, $1::int) as n
      where not exists (select from pets where name = 'Pet ' || n)`,
    [pets],
  )
  const stored = new Map(rows.map(({ token, count }) => [token, Number(count)]))
  return changes.flatMap(({ token, outcomes }) =>
    judgeEffects(outcomes, stored.get(token) ?? 0).map((what) => `${token}: ${what}`),
  )
}

/** Compares the connections in the metrics of the service with those open at the proxy. */
async function leaks({ adminOrigin }: Service, openAtProxy: () => number): Promise<string[]> {
  const giveUpAt = performance.now() + QUIET_WITHIN_MS
  for (;;) {
    const metrics = await (await fetch(`${adminOrigin}/metrics`)).text()
    const read = (state: string) =>
      Number(new RegExp(`petstore_database_connections{state="${state}"} (\\d+)`).exec(metrics)?.[1])
    const [total, idle, waiting] = [read('total'), read('idle'), read('waiting')]
    const open = openAtProxy()
    if (waiting === 0 && idle === total && total <= POOL_SIZE && open === total) return []
    if (performance.now() > giveUpAt) {
      return [`${total} connections, ${idle} idle, ${waiting} waiting, ${open} open at the proxy`]
    }
    await sleep(20)
  }
}
