// The results of restore checks: how they are recorded, listed, reported by `petstore doctor` and exposed as metrics.
import { expect, test } from 'vitest'
import { deleteOldRestoreChecks } from '../../src/data/verify/restore-check-queries.ts'
import { createTestDatabase, openTestDatabase, sql } from '../support/database.ts'
import { runInProcess } from '../support/in-process.ts'
import { asDelivery, asVerifier } from '../support/roles.ts'
import { startService } from '../support/service.ts'

const UNREACHABLE = 'postgres://petstore_verify@127.0.0.1:1/none'
const LABEL = '20261116-030001F'

/** A restored database, and the store in which its check is recorded. */
async function openDatabases() {
  const store = await createTestDatabase()
  const restored = await createTestDatabase()
  const record = (args: string[] = [], environment: Record<string, string> = {}) =>
    runInProcess(['verify', '--record', LABEL, ...args], {
      DATABASE_URL: asVerifier(restored),
      RECORD_DATABASE_URL: asVerifier(store),
      ...environment,
    })
  const recorded = () => sql(store, 'select * from restore_checks order by id')
  return { store, restored, record, recorded }
}

const addCheck = (url: string, isProven: boolean, age: string, message = 'x', repository = 1) =>
  sql(
    url,
    `insert into restore_checks (checked_at, repository, is_proven, duration_ms, message)
      values (now() - $1::interval, $2, $3, 1000, $4)`,
    [age, repository, isProven, message],
  )

async function restoresOf(DATABASE_URL: string) {
  const { stdout, code } = await runInProcess(['doctor', '--json'], { DATABASE_URL })
  const findings = JSON.parse(stdout) as { check: string; state: string; message: string; remedy?: string }[]
  return { code, ...findings.find(({ check }) => check === 'restores') }
}

test('verify --record records a database without faults as proven, with its newest change and the duration', async () => {
  const { restored, record, recorded } = await openDatabases()
  await sql(restored, `insert into pets (name, category_id) values ('Rex', 1)`)
  await sql(restored, `update outbox set at = '2026-11-16T02:03:04Z'`)
  const hourAgo = new Date(Date.now() - 3_600_000).toISOString()
  const { code, stderr } = await record(['--started-at', hourAgo])
  expect(stderr).toContain('Recorded the result.')
  expect(code).toBe(0)
  const [check, ...others] = await recorded()
  expect(others).toEqual([])
  expect(check).toMatchObject({
    repository: 1,
    backup: LABEL,
    recovered_to: new Date('2026-11-16T02:03:04Z'),
    is_proven: true,
    message: '13 checks done',
  })
  expect(Number(check?.['duration_ms'])).toBeGreaterThanOrEqual(3_600_000)
  expect(Number(check?.['duration_ms'])).toBeLessThanOrEqual(Date.now() - Date.parse(hourAgo))
})

test('verify --record records a database with faults as failed, with the faults', async () => {
  const { restored, record, recorded } = await openDatabases()
  await sql(restored, 'drop index pets_by_status')
  expect((await record()).code).toBe(1)
  expect(await recorded()).toMatchObject([
    { backup: LABEL, is_proven: false, message: expect.stringContaining('pets_by_status') },
  ])
})

test('verify --record records a failure if it cannot connect to the restored database', async () => {
  const { record, recorded } = await openDatabases()
  expect((await record([], { DATABASE_URL: UNREACHABLE })).code).toBe(1)
  expect(await recorded()).toMatchObject([
    { is_proven: false, recovered_to: null, message: expect.stringContaining('cannot verify') },
  ])
})

test('verify --record fails if the result cannot be recorded, and before the checks if it has no database to record in', async () => {
  const { record } = await openDatabases()
  expect(await record([], { RECORD_DATABASE_URL: UNREACHABLE })).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(
      'Cannot record the result in the database of the store: connect ECONNREFUSED',
    ),
  })
  expect(await record([], { RECORD_DATABASE_URL: '' })).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringContaining('RECORD_DATABASE_URL is not set'),
  })
})

test('restore-checks record-failure records a restore that failed, and list shows the newest results first', async () => {
  const store = await createTestDatabase()
  const DATABASE_URL = asVerifier(store)
  await addCheck(store, true, '1 day')
  const message = `the disk is full\n\u001b[31m${'x'.repeat(2_000)}`
  const place = ['--repository', '2', '--backup', LABEL]
  const args = ['restore-checks', 'record-failure', ...place, '--message', message]
  expect((await runInProcess(args, { DATABASE_URL })).code).toBe(0)
  const { stdout } = await runInProcess(['restore-checks', 'list', '--json'], { DATABASE_URL: store })
  expect(JSON.parse(stdout)).toMatchObject([
    { repository: 2, backup: LABEL, isProven: false, recoveredTo: null },
    { repository: 1, backup: null, isProven: true, durationMs: 1_000 },
  ])
  const [newest] = JSON.parse(stdout) as { message: string }[]
  expect(newest?.message).toHaveLength(1_000)
  expect(newest?.message).toContain('the disk is full\\n\\u001b[31mxxx')
  const text = await runInProcess(['restore-checks', 'list', '--limit', '1'], { DATABASE_URL: store })
  expect(text.stdout).toMatch(/^CHECKED .*\n\S+ \S+ +failed +2 +20261116-030001F .*the disk is full.*\n$/)
})

