// Two processes respond to concurrent clients as if the operations ran one after another (linearizability).
import { afterAll, expect, test } from 'vitest'
import { startProxy } from '../../../lab/parts/tcp-proxy.ts'
import { openTestClient } from '../../support/client.ts'
import { createTestDatabase, sql } from '../../support/database.ts'
import { auditFeed } from '../../support/feed-audit.ts'
import { findContradiction } from '../../support/linearizability.ts'
import { retryWhileBusy } from '../../support/load.ts'
import { linkTo } from '../../support/pets.ts'
import { petstore, type Service, startService } from '../../support/service.ts'
import { auditStore, findSoldTwice } from '../../support/store-audit.ts'
import { recordFigures } from '../figures.ts'
import { countedLate, workInTime } from '../late.ts'
import { replayWith, SCALE, SEED } from '../seed.ts'
import { contradictEvents, readEvents } from './hot-events.ts'
import { type HotPet, keepPetsHot } from './hot-pets.ts'
import { type KeyRace, raceForKeys } from './key-races.ts'
import { describeOperation, specificationOf } from './pet.ts'

const FILE = 'test/proof/model/histories.test.ts'
const CLIENTS = 16
const OPERATIONS = Math.ceil(5_000 * SCALE)
const KEYS = Math.ceil(100 * SCALE)
const RACERS = 8
const LATE_MS = 2
const NAME = 'buyer'
const SCOPES = 'pets:read,pets:write,orders:read,orders:write,till:write,events:read'
const REPLAY = `seed ${SEED}; run with the same choices: ${replayWith(FILE)}`

const counted: Record<string, number> = {}
function count(more: Record<string, number>): void {
  for (const [what, number] of Object.entries(more)) counted[what] = (counted[what] ?? 0) + number
}
afterAll(() => {
  const figures = { ...counted, ...countedLate() }
  console.log(`histories, seed ${SEED}`, figures)
  recordFigures('histories', figures)
})

const environment = { DATABASE_URL: await createTestDatabase(), LOG_LEVEL: 'error' }
const made = await petstore(['api-keys', 'create', '--name', NAME, '--scopes', SCOPES], environment)
const apiKey = made.stdout.trim()
// One process has a slow connection to the database, so that its reads are slightly stale when they arrive. This exposes
// responses from a query that began before the request.
const delayed = await startProxy(environment.DATABASE_URL)
delayed.delayResponses(LATE_MS)
const services: Service[] = [
  await startService(environment),
  await startService({ ...environment, DATABASE_URL: delayed.url }),
]
afterAll(async () => {
  await Promise.all(services.map((service) => service.stop()))
  await delayed.close()
})
const origins = services.map(({ origin }) => origin)

test('the history of every pet is linearizable and no pet is sold twice (16 clients, two processes)', async () => {
  const pets = await keepPetsHot({
    origins,
    apiKey,
    clients: CLIENTS,
    operations: OPERATIONS,
    seed: SEED,
  })
  const known = pets.filter(({ isUnknown }) => !isUnknown)
  const operations = known.flatMap(({ history }) => history)
  const orders = pets.flatMap((pet) => pet.orders)
  const contradictions = known.flatMap((pet) => contradictionOf(pet) ?? [])
  const soldTwice = await findSoldTwice(environment.DATABASE_URL)
  const duplicates = countDuplicates(known.map(({ id }) => id)) + countDuplicates(orders)
  const left = known.filter(({ history }) => !history.some(({ output }) => output.status === 204))
  const listed = new Set(await listAllIds())
  const missing = left.filter(({ id }) => !listed.has(id))
  count({
    clients: CLIENTS,
    pets: pets.length,
    'pets with an unknown outcome, not checked': pets.length - known.length,
    'orders placed': orders.length,
    'operations checked': operations.length,
    'histories that are not linearizable': contradictions.length,
    'sold twice': soldTwice.length,
    'acknowledged pets missing from the list': missing.length,
    'duplicate ids': duplicates,
  })
  expect(contradictions, REPLAY).toEqual([])
  expect(soldTwice, REPLAY).toEqual([])
  expect(missing, REPLAY).toEqual([])
  expect(duplicates, REPLAY).toBe(0)
  // Clients replace an operation that the service rejected because the host is busy.
  expect(operations.length).toBeGreaterThan(OPERATIONS * 0.97)
  expect(await auditStore(environment.DATABASE_URL), REPLAY).toEqual([])
  expect(await audit(), REPLAY).toEqual([])
  const events = await readEvents(origins, apiKey)
  const wrongEvents = contradictEvents(pets, events, NAME)
  count({ 'events checked': events.length, 'requests with wrong events': wrongEvents.length })
  expect(wrongEvents, REPLAY).toEqual([])
})

