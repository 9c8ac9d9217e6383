// A commit whose wait for a standby is cancelled succeeds on this node alone: to the client it is unknown.
import { randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, expect, test } from 'vitest'
import { embeddedBinaries, freePort, startCluster } from '../../dev/cluster.ts'
import { ANSWER_TIMEOUT_MS } from '../../src/http/app.ts'
import { startApp } from '../support/app.ts'
import type { Answer } from '../support/client.ts'
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

const waiting = `from pg_stat_activity where wait_event = 'SyncRep'`

/** Creates until one waits for a standby: the setting takes effect some time after PostgreSQL was told. */
async function createUntilItWaits(): Promise<{ name: string; creating: Promise<Answer> }> {
  for (let tries = 1; ; tries += 1) {
    const name = `cancelled ${tries}`
    const creating = petstore.post('/pets', { name, categoryId: 1 })
    const isDone = () => Promise.race([creating.then(() => true), sleep(10, false)])
    while (!(await isDone())) {
      if ((await sql(databaseUrl, `select ${waiting}`)).length > 0) return { name, creating }
    }
    expect((await creating).status).toBe(201)
  }
}

test('cancelled while it waits for a standby, a create is 503 outcome_unknown although PostgreSQL said yes', async () => {
  expect((await petstore.post('/pets', { name: 'before', categoryId: 1 })).status).toBe(201)
  await standby('nobody')
  const { name, creating } = await createUntilItWaits()
  await sql(databaseUrl, `select pg_cancel_backend(pid) ${waiting}`)
  const answer = await creating
  expect(answer.status).toBe(503)
  expect(answer.body).toMatchObject({ code: 'outcome_unknown' })
  expect(await sql(databaseUrl, 'select count(*)::int from pets where name = $1', [name])).toEqual([
    { count: 1 },
  ])
})

test('without a standby a create is 503 outcome_unknown after three seconds; with one it works again', async () => {
  const started = performance.now()
  const answer = await petstore.post('/pets', { name: 'waiting', categoryId: 1 })
  expect(answer.body).toMatchObject({ code: 'outcome_unknown' })
  expect(performance.now() - started).toBeLessThan(ANSWER_TIMEOUT_MS - 1_000)
  await standby('')
  const create = async () => (await petstore.post('/pets', { name: 'after', categoryId: 1 })).status
  await expect.poll(create).toBe(201)
})
