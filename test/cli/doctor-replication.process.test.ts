// `petstore doctor` on a primary with a real standby.
import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { judgeReplication } from '../../src/cli/doctor/replication.ts'
import { type Cluster, embeddedBinaries, freePort, startCluster } from '../../src/data/demo/cluster.ts'
import { requiredStandbys } from '../../src/db/inspect/replication.ts'
import { sql } from '../support/database.ts'
import { runInProcess } from '../support/in-process.ts'
import { asSuperuser, prepareDatabase } from '../support/roles.ts'
import { until } from '../support/until.ts'

const binaries = process.env['TEST_POSTGRES'] ?? embeddedBinaries()
const folders = ['primary', 'standby'].map((name) => `/var/tmp/petstore-test-${randomUUID()}-${name}`)
const [primaryFolder = '', standbyFolder = ''] = folders
const running: Cluster[] = []
afterAll(async () => {
  await Promise.all(running.map((server) => server.stop()))
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

const WAITING_COMMITS = `select from pg_stat_activity where wait_event = 'SyncRep'`

async function start(dataFolder: string, port: number, settings: Record<string, string> = {}) {
  const cluster = await startCluster({ binaries, dataFolder, port, settings: { fsync: 'off', ...settings } })
  running.push(cluster)
  return cluster
}

async function examine(check: string, DATABASE_URL: string, ...options: string[]) {
  const { code, stdout } = await runInProcess(['doctor', '--json', ...options], { DATABASE_URL })
  const found = JSON.parse(stdout) as { check: string; state: string; message: string }[]
  return { code, ...found.find((finding) => finding.check === check) }
}

describe('a primary and a standby', () => {
  let databaseUrl = ''
  let standbyUrl = ''
  let standby: Cluster
  const replication = (url = databaseUrl) => examine('replication', url)

  beforeAll(async () => {
    const port = await freePort()
    const prepared = await start(primaryFolder, port)
    databaseUrl = await prepareDatabase(prepared.url('postgres'))
    await prepared.stop()
    execFileSync('cp', ['-a', primaryFolder, standbyFolder])
    await start(primaryFolder, port, { archive_mode: 'on' })
  })

  const countStandbys = async () => (await sql(databaseUrl, 'select from pg_stat_replication')).length

  async function configure(setting: string): Promise<void> {
    await sql(databaseUrl, `alter system set ${setting}`)
    await sql(databaseUrl, 'select pg_reload_conf()')
    const [name = '', value = ''] = setting.split(' = ')
    const isSet = async () =>
      (await sql<{ value: string }>(databaseUrl, `select current_setting('${name}') as value`))[0]?.value ===
      value.replaceAll("'", '')
    await until(isSet)
  }

  test('no standby: reports what a lost server loses', async () => {
    expect(await replication()).toEqual({
      code: 0,
      check: 'replication',
      state: 'ok',
      message: 'no standby: if the server is lost, all writes since the last backup are lost',
    })
  })

  test('WAL that cannot be archived is a fault until PostgreSQL has archived it', async () => {
    const archiving = () => examine('archiving', databaseUrl)
    const archiveWith = async (command: string, state: string) => {
      await configure(`archive_command = '${command}'`)
      await sql(databaseUrl, 'select pg_switch_wal()')
      await until(async () => (await archiving()).state === state)
    }
    expect(await archiving()).toMatchObject({ code: 0, message: 'PostgreSQL can archive WAL' })
    await archiveWith('false', 'fault')
    expect(await archiving()).toMatchObject({
      code: 1,
      message: expect.stringMatching(
        /^PostgreSQL cannot archive WAL; the last success was \d+ (?:second|minute)s? ago/,
      ),
      remedy: expect.stringContaining('never delete files in pg_wal'),
    })
    await archiveWith('true', 'ok')
  })

  test('synchronous_commit off: warns and names the statement that turns it on', async () => {
    const name = new URL(databaseUrl).pathname.slice(1)
    const settings = [
      ['alter role petstore_app', 'the role petstore_app'],
      [`alter database ${name}`, 'the connections of the service'],
      [`alter role petstore_app in database ${name}`, 'the role petstore_app'],
    ]
    for (const [statement = '', sessions] of settings) {
      await sql(databaseUrl, `${statement} set synchronous_commit = off`)
      expect(await replication()).toMatchObject({
        code: 0,
        state: 'warning',
        message: `synchronous_commit is off for ${sessions}: a crash can lose acknowledged writes`,
        remedy: `Run: ${statement} reset synchronous_commit`,
      })
      await sql(databaseUrl, `${statement} reset synchronous_commit`)
    }
    const options = encodeURIComponent('-c synchronous_commit=off')
    expect(await replication(`${databaseUrl}?options=${options}`)).toMatchObject({
      state: 'warning',
      remedy: 'Remove synchronous_commit from the options in DATABASE_URL.',
    })
  })

  test('synchronous standby not connected: a fault, because writes wait', async () => {
    await configure("synchronous_standby_names = 'ANY 1 (n2,n3)'")
    expect(await replication()).toMatchObject({
      code: 1,
      state: 'fault',
      message:
        "commits wait for 1 synchronous standby (synchronous_standby_names = 'ANY 1 (n2,n3)', synchronous_commit = on), but there are 0 connected standbys: writes fail with 503",
    })
    await configure("synchronous_standby_names = ''")
  })

  test('asynchronous standby: warns that a failover can lose writes', async () => {
    const { port, hostname } = new URL(databaseUrl)
    writeFileSync(join(standbyFolder, 'standby.signal'), '')
    standby = await start(standbyFolder, await freePort(), {
      primary_conninfo: `host=${hostname} port=${port} user=postgres application_name=n2`,
    })
    standbyUrl = Object.assign(new URL(databaseUrl), { port: String(standby.port) }).href
    await until(async () => (await countStandbys()) === 1)
    expect(await replication()).toMatchObject({
      code: 0,
      state: 'warning',
      message: 'commits do not wait for the 1 connected standby: a failover can lose acknowledged writes',
      remedy: expect.stringContaining('synchronous_mode: quorum and synchronous_mode_strict: true'),
    })
  })

  test('one synchronous standby: warns that writes stop without it', async () => {
    await configure("synchronous_standby_names = 'ANY 1 (n2,n3)'")
    const syncState = `select from pg_stat_replication where sync_state = 'quorum'`
    await until(async () => (await sql(databaseUrl, syncState)).length === 1)
    expect(await replication()).toMatchObject({
      code: 0,
      state: 'warning',
      message:
        "commits wait for 1 synchronous standby (synchronous_standby_names = 'ANY 1 (n2,n3)', synchronous_commit = on), and there is 1 connected standby: no spare, so writes stop if one more standby is lost",
      remedy: 'Start the standby that is missing, or add one. See "A standby is lost" in docs/runbook.md.',
    })
  })

  test('standby with another name: a fault for a role that can see it', async () => {
    await configure("synchronous_standby_names = 'n3'")
    const syncState = `select from pg_stat_replication where sync_state = 'async'`
    await until(async () => (await sql(databaseUrl, syncState)).length === 1)
    expect(await replication(asSuperuser(databaseUrl))).toMatchObject({
      code: 1,
      state: 'fault',
      message: expect.stringContaining('1 connected standby, of which 0 synchronous: writes fail with 503'),
    })
    await configure("synchronous_standby_names = 'n2'")
  })

  test('a frozen standby looks connected, but commits wait for it', async () => {
    const [receiver] = await sql<{ pid: number }>(standbyUrl, 'select pid from pg_stat_wal_receiver')
    process.kill(receiver?.pid as number, 'SIGSTOP')
    const service = new Client(databaseUrl)
    await service.connect()
    const insert = service.query(`insert into categories (id, name) values (1, 'birds')`)
    try {
      await until(async () => (await sql(databaseUrl, WAITING_COMMITS)).length === 1)
      expect(await replication()).toMatchObject({
        state: 'warning',
        message: expect.stringContaining('no spare'),
      })
      expect(await examine('waits', databaseUrl)).toMatchObject({
        code: 1,
        state: 'fault',
        message: '1 commit of the service waited longer than 1.5 s for a standby',
        remedy: expect.stringContaining('not frozen'),
      })
    } finally {
      process.kill(receiver?.pid as number, 'SIGCONT')
    }
    await insert
    await service.end()
    expect(await examine('waits', databaseUrl)).toMatchObject({ state: 'ok' })
  })

  test.each(['local', 'off'])('synchronous_commit %s despite a standby: a fault', async (value) => {
    await sql(databaseUrl, `alter role petstore_app set synchronous_commit = ${value}`)
    expect(await replication()).toMatchObject({
      code: 1,
      state: 'fault',
      message: `synchronous_commit is ${value} for the role petstore_app: a ${value === 'off' ? 'crash' : 'failover'} can lose acknowledged writes`,
      remedy: 'Run: alter role petstore_app reset synchronous_commit',
    })
    await sql(databaseUrl, 'alter role petstore_app reset synchronous_commit')
  })

  test('a standby itself: a fault that says to connect to the primary', async () => {
    expect(await examine('database', standbyUrl)).toMatchObject({
      code: 1,
      state: 'fault',
      message: 'DATABASE_URL connects to a standby, which is read-only',
      remedy: 'Set DATABASE_URL to the primary.',
    })
  })
})

test.each([
  [
    undefined,
    'the role petstore_app cannot see how many are synchronous; as a superuser, run: select application_name, sync_state from pg_stat_replication',
  ],
  [2, '2 synchronous'],
])('with a spare standby: ok, with what the role can see', (synchronous, seen) => {
  const [role, database, setBy, synchronousCommit] = ['petstore_app', 'petstore', 'default', 'on']
  const synchronousStandbyNames = 'ANY 1 (n2,n3)'
  const state = {
    role,
    database,
    setBy,
    synchronousCommit,
    synchronousStandbyNames,
    connected: 2,
    synchronous,
  }
  expect(judgeReplication(state)).toEqual({
    check: 'replication',
    state: 'ok',
    message: `commits wait for 1 synchronous standby (synchronous_standby_names = 'ANY 1 (n2,n3)', synchronous_commit = on), so a failover to one of these keeps acknowledged writes; 2 connected standbys, ${seen}`,
  })
})

test.each([
  ['', 0],
  ['n2', 1],
  ['*', 1],
  ['n2, n3', 1],
  ['2 (n2, n3)', 2],
  ['FIRST 2 (n2, n3, n4)', 2],
  ['any 3(*)', 3],
])('synchronous_standby_names "%s" requires %d standbys', (names, required) => {
  expect(requiredStandbys(names)).toBe(required)
})
