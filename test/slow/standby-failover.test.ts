// After a failover, a standby is read only if it follows the new primary.
import { execFileSync } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { hostOf } from '../../src/config/database-url.ts'
import { sql } from '../support/database.ts'
import type { Pet } from '../support/pets.ts'
import { type StandbyNode, startStandbyCluster } from '../support/standby-cluster.ts'
import { openStandbyFixture } from '../support/standby-fixture.ts'
import { until } from '../support/until.ts'

/** Adds a pet without waiting for a standby, as a commit does whose wait is cut short by a crash. */
const addUnconfirmed = ({ url }: StandbyNode, name: string) =>
  sql(
    url,
    `with setting as materialized (select set_config('synchronous_commit', 'local', true))
      insert into pets (name, category_id) select $1, 1 from setting`,
    [name],
  )

const hasPet = async ({ url }: StandbyNode, name: string) =>
  (await sql(url, 'select from pets where name = $1', [name])).length > 0

const positionOf = async ({ url }: StandbyNode, text: string) =>
  (await sql<{ bytes: string }>(url, `select ${text} - '0/0'::pg_lsn as bytes`))[0]?.bytes

const namesOf = (body: unknown) => (body as Pet[]).map(({ name }) => name)

async function promote({ url }: StandbyNode): Promise<void> {
  await sql(url, 'select pg_promote()')
}

test('a standby that followed the lost primary further than the new primary is not read', async () => {
  const cluster = await startStandbyCluster(onTestFinished)
  const { primary: lost, standbys } = cluster
  const [next, other] = standbys
  await (await openStandbyFixture(cluster)).warmUp(standbys)

  await next.server.stop()
  await addUnconfirmed(lost, 'lost')
  await sql(lost.url, `select pg_logical_emit_message(false, 'test', repeat('x', 2_000_000))`)
  await cluster.setQuorum('')
  await until(() => hasPet(other, 'lost'))
  await lost.server.stop()

  // The host of the lost primary returns as a new copy.
  rmSync(lost.folder, { recursive: true })
  execFileSync('cp', ['-a', next.folder, lost.folder])
  await cluster.start(next, lost)
  await promote(next)
  await cluster.start(lost, next)
  await cluster.setQuorum('ANY 1 (n1,n3)', next)

  const { api, told, leftOut } = await openStandbyFixture(cluster, {
    databaseUrl: next.url,
    limits: { replayMs: 500 },
  })
  const { id } = await api.addPet({ name: 'new' })
  const [replayed, current] = await Promise.all([
    positionOf(other, 'pg_last_wal_replay_lsn()'),
    positionOf(next, 'pg_current_wal_flush_lsn()'),
  ])
  expect(Number(replayed)).toBeGreaterThan(Number(current))
  await until(async () => {
    expect((await api.get(`/pets/${id}`)).body).toMatchObject({ name: 'new' })
    expect(namesOf((await api.get('/pets')).body)).toEqual(['new'])
    return leftOut.includes(hostOf(other.url)) && told.includes(`read ${hostOf(lost.url)}`)
  })
  expect(told).not.toContain(`read ${hostOf(other.url)}`)
})

test('neither a promoted standby nor a demoted primary is read as a standby', async () => {
  const cluster = await startStandbyCluster(onTestFinished)
  const { primary, standbys } = cluster
  const [node, confirming] = standbys
  const hosts = (...nodes: StandbyNode[]) =>
    primary.url.replace(hostOf(primary.url), nodes.map(({ url }) => hostOf(url)).join())
  await cluster.setQuorum('ANY 1 (n2)')
  const urls = { databaseUrl: hosts(primary, node, confirming), nodesUrl: hosts(primary, node) }
  const [early, late] = [await openStandbyFixture(cluster, urls), await openStandbyFixture(cluster, urls)]
  for (const { warmUp } of [early, late]) await warmUp([node])

  await primary.server.stop()
  await confirming.server.stop()
  await promote(node)
  await cluster.start(confirming, node)
  await cluster.setQuorum('ANY 1 (n3)', node)
  expect((await early.api.get('/pets')).status).toBe(200)
  expect(early.told.slice(-2)).toEqual(['fallback failed', 'read primary'])
  await early.api.addPet({ name: 'confirmed' })
  await until(() => hasPet(confirming, 'confirmed'))

  // A read asks the node for its position while it is the primary, and continues when it is a standby.
  await late.db.read({ name: 'trust', text: 'select', values: [] })
  const held = late.holdPositions()
  const reading = late.api.get('/pets')
  await until(() => held.count() > 0)
  await confirming.server.stop()
  await addUnconfirmed(node, 'unconfirmed')
  await node.server.stop()
  writeFileSync(join(node.folder, 'standby.signal'), '')
  await cluster.start(node, confirming)
  expect(await hasPet(node, 'unconfirmed')).toBe(true)
  held.release()
  await cluster.start(confirming, primary)
  await promote(confirming)
  expect(namesOf((await reading).body)).toEqual(['confirmed'])
  expect(late.told.at(-1)).toBe('read primary')
})
