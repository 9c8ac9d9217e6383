// The health report: what the database shows, and what timers reported with `petstore report`.
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { makeCertificate } from '../../lab/parts/certificate.ts'
import { openApiFixture } from '../support/api-fixture.ts'
import { runInProcess } from '../support/in-process.ts'
import { asVerifier } from '../support/roles.ts'

const { get, sql, databaseUrl } = await openApiFixture()
const folder = mkdtempSync(join(tmpdir(), 'petstore-health-'))

interface Check {
  name: string
  state: string
  at?: string
  note?: string
  usedBytes?: number
  totalBytes?: number
}

async function read() {
  const { status, body } = await get('/health-report')
  expect(status).toBe(200)
  return body as { version: string; database: { version: string; sizeBytes: number }; checks: Check[] }
}
const checkOf = async (name: string) => (await read()).checks.find((check) => check.name === name)
const report = (...args: string[]) =>
  runInProcess(['report', ...args], { DATABASE_URL: asVerifier(databaseUrl) })
const hoursAgo = (hours: number) => new Date(Date.now() - hours * 3_600_000).toISOString()
/** As if the report had been made earlier. */
const age = (name: string, hours: number) =>
  sql(`update health_reports set reported_at = $2 where name = $1`, [name, hoursAgo(hours)])

beforeEach(() => sql('truncate health_reports, restore_checks'))

test('says unknown of what nobody has reported, and leaves out what does not apply', async () => {
  const { version, database, checks } = await read()
  expect(version).toMatch(/^\d+\.\d+\.\d+/)
  expect(database.version).toMatch(/^\d+\.\d+$/)
  expect(database.sizeBytes).toBeGreaterThan(1_000_000)
  expect(checks).toEqual([
    { name: 'backup', state: 'unknown' },
    { name: 'secondPlace', state: 'unknown' },
    { name: 'restore', state: 'unknown' },
    { name: 'disk', state: 'unknown' },
    { name: 'certificate', state: 'unknown' },
    { name: 'events', state: 'ok' },
    { name: 'holds', state: 'ok' },
  ])
})

test('a backup needs attention two days after the newest one', async () => {
  expect((await report('backup', '--note', 'on the backup host')).code).toBe(0)
  expect(await checkOf('backup')).toMatchObject({ state: 'ok', note: 'on the backup host' })
  const at = hoursAgo(47)
  await report('backup', '--at', at)
  const check = await checkOf('backup')
  expect(check).toMatchObject({ state: 'ok', at })
  expect(check).not.toHaveProperty('note')
  await report('backup', '--at', hoursAgo(49))
  expect(await checkOf('backup')).toMatchObject({ state: 'attention' })
  expect(await checkOf('secondPlace')).toEqual({ name: 'secondPlace', state: 'unknown' })
  await report('second-place', '--at', hoursAgo(49))
  expect(await checkOf('secondPlace')).toMatchObject({ state: 'attention' })
})

test('a disk needs attention when it is nearly full, and is unknown when no report is new', async () => {
  expect((await report('disk', '--folder', folder)).code).toBe(0)
  const disk = await checkOf('disk')
  expect(disk).toMatchObject({ note: folder })
  expect(disk?.totalBytes).toBeGreaterThan(0)
  expect(disk?.usedBytes).toBeLessThanOrEqual(disk?.totalBytes ?? 0)
  await sql(`update health_reports set used_bytes = 85, total_bytes = 100`)
  expect(await checkOf('disk')).toMatchObject({ state: 'ok' })
  await sql(`update health_reports set used_bytes = 86`)
  expect(await checkOf('disk')).toMatchObject({ state: 'attention', usedBytes: 86, totalBytes: 100 })
  await age('disk', 73)
  expect(await checkOf('disk')).toMatchObject({ state: 'unknown', usedBytes: 86 })
})

test('a certificate needs attention when it is about to expire', async () => {
  const file = join(folder, 'certificate.pem')
  writeFileSync(file, makeCertificate(['DNS:shop.example']).cert)
  expect((await report('certificate', '--file', file, '--note', 'shop.example')).code).toBe(0)
  const certificate = await checkOf('certificate')
  expect(certificate).toMatchObject({ note: 'shop.example' })
  expect(Date.parse(certificate?.at ?? '')).toBeGreaterThan(Date.now())
  await sql(`update health_reports set at = now() + interval '11 days'`)
  expect(await checkOf('certificate')).toMatchObject({ state: 'ok' })
  await sql(`update health_reports set at = now() + interval '9 days'`)
  expect(await checkOf('certificate')).toMatchObject({ state: 'attention' })
  await age('certificate', 73)
  expect(await checkOf('certificate')).toMatchObject({ state: 'unknown' })
})

test('a restore needs attention when the newest check failed, or when none was made for three days', async () => {
  const addCheck = (isProven: boolean, checkedAt: string) =>
    sql(
      `insert into restore_checks (checked_at, is_proven, duration_ms, message) values ($1, $2, 1, 'the disk is full')`,
      [checkedAt, isProven],
    )
  const at = hoursAgo(71)
  await addCheck(true, at)
  expect(await checkOf('restore')).toEqual({ name: 'restore', state: 'ok', at })
  await addCheck(false, hoursAgo(1))
  expect(await checkOf('restore')).toEqual({
    name: 'restore',
    state: 'attention',
    at,
    note: 'the disk is full',
  })
  await sql('truncate restore_checks')
  await addCheck(true, hoursAgo(73))
  expect(await checkOf('restore')).toMatchObject({ state: 'attention' })
})

test('the parts of the service need attention when they are late', async () => {
  const expiresAt = (days: string) =>
    sql(`update api_keys set expires_at = now() + $1::interval, last_used_at = now()`, [days])
  await expiresAt('8 days')
  expect(await checkOf('apiKeys')).toMatchObject({ state: 'ok' })
  await expiresAt('6 days')
  expect(await checkOf('apiKeys')).toMatchObject({ state: 'attention' })
  await sql(
    `insert into webhooks (url, types, epoch, number) select 'https://shop.example', '{pet.created}', epoch, 0 from event_epochs limit 1`,
  )
  expect(await checkOf('delivery')).toEqual({ name: 'delivery', state: 'attention' })
  await sql(`update webhooks set leased_until = now() + interval '1 hour'`)
  expect(await checkOf('delivery')).toEqual({ name: 'delivery', state: 'ok' })
  expect(await checkOf('webhooks')).toEqual({ name: 'webhooks', state: 'ok' })
  await sql(`update webhooks set failing_since = now()`)
  expect(await checkOf('webhooks')).toEqual({ name: 'webhooks', state: 'attention' })
  await sql(`update webhooks set disabled_reason = 'caller', disabled_at = now()`)
  expect(await checkOf('webhooks')).toEqual({ name: 'webhooks', state: 'ok' })
  expect(await checkOf('delivery')).toBeUndefined()
  await sql(`update webhooks set disabled_reason = 'failing'`)
  expect(await checkOf('webhooks')).toEqual({ name: 'webhooks', state: 'attention' })
})

test('reports of files that cannot be read, and future backups, are rejected', async () => {
  expect(await report('disk', '--folder', join(folder, 'none'))).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('ENOENT'),
  })
  expect((await report('certificate', '--file', join(folder, 'none'))).code).toBe(1)
  expect((await report('backup', '--at', hoursAgo(-1))).stderr).toContain('Use a time in the past')
  expect(await sql('select from health_reports')).toEqual([])
})