test('restore-checks rejects a label and a time that no backup has', async () => {
  const run = (...args: string[]) =>
    runInProcess(['restore-checks', 'record-failure', '--message', 'x', ...args])
  expect((await run('--backup', 'a b')).stderr).toContain('A label has 1 to 100 letters')
  expect((await run('--started-at', '2999-01-01T00:00:00Z')).stderr).toContain('Use a time in the past')
  expect((await run('--started-at', 'yesterday')).stderr).toContain('Use a time in the past')
})

test('doctor warns if no backup was ever restored, and reports the age of the last proven restore', async () => {
  const store = await createTestDatabase()
  expect(await restoresOf(store)).toMatchObject({
    code: expect.any(Number),
    state: 'warning',
    message: 'no backup was ever restored and verified',
    remedy: expect.stringContaining('petstore-restore-check.timer'),
  })
  await addCheck(store, true, '71 hours')
  expect(await restoresOf(store)).toMatchObject({
    state: 'ok',
    message: 'a backup was last restored and verified 2 days ago',
  })
})

test('doctor warns if the last proven restore is older than 3 days, or if the newest check failed', async () => {
  const store = await createTestDatabase()
  await addCheck(store, true, '73 hours')
  expect(await restoresOf(store)).toMatchObject({
    state: 'warning',
    message: 'a backup was last restored and verified 3 days ago',
    remedy: expect.stringContaining('systemctl list-timers petstore-restore-check.timer'),
  })
  await addCheck(store, true, '5 hours')
  await addCheck(store, false, '1 hour', 'no space left')
  expect(await restoresOf(store)).toMatchObject({
    state: 'warning',
    message: 'the newest check failed: no space left; a backup was last restored and verified 5 hours ago',
    remedy: expect.stringContaining('journalctl'),
  })
})

test('a proven backup in one place does not hide that the check of the other place failed, until it is proven', async () => {
  const store = await createTestDatabase()
  const found = () => restoresOf(store)
  await addCheck(store, false, '10 minutes', 'repository 1: damaged', 1)
  await addCheck(store, true, '5 minutes', 'x', 2)
  const proven = 'a backup was last restored and verified 5 minutes ago'
  expect(await found()).toMatchObject({
    state: 'warning',
    message: `the newest check failed: repository 1: damaged; ${proven}`,
  })
  await addCheck(store, false, '0', 'repository 2: not mounted', 2)
  const both = 'repository 1: damaged; repository 2: not mounted'
  expect(await found()).toMatchObject({ message: `the newest check failed: ${both}; ${proven}` })
  await addCheck(store, true, '0', 'x', 1)
  await addCheck(store, true, '0', 'x', 2)
  expect(await found()).toMatchObject({ state: 'ok' })
})

test('a place that is no longer checked is forgotten after 3 days', async () => {
  const store = await createTestDatabase()
  await addCheck(store, false, '74 hours', 'repository 2: not mounted', 2)
  await addCheck(store, true, '1 hour')
  expect(await restoresOf(store)).toMatchObject({ state: 'ok' })
})

test('doctor skips the check for the role of petstore deliver, which cannot read the results', async () => {
  const { state } = await restoresOf(asDelivery(await createTestDatabase()))
  expect(state).toBeUndefined()
})

test('the service exposes the time of the last proven restore, and whether the newest check failed', async () => {
  const metricsWith = async (fill: (url: string) => Promise<unknown>) => {
    const DATABASE_URL = await createTestDatabase()
    await fill(DATABASE_URL)
    const service = await startService({ DATABASE_URL, LOG_LEVEL: 'error' })
    const read = async () => {
      const text = await (await fetch(`${service.adminOrigin}/metrics`)).text()
      const valueOf = (name: string) => new RegExp(`^${name} (.*)$`, 'm').exec(text)?.[1]
      return {
        proven: valueOf('petstore_restore_proven_timestamp_seconds'),
        failed: valueOf('petstore_restore_check_failed'),
      }
    }
    await expect.poll(async () => (await read()).proven).toBeDefined()
    const metrics = await read()
    await service.stop()
    return metrics
  }
  // An alert on the age also fires if no backup was ever proven.
  expect(await metricsWith(async () => {})).toEqual({ proven: '0', failed: '0' })
  const secondsBefore = Date.now() / 1_000
  const { proven, failed } = await metricsWith(async (url) => {
    await addCheck(url, true, '1 hour')
    await addCheck(url, false, '1 minute')
  })
  expect(Number(proven) + 3_600).toBeGreaterThanOrEqual(Math.floor(secondsBefore))
  expect(Number(proven) + 3_600).toBeLessThanOrEqual(Math.ceil(Date.now() / 1_000))
  expect(failed).toBe('1')
})

test('the service keeps the newest results', async () => {
  const store = await createTestDatabase()
  const db = openTestDatabase(store)
  for (const message of ['a', 'b', 'c']) await addCheck(store, true, '1 hour', message)
  await deleteOldRestoreChecks(db, 5)
  expect(await sql(store, 'select from restore_checks')).toHaveLength(3)
  await deleteOldRestoreChecks(db, 2)
  expect(await sql(store, 'select message from restore_checks order by id')).toEqual([
    { message: 'b' },
    { message: 'c' },
  ])
})
