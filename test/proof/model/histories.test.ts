// What concurrent clients of two processes were answered could have happened one after another.
import { afterAll, expect, test } from 'vitest'
import { linkTo } from '../../contract/pets.ts'
import { openTestClient } from '../../support/client.ts'
import { createTestDatabase, sql } from '../../support/database.ts'
import { findContradiction } from '../../support/linearizability.ts'
import { responsesAfter, startProxy } from '../../support/proxy.ts'
import { petstore, type Service, startService } from '../../support/service.ts'
import { auditStore, findSoldTwice } from '../../support/store-audit.ts'
import { recordFigures } from '../figures.ts'
import { replayWith, SCALE, SEED } from '../seed.ts'
import { inWords, specificationOf } from './pet.ts'
import { type Animal, keepPetsHot } from './hot-pets.ts'
import { raceForKeys } from './key-races.ts'

const FILE = 'test/proof/model/histories.test.ts'
const CLIENTS = 16
const OPERATIONS = Math.ceil(30_200 * SCALE)
const KEYS = Math.ceil(500 * SCALE)
const RACERS = 8
const LATE_MS = 2
const NAME = 'buyer'
const SCOPES = 'pets:read,pets:write,orders:read,orders:write'
const AGAIN = `seed ${SEED}; another run with the same choices: ${replayWith(FILE)}`

const counted: Record<string, number> = {}
function count(more: Record<string, number>): void {
  for (const [what, number] of Object.entries(more)) counted[what] = (counted[what] ?? 0) + number
}
afterAll(() => {
  console.log(counted)
  recordFigures('histories', counted)
})

const environment = { DATABASE_URL: await createTestDatabase(), LOG_LEVEL: 'error' }
const made = await petstore(['api-keys', 'create', '--name', NAME, '--scopes', SCOPES], environment)
const apiKey = made.stdout.trim()
// One of them is some way from its database: what it reads is a little old when it arrives, which would show if a
// request were answered by a query that began before it.
const farAway = await startProxy(environment.DATABASE_URL, responsesAfter(LATE_MS))
const services: Service[] = [
  await startService(environment),
  await startService({ ...environment, DATABASE_URL: farAway.url }),
]
afterAll(async () => {
  await Promise.all(services.map((service) => service.stop()))
})
const origins = services.map(({ origin }) => origin)

test('16 clients on two processes: the history of every animal is linearizable, and none is sold twice', async () => {
  const pets = await keepPetsHot({
    origins,
    apiKey,
    clients: CLIENTS,
    operations: OPERATIONS,
    seed: SEED,
  })
  const operations = pets.flatMap(({ history }) => history)
  const orders = pets.flatMap((pet) => pet.orders)
  const contradictions = pets.flatMap((pet) => contradictionOf(pet) ?? [])
  const soldTwice = await findSoldTwice(environment.DATABASE_URL)
  const twice = repeated(pets.map(({ id }) => id)) + repeated(orders)
  const left = pets.filter(({ history }) => !history.some(({ output }) => output.status === 204))
  const listed = new Set(await listAllIds())
  const missing = left.filter(({ id }) => !listed.has(id))
  count({
    clients: CLIENTS,
    pets: pets.length,
    'orders placed': orders.length,
    'operations checked': operations.length,
    'histories that are not linearizable': contradictions.length,
    'sold twice': soldTwice.length,
    'acknowledged animals that the list misses': missing.length,
    'ids given twice': twice,
  })
  expect(contradictions, AGAIN).toEqual([])
  expect(soldTwice, AGAIN).toEqual([])
  expect(missing).toEqual([])
  expect(twice).toBe(0)
  // What a busy host had no time for was replaced by another operation.
  expect(operations.length).toBeGreaterThan(OPERATIONS * 0.97)
  expect(await auditStore(environment.DATABASE_URL)).toEqual([])
})

function contradictionOf(pet: Animal): string | undefined {
  const stuck = findContradiction(pet.history, specificationOf(pet, NAME))
  if (stuck === undefined) return undefined
  const before = stuck.longest.slice(-8).map(inWords)
  const none = stuck.candidates.map(inWords)
  return `animal ${pet.id}: after ${stuck.longest.length} of ${pet.history.length} operations, the last of them
${before.join('\n')}
none of these can be next:
${none.join('\n')}`
}

test('500 keys, 8 racers for each: one animal per key, in the list at once, and no id twice', async () => {
  const races = await raceForKeys(origins, apiKey, KEYS, RACERS)
  const rows = await sql<{ name: string; id: string }>(
    environment.DATABASE_URL,
    `select name, id from pets where name like 'key %'`,
  )
  const petsOf = Map.groupBy(rows, ({ name }) => name)
  const doubled = races.filter(({ key }) => (petsOf.get(key)?.length ?? 0) > 1)
  const told = races.map(({ ids }) => new Set(ids))
  const acknowledged = told.flatMap((ids) => [...ids])
  const listed = await listAllIds()
  const missing = acknowledged.filter((id) => !listed.includes(id))
  const missedAtOnce = races.filter(({ isListed }) => !isListed)
  const twice = repeated(acknowledged) + repeated(listed)
  count({
    'Idempotency-Keys raced for': races.length,
    'racers for each': RACERS,
    'second animals of a key': doubled.length,
    'acknowledged animals that the list misses': missing.length + missedAtOnce.length,
    'ids given twice': twice,
  })

  expect(races.flatMap(({ unexpected }) => unexpected)).toEqual([])
  expect(doubled).toEqual([])
  expect(races.filter(({ firsts }) => firsts !== 1)).toEqual([])
  expect(races.filter(({ ids }) => new Set(ids).size !== 1)).toEqual([])
  expect(races.filter(({ ids, rejected }) => ids.length + rejected !== RACERS)).toEqual([])
  expect(missing).toEqual([])
  expect(missedAtOnce).toEqual([])
  expect(twice).toBe(0)
  expect(acknowledged).toHaveLength(KEYS)
})

/** How many of them are not the first of their kind. */
function repeated(ids: readonly number[]): number {
  return ids.length - new Set(ids).size
}

async function listAllIds(): Promise<number[]> {
  const client = openTestClient({ origin: origins[0] ?? '', apiKey })
  const ids: number[] = []
  for (let path: string | undefined = '/v1/pets?limit=100'; path !== undefined; ) {
    const response = await client.call('GET', path)
    ids.push(...(response.body as { id: number }[]).map(({ id }) => id))
    path = linkTo('next', response, client.origin)
  }
  return ids
}
