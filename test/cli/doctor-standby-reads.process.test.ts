// `petstore doctor` with DATABASE_READ_URL, on a primary and two real standbys.
import { expect, onTestFinished, test } from 'vitest'
import { runInProcess } from '../support/in-process.ts'
import { sql } from '../support/database.ts'
import { PGBOUNCER_VERSION, startPgBouncer } from '../support/pgbouncer.ts'
import { asDelivery, asSuperuser } from '../support/roles.ts'
import { startStandbyCluster, type StandbyNode } from '../support/standby-cluster.ts'
import { until } from '../support/until.ts'

const cluster = await startStandbyCluster()
const { primary, standbys, nodesUrl } = cluster
const [n2, n3] = standbys
const hostOf = ({ port }: { port: number }) => `127.0.0.1:${port}`
const QUORUM = `synchronous_standby_names = 'ANY 1 (n2,n3)'`

async function examine(DATABASE_READ_URL = nodesUrl, DATABASE_URL = primary.url) {
  const { stdout } = await runInProcess(['doctor', '--json'], { DATABASE_URL, DATABASE_READ_URL })
  const found = JSON.parse(stdout) as { check: string; state: string; message: string; remedy?: string }[]
  return found.find(({ check }) => check === 'standby reads')
}

/** A URL with these hosts, such as 127.0.0.1:5432. */
function urlOf(...hosts: string[]): string {
  return nodesUrl.replace([primary, n2, n3].map(hostOf).join(','), hosts.join(','))
}

const onServer = (node: StandbyNode, statement: string) => sql(asSuperuser(node.url), statement)

const UP_TO_DATE = {
  check: 'standby reads',
  state: 'ok',
  message: `2 of 2 standbys can serve reads; ${hostOf(primary)}: primary, ${hostOf(n2)}: standby, ${hostOf(n3)}: standby; ${QUORUM}`,
}
/** A busy host can replay late. */
const untilUpToDate = () => expect.poll(() => examine(), { timeout: 60_000 }).toEqual(UP_TO_DATE)

test('two standbys of the quorum that are up to date: ok', async () => {
  await untilUpToDate()
})

test('no check without the setting, and for a role that serves no reads', async () => {
  expect(await examine('')).toBeUndefined()
  expect(await examine(nodesUrl, asDelivery(primary.url))).toBeUndefined()
})

test.each([
  ['', 'synchronous_mode: quorum'],
  ['ANY 1 (n2)', 'Patroni names a standby while it is connected'],
  ['ANY 1 (n2,n3,n4)', 'list every node in DATABASE_READ_URL'],
  ['FIRST 1 (n2,n3)', 'ANY 1 (…)'],
])("synchronous_standby_names '%s' is not a quorum of both standbys", async (names, remedy) => {
  await cluster.setQuorum(names)
  expect(await examine()).toMatchObject({
    state: 'warning',
    message: expect.stringMatching(
      /^0 of 2 standbys can serve reads; .*, which is not a quorum of 2 standbys$/,
    ),
    remedy: expect.stringContaining(remedy),
  })
  await cluster.setQuorum('ANY 1 (n2,n3)')
})

test('a node that is missing in the list: the standbys are more than the quorum allows', async () => {
  expect(await examine(urlOf(hostOf(n2), hostOf(n3)))).toMatchObject({
    state: 'warning',
    message: expect.stringContaining('the primary is not in the list'),
    remedy: expect.stringContaining('List every node in DATABASE_READ_URL, the primary too.'),
  })
})

test('two hosts that lead to one server', async () => {
  const twice = urlOf(hostOf(primary), hostOf(n2), `localhost:${n2.port}`)
  expect(await examine(twice)).toMatchObject({
    state: 'warning',
    message: expect.stringContaining(`${hostOf(n2)} and localhost:${n2.port} are one server`),
    remedy: expect.stringContaining('without a load balancer'),
  })
})

test('a standby that has replayed less than the primary has flushed: how many bytes it is behind', async () => {
  await onServer(n2, 'select pg_wal_replay_pause()')
  const isPaused = `select from (select pg_get_wal_replay_pause_state() as state) now where state = 'paused'`
  await until(async () => (await onServer(n2, isPaused)).length === 1)
  await onServer(primary, `select pg_logical_emit_message(true, 'test', repeat('x', 100000))`)
  expect(await examine()).toMatchObject({
    state: 'warning',
    message: expect.stringMatching(
      new RegExp(
        `^1 of 2 standbys can serve reads; .*${hostOf(n2)}: standby, 10[0-9],[0-9]{3} bytes behind, `,
      ),
    ),
    remedy: expect.stringContaining('select pg_wal_replay_resume()'),
  })
  await onServer(n2, 'select pg_wal_replay_resume()')
  await untilUpToDate()
})

test.skipIf(PGBOUNCER_VERSION === undefined)('a standby behind a pooler', async () => {
  const pooler = new URL(await startPgBouncer(n2.url, { pool_mode: 'session' }))
  expect(await examine(urlOf(hostOf(primary), pooler.host, hostOf(n3)))).toMatchObject({
    state: 'warning',
    message: expect.stringMatching(
      new RegExp(`^1 of 2 standbys .*${pooler.host}: behind PgBouncer, or another pooler`),
    ),
    remedy: 'Set DATABASE_READ_URL to the hosts and ports of PostgreSQL itself.',
  })
})

test('a role that the standbys reject: the reason, and what to correct', async () => {
  const url = nodesUrl.replace('petstore_app', 'nobody')
  expect(await examine(url)).toMatchObject({
    state: 'warning',
    message: expect.stringMatching(/^0 of 2 standbys .*role "nobody" does not exist/),
    remedy: expect.stringContaining('the role and password in DATABASE_READ_URL'),
  })
})

test('a standby that receives nothing from the primary', async () => {
  const restart = async (follows: StandbyNode) => {
    await n3.server.stop()
    await cluster.start(n3, follows)
  }
  onTestFinished(async () => {
    await restart(primary)
    await cluster.connected()
  })
  await restart({ ...primary, port: 1 })
  expect(await examine()).toMatchObject({
    state: 'warning',
    message: expect.stringMatching(
      new RegExp(
        `^1 of 2 .*${hostOf(n3)}: standby(, [0-9,]+ bytes? behind)?, without a connection to the primary`,
      ),
    ),
    remedy: expect.stringContaining('primary_conninfo'),
  })
})

test('a promoted standby, and one that follows it', async () => {
  await cluster.setQuorum('')
  await n3.server.stop()
  await onServer(n2, 'select pg_promote()')
  await onServer(n2, `update primary_term set term = 'of another primary'`)
  await cluster.start(n3, n2)
  await until(async () => (await onServer(n3, `select from primary_term where term like 'of%'`)).length === 1)
  expect(await examine()).toMatchObject({
    state: 'warning',
    message: expect.stringContaining(
      `${hostOf(primary)}: primary, ${hostOf(n2)}: a primary, but not that of DATABASE_URL, ${hostOf(n3)}: standby of another primary`,
    ),
    remedy: expect.stringContaining('List only the nodes of one cluster'),
  })
})

test('a standby that is stopped: cannot be reached', async () => {
  await n3.server.stop()
  onTestFinished(() => cluster.start(n3, n2))
  expect(await examine()).toMatchObject({
    state: 'warning',
    message: expect.stringContaining(`${hostOf(n3)}: connect ECONNREFUSED`),
    remedy: expect.stringContaining('Start the nodes that cannot be reached.'),
  })
})
