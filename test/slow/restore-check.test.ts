// deploy/backup/check-restore on a real repository of pgBackRest: it passes for a good backup only.
import { existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { sql } from '../support/database.ts'
import { openBackedUpStore, type Running } from '../support/pgbackrest.ts'
import { asVerifier } from '../support/roles.ts'

const BINARIES = process.env['TEST_POSTGRES'] ?? '/usr/lib/postgresql/15/bin'

const store = await openBackedUpStore(BINARIES)
afterAll(store.stop)
const folder = join(store.folder, 'check')

function start(args: string[] = [], environment: Record<string, string> = {}): Running {
  const options = ['--config', store.config, '--folder', folder, '--binaries', BINARIES, ...args]
  return store.run([join(store.petstoreFolder, 'deploy/backup/check-restore'), ...options], {
    RECORD_DATABASE_URL: asVerifier(store.databaseUrl),
    ...environment,
  })
}

interface Recorded {
  repository: number
  is_proven: boolean
  backup: string | null
  recovered_to: Date | null
  message: string
}

const checks = () => sql<Recorded>(store.databaseUrl, 'select * from restore_checks order by id')

/** Runs the check, and returns its output and what it has recorded. Whatever the result is, it must remove its copy. */
async function check(args: string[] = [], environment: Record<string, string> = {}) {
  return ended(start(args, environment))
}

async function ended({ finished }: Running) {
  const before = (await checks()).length
  const result = await finished
  expect(readdirSync(folder), result.output).toEqual(['lock'])
  return { ...result, recorded: (await checks()).slice(before) }
}

const addPet = async (name: string) => {
  await sql(store.databaseUrl, `insert into pets (name, category_id) values ($1, 1)`, [name])
  await store.archiveWal()
}

const failure = (message: string) => ({
  code: 1,
  output: expect.stringContaining(message),
  recorded: [{ repository: 1, is_proven: false, message: expect.stringContaining(message) }],
})

test('reports and records that there is no backup', async () => {
  expect(await check()).toMatchObject(failure('no backup to restore: no valid backups'))
  const { recorded } = await check(['--repo', '2'])
  expect(recorded).toMatchObject([
    { repository: 2, is_proven: false, message: expect.stringContaining('repository 2: no backup') },
  ])
})

test('proves a good backup with all archived WAL, and leaves the store and the archive unchanged', async () => {
  await store.backUp()
  for (const name of ['Rex', 'Luna', 'Milo']) await addPet(name)
  const [newest] = await sql<{ at: Date }>(store.databaseUrl, 'select max(at) as at from outbox')
  const archive = store.files('archive')
  const { code, output, recorded } = await check()
  expect(output).toContain('The database is complete and consistent.')
  expect(code, output).toBe(0)
  expect(recorded).toMatchObject([
    {
      is_proven: true,
      backup: expect.stringMatching(/^\d{8}-\d{6}F$/),
      message: expect.stringContaining('11 checks done'),
    },
  ])
  // The commit is a moment later than the event.
  const recoveredTo = recorded[0]?.recovered_to ?? new Date(0)
  expect(recoveredTo.getTime()).toBeGreaterThanOrEqual(newest?.at.getTime() ?? 0)
  expect(recoveredTo.getTime()).toBeLessThan(Date.now())
  expect(store.files('archive')).toEqual(archive)
})

test('reports and records that the newest backup is too old', async () => {
  expect(await check(['--max-age', '0'])).toMatchObject(failure('is 0 hours old: no backup was made since'))
})

test('reports and records a missing WAL segment, which PostgreSQL takes for the end of the WAL', async () => {
  const segments = store.files('archive').filter((path) => /[0-9A-F]{24}-/.test(path))
  const missing = segments.at(-2) ?? ''
  renameSync(missing, `${store.folder}/segment`)
  expect(await check()).toMatchObject(failure('a segment or a timeline history file is missing or damaged'))
  renameSync(`${store.folder}/segment`, missing)
})

test('reports and records a damaged file of the backup', async () => {
  const bundle = store.files('backup').find((path) => /\/bundle\/\d+$/.test(path)) ?? ''
  const bytes = readFileSync(bundle)
  const damaged = Buffer.from(bytes)
  damaged.write('damage', Math.floor(damaged.length / 2))
  writeFileSync(bundle, damaged)
  expect(await check()).toMatchObject(failure('repository 1: pgbackrest verify reports errors'))
  writeFileSync(bundle, bytes)
})

test('reports and records a fault of the data that petstore verify finds', async () => {
  const addSold = (count: number) =>
    sql(store.databaseUrl, `update pet_counts set count = count + $1 where status = 'sold'`, [count])
  await addSold(1)
  await store.archiveWal()
  expect(await check()).toMatchObject(failure('an inventory that differs from the number of pets (1): sold'))
  await addSold(-1)
  await store.archiveWal()
})

test('fails if the result cannot be recorded', async () => {
  const unreachable = 'postgres://petstore_verify@127.0.0.1:1/petstore'
  const { code, output, recorded } = await check([], { RECORD_DATABASE_URL: unreachable })
  expect(output).toContain('The database is complete and consistent.')
  expect(code).toBe(1)
  expect(recorded).toEqual([])
})

test('records that it was stopped, and stops its PostgreSQL', async () => {
  const running = start()
  await expect.poll(running.output).toContain('recovering')
  const pidFile = join(folder, 'restored/data/postmaster.pid')
  await expect.poll(() => existsSync(pidFile)).toBe(true)
  const pid = Number.parseInt(readFileSync(pidFile, 'utf8'))
  running.kill('SIGTERM')
  expect(await ended(running)).toMatchObject(failure('interrupted while'))
  expect(existsSync(`/proc/${pid}`)).toBe(false)
})

test('fails at the end of its timeout', async () => {
  expect(await check(['--timeout', '0'])).toMatchObject(failure('longer than the timeout of 0 minutes'))
})

test('restores nothing if the disk has too little space', async () => {
  const tools = join(store.folder, 'tools')
  await store.run(['mkdir', tools]).finished
  writeFileSync(join(tools, 'df'), '#!/bin/sh\necho Avail; echo 1000000000\n', { mode: 0o755 })
  expect(await check([], { PATH: `${tools}:${store.path}` })).toMatchObject(failure('too little disk space'))
})

test('does not run twice at a time', async () => {
  const lock = store.run(['flock', '--no-fork', join(folder, 'lock'), 'sleep', '60'])
  await expect.poll(async () => (await start().finished).code).toBe(75)
  lock.kill('SIGTERM')
  await lock.finished
})
