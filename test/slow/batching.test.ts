// Batching is invisible to clients: reads are fresh, and writes are neither lost nor duplicated.
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { Db } from '../../src/db/database.ts'
import { type PetTable, openPetTable } from '../../src/store/pets/table.ts'
import { issueApiKey, startApp } from '../support/app.ts'
import { createTestDatabase, openTestDatabase, sql } from '../support/database.ts'
import { auditFeed } from '../support/feed-audit.ts'
import { openConnection } from '../support/load.ts'
import { petstore, startService } from '../support/service.ts'
import { watchReads } from '../support/stale-reads.ts'
import { volume } from '../support/volume.ts'

const CLIENTS = 16
const OPERATIONS = volume(4_000, 50_000)
const OPERATIONS_PLANTED = volume(2_000, 5_000)
const ROUNDS_MAX = 10
const CREATES = volume(2_000, 10_000)

test(`every read sees the writes acknowledged before it began (${OPERATIONS} operations, two processes)`, async () => {
  const DATABASE_URL = await createTestDatabase()
  const environment = { DATABASE_URL, LOG_LEVEL: 'error' }
  const { stdout } = await petstore(['api-keys', 'create', '--name', 'x'], environment)
  const services = [await startService(environment), await startService(environment)]
  const origins = services.map(({ origin }) => origin)
  const { operations, stale } = await watchReads(origins, stdout.trim(), CLIENTS, OPERATIONS)
  console.log(`${operations} operations, ${stale.length} stale reads`)
  expect(stale).toEqual([])
  await Promise.all(services.map((service) => service.stop()))
})

test('the same check finds stale reads if a request may join a query in flight', async () => {
  const db = openTestDatabase(await createTestDatabase())
  // Simulates a network that delays the response.
  const slow: Db = {
    ...db,
    read: async (statement) => {
      const rows = await db.read<never>(statement)
      await sleep(3)
      return rows
    },
  }
  const inFlight = new Map<string, Promise<never>>()
  const join = <Result>(key: string, work: () => Promise<Result>): Promise<Result> => {
    const found = inFlight.get(key) as Promise<Result> | undefined
    if (found !== undefined) return found
    const started = work().finally(() => inFlight.delete(key))
    inFlight.set(key, started as Promise<never>)
    return started
  }
  const { text } = await issueApiKey(db)
  const ours = openPetTable(slow, true, 1, () => {})
  const watch = async (planted: Partial<PetTable>, rounds: number) => {
    const { origin } = await startApp(slow, { petTable: { ...ours, ...planted } })
    const found: string[] = []
    for (let round = 0; round < rounds && found.length === 0; round += 1) {
      found.push(...(await watchReads([origin], text, CLIENTS, OPERATIONS_PLANTED)).stale)
    }
    return found
  }
  const staleBatches: Partial<PetTable> = {
    coalescePage: (_key, work) => work(),
    findPage: (page) =>
      join([...Object.values(page.filters), page.beforeId, page.max].join(' '), () => ours.findPage(page)),
  }
  const found = {
    ours: await watch({}, 2),
    lists: await watch({ coalescePage: join }, ROUNDS_MAX),
    pages: await watch(staleBatches, ROUNDS_MAX),
  }
  console.log(
    `${found.ours.length} stale reads; ${found.lists.length} and ${found.pages.length} when joining queries in flight`,
  )
  expect(found.ours).toEqual([])
  expect(found.lists.length).toBeGreaterThan(0)
  expect(found.pages.length).toBeGreaterThan(0)
})

test(`no create is lost or duplicated while connections are killed, and only 201 and 503 are returned (${CREATES} creates)`, async () => {
  const DATABASE_URL = await createTestDatabase()
  const environment = { DATABASE_URL, LOG_LEVEL: 'silent' }
  const { stdout } = await petstore(['api-keys', 'create', '--name', 'x'], environment)
  const service = await startService(environment)
  const acknowledged = new Map<string, number>()
  const statuses = new Map<number, number>()
  let left = CREATES
  let kills = 0
  const killing = new AbortController()
  const killer = (async () => {
    while (!killing.signal.aborted) {
      await sleep(200)
      const killed = await sql(
        DATABASE_URL,
        `select pg_terminate_backend(pid) from pg_stat_activity
          where application_name like 'petstore@%' and datname = current_database() order by random() limit 1`,
      )
      kills += killed.length
    }
  })()
  await Promise.all(
    Array.from({ length: 32 }, async (_, index) => {
      const { send, close } = openConnection({ origin: service.origin, apiKey: stdout.trim() })
      while (left > 0) {
        left -= 1
        const name = randomUUID()
        // Half of the clients send an Idempotency-Key and retry until they get a 201.
        const headers = index % 2 === 0 ? { 'idempotency-key': name } : {}
        for (let status = 0; status !== 201; ) {
          const created = await send('POST', '/v1/pets', { name, categoryId: 1 }, headers)
          status = created.status
          statuses.set(status, (statuses.get(status) ?? 0) + 1)
          if (status === 201) acknowledged.set(name, (created.body as { id: number }).id)
          else if (index % 2 === 1) break
        }
      }
      close()
    }),
  )
  killing.abort()
  await killer
  const rows = await sql<{ id: string; name: string }>(DATABASE_URL, 'select id::text, name from pets')
  const byName = Map.groupBy(rows, ({ name }) => name)
  const lost = [...acknowledged].filter(([name, id]) => byName.get(name)?.[0]?.id !== String(id))
  const duplicated = [...byName.values()].filter((same) => same.length > 1)
  console.log({
    kills,
    acknowledged: acknowledged.size,
    lost: lost.length,
    duplicated: duplicated.length,
    ...Object.fromEntries(statuses),
  })
  expect(lost).toEqual([])
  expect(duplicated).toEqual([])
  expect([...statuses.keys()].filter((status) => ![201, 503].includes(status))).toEqual([])
  expect(await service.stop()).toBe(0)
  expect(await auditFeed(DATABASE_URL)).toEqual([])
})
