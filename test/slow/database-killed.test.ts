// PostgreSQL is killed with SIGKILL under load, and restarted on the same data.
import { randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, expect, test } from 'vitest'
import { type ClusterOptions, embeddedBinaries, freePort, startCluster } from '../../src/data/demo/cluster.ts'
import { sql } from '../support/database.ts'
import { auditFeed } from '../support/feed-audit.ts'
import { CHECKS_FIGURES } from '../support/figures.ts'
import { runClients } from '../support/load.ts'
import { restartCluster } from '../support/restart-cluster.ts'
import { prepareDatabase } from '../support/roles.ts'
import { petstore, startService } from '../support/service.ts'
import { volume } from '../support/volume.ts'

const ROUNDS = volume(3, 5)
const CLIENTS = 16
/** Writes that are acknowledged before each kill. */
const WRITES = 300
const BACK_WITHIN_MS = 2_000

// PostgreSQL's default durability, with fsync and full-page writes: acknowledged writes must survive SIGKILL.
const options: ClusterOptions = {
  binaries: process.env['TEST_POSTGRES'] ?? embeddedBinaries(),
  dataFolder: `/var/tmp/petstore-test-${randomUUID()}`,
  port: await freePort(),
}
let cluster = await startCluster(options)
afterAll(async () => {
  await cluster.stop()
  rmSync(options.dataFolder, { recursive: true, force: true })
})

test(`no acknowledged write is lost or duplicated when PostgreSQL is killed ${ROUNDS} times under load`, async () => {
  const DATABASE_URL = await prepareDatabase(cluster.url('postgres'))
  const service = await startService({ DATABASE_URL, LOG_LEVEL: 'silent' })
  const { stdout } = await petstore(['api-keys', 'create', '--name', 'load'], { DATABASE_URL })
  const apiKey = stdout.trim()

  const acknowledged = new Map<string, number>()
  const sent = new Set<string>()
  const statuses = new Map<string, number>()
  let lastAcknowledgedAt = 0

  const stopping = new AbortController()
  const load = runClients({ ...service, apiKey }, CLIENTS, stopping.signal, async ({ send }, index) => {
    if (index % 4 === 3) {
      const listed = await send('GET', '/v1/pets?limit=3')
      count(listed.status, listed.body)
      return
    }
    // Half of the writers send an Idempotency-Key and retry until acknowledged; the others try once.
    const name = randomUUID()
    const headers = index % 2 === 0 ? { 'idempotency-key': name } : {}
    sent.add(name)
    for (;;) {
      const created = await send('POST', '/v1/pets', { name, categoryId: 1 }, headers)
      count(created.status, created.body)
      if (created.status === 201) {
        acknowledged.set(name, (created.body as { id: number }).id)
        lastAcknowledgedAt = Date.now()
      }
      if (created.status === 201 || index % 2 === 1) return
      await sleep(20)
    }
  })
  function count(status: number, body: unknown): void {
    const key = status < 400 ? String(status) : `${status} ${(body as { code: string }).code}`
    statuses.set(key, (statuses.get(key) ?? 0) + 1)
  }

  async function untilAcknowledged(writes: number): Promise<void> {
    const enough = acknowledged.size + writes
    await expect.poll(() => acknowledged.size).toBeGreaterThanOrEqual(enough)
  }
  const rejected = () =>
    [...statuses].reduce((sum, [key, times]) => (key.startsWith('503') ? sum + times : sum), 0)

  const gaps: number[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    await untilAcknowledged(WRITES)
    const before = rejected()
    process.kill(cluster.pid as number, 'SIGKILL')
    // The service notices the kill before PostgreSQL is back.
    await expect.poll(rejected).toBeGreaterThan(before)
    cluster = await restartCluster(options)
    const back = Date.now()
    await expect.poll(() => lastAcknowledgedAt, { interval: 10 }).toBeGreaterThanOrEqual(back)
    gaps.push(lastAcknowledgedAt - back)
  }
  await untilAcknowledged(WRITES)
  stopping.abort()
  await load

  const rows = await sql<{ id: string; name: string }>(DATABASE_URL, 'select id::text, name from pets')
  const byName = Map.groupBy(rows, (row) => row.name)
  const lost = [...acknowledged].filter(([name, id]) => byName.get(name)?.[0]?.id !== String(id))
  const duplicated = [...byName.values()].filter((same) => same.length > 1)
  const unexpected = rows.filter((row) => !sent.has(row.name))
  console.log({
    acknowledged: acknowledged.size,
    lost: lost.length,
    duplicated: duplicated.length,
    writesBackAfterMs: gaps,
    ...Object.fromEntries(statuses),
  })
  expect(lost).toEqual([])
  expect(duplicated).toEqual([])
  expect(unexpected).toEqual([])
  for (const key of statuses.keys()) expect(key).toMatch(/^(200|201|409 idempotency_key_in_use|503 \w+)$/)
  if (CHECKS_FIGURES) for (const gap of gaps) expect(gap).toBeLessThan(BACK_WITHIN_MS)
  expect(await service.stop()).toBe(0)
  expect(await auditFeed(DATABASE_URL)).toEqual([])
})