const audit = () => workInTime(() => auditFeed(environment.DATABASE_URL))

/** The log lines about the requests for a pet. */
function loggedFor({ requests }: HotPet): string[] {
  const lines = services.flatMap((service) => service.log().split('\n'))
  return lines.filter(
    (line) => line !== '' && requests.has((JSON.parse(line) as { requestId: string }).requestId),
  )
}

function contradictionOf(pet: HotPet): string | undefined {
  const stuck = findContradiction(pet.history, specificationOf(pet, NAME))
  if (stuck === undefined) return undefined
  const before = stuck.longest.slice(-8).map(describeOperation)
  const none = stuck.candidates.map(describeOperation)
  return `pet ${pet.id}: after ${stuck.longest.length} of ${pet.history.length} operations, the last of them
${before.join('\n')}
none of these can be next:
${[...none, ...loggedFor(pet)].join('\n')}`
}

test('concurrent creates with one Idempotency-Key make one pet, which is listed at once (8 clients for each key)', async () => {
  const races = await raceForKeys(origins, apiKey, KEYS, RACERS)
  const rows = await sql<{ name: string; id: string }>(
    environment.DATABASE_URL,
    `select name, id from pets where name like 'key %'`,
  )
  const petsOf = Map.groupBy(rows, ({ name }) => name)
  const duplicated = races.filter(({ key }) => (petsOf.get(key)?.length ?? 0) > 1)
  const returned = races.map(({ ids }) => new Set(ids))
  const acknowledged = returned.flatMap((ids) => [...ids])
  const listed = await listAllIds()
  const missing = acknowledged.filter((id) => !listed.includes(id))
  const missedAtOnce = races.filter(({ isListed }) => !isListed)
  const duplicates = countDuplicates(acknowledged) + countDuplicates(listed)
  count({
    'Idempotency-Keys raced': races.length,
    'clients per key': RACERS,
    'keys with more than one pet': duplicated.length,
    'acknowledged pets missing from the list': missing.length + missedAtOnce.length,
    'duplicate ids': duplicates,
  })

  expect(
    races.flatMap(({ unexpected }) => unexpected),
    REPLAY,
  ).toEqual([])
  expect(duplicated, REPLAY).toEqual([])
  const isFirst = ({ firsts, unknown }: KeyRace) => firsts === 1 || (firsts === 0 && unknown > 0)
  expect(
    races.filter((race) => !isFirst(race)),
    REPLAY,
  ).toEqual([])
  expect(
    races.filter(({ ids }) => new Set(ids).size !== 1),
    REPLAY,
  ).toEqual([])
  expect(
    races.filter(({ ids, rejected }) => ids.length + rejected !== RACERS),
    REPLAY,
  ).toEqual([])
  expect(missing, REPLAY).toEqual([])
  expect(missedAtOnce, REPLAY).toEqual([])
  expect(duplicates, REPLAY).toBe(0)
  expect(acknowledged, REPLAY).toHaveLength(KEYS)
  expect(await audit(), REPLAY).toEqual([])
})

function countDuplicates(ids: readonly number[]): number {
  return ids.length - new Set(ids).size
}

async function listAllIds(): Promise<number[]> {
  const client = openTestClient({ origin: origins[0] ?? '', apiKey })
  const ids: number[] = []
  for (let path: string | undefined = '/v1/pets?limit=100'; path !== undefined; ) {
    const page: string = path
    const response = await retryWhileBusy(() => client.call('GET', page))
    ids.push(...(response.body as { id: number }[]).map(({ id }) => id))
    path = linkTo('next', response, client.origin)
  }
  return ids
}
