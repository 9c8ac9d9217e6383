// A commit whose wait for a standby is cancelled succeeds on this node alone: to the client it is unknown.
import { randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, expect, test } from 'vitest'
import { embeddedBinaries, freePort, startCluster } from '../../dev/cluster.ts'
import { startApp } from '../support/app.ts'
import { openTestDatabase, sql } from '../support/database.ts'
import { prepareDatabase } from '../support/roles.ts'

const dataFolder = `/var/tmp/petstore-test-${randomUUID()}`
const cluster = await startCluster({
  binaries: process.env['TEST_POSTGRES'] ?? embeddedBinaries(),
  dataFolder,
  port: await freePort(),
})
afterAll(async () => {
  await cluster.stop()
  rmSync(dataFolder, { recursive: true, force: true })
})
const databaseUrl = await prepareDatabase(cluster.url('postgres'))
const petstore = await startApp(openTestDatabase(databaseUrl))

async function standby(name: string): Promise<void> {
  await sql(databaseUrl, `alter system set synchronous_standby_names = '${name}'`)
  await sql(databaseUrl, 'select pg_reload_conf()')
}

/** Cancels the commit that waits for a standby, as soon as there is one. */
async function cancelWaiting(): Promise<void> {
  const text = `select pg_cancel_backend(pid) from pg_stat_activity where wait_event = 'SyncRep'`
  while ((await sql(databaseUrl, text)).length === 0) await sleep(20)
}

test('cancelled while it waits for a standby, a create is 503 outcome_unknown although PostgreSQL said yes', async () => {
  expect((await petstore.post('/pets', { name: 'before', categoryId: 1 })).status).toBe(201)
  await standby('nobody')
  await sleep(200)
  const creating = petstore.post('/pets', { name: 'cancelled', categoryId: 1 })
  await cancelWaiting()
  const answer = await creating
  expect(answer.status).toBe(503)
  expect(answer.body).toMatchObject({ code: 'outcome_unknown' })
  expect(await sql(databaseUrl, `select count(*)::int from pets where name = 'cancelled'`)).toEqual([
    { count: 1 },
  ])
})

test('without a standby a create is 503 outcome_unknown after three seconds; with one it works again', async () => {
  const started = performance.now()
  const answer = await petstore.post('/pets', { name: 'waiting', categoryId: 1 })
  expect(answer.body).toMatchObject({ code: 'outcome_unknown' })
  expect(performance.now() - started).toBeLessThan(6_000)
  await standby('')
  await sleep(200)
  expect((await petstore.post('/pets', { name: 'after', categoryId: 1 })).status).toBe(201)
})
