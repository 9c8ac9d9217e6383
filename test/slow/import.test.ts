// Imports and exports of hundreds of thousands of pets: throughput, memory, and kills in the middle.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { createWriteStream, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, expect, test } from 'vitest'
import { createTestDatabase, sql } from '../support/database.ts'
import { auditFeed } from '../support/feed-audit.ts'
import { asSuperuser } from '../support/roles.ts'
import { volume } from '../support/volume.ts'

const ROWS = volume(90_000, 1_000_000)
const ROWS_COMPARED = volume(60_000, 200_000)
const ROUNDS = 3
const RATIO_MIN = 0.5
const KILLS = volume(3, 6)
const MEMORY_MAX_MB = 200

const EXECUTABLE = join(import.meta.dirname, '../../bin/petstore.ts')
const folder = mkdtempSync(join(tmpdir(), 'petstore-import-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Writes unsorted names in 1,000 categories. One name in 10 has a comma, one in 25 an accent. */
async function writePets(path: string, rows: number, rejectedEvery = 0): Promise<void> {
  const statuses = ['available', 'pending', 'sold']
  function* lines() {
    let block = 'name,categoryId,status\n'
    for (let n = 0; n < rows; n += 1) {
      const mixed = (n * 7_919) % 1_000_003
      const name =
        n % 10 === 0 ? `"Pet, ${mixed} of ${n}"` : n % 25 === 1 ? `Pét ${mixed} ${n}` : `Pet ${mixed} ${n}`
      block += `${name},${1 + (n % 1_000)},${statuses[n % 3]}\n`
      if (rejectedEvery > 0 && n % rejectedEvery === 0) block += `rejected ${n},none,\n`
      if (block.length < 500_000) continue
      yield block
      block = ''
    }
    yield block
  }
  await pipeline(Readable.from(lines()), createWriteStream(path))
}

interface Run {
  child: ChildProcess
  /** The highest memory use of the process that was sampled. */
  memoryMb: () => number
  ended: Promise<number | null>
  stderr: Promise<string>
}

function start(args: string[], DATABASE_URL: string, output: 'ignore' | 'pipe' = 'ignore'): Run {
  const child = spawn(process.execPath, [EXECUTABLE, ...args], {
    env: { PATH: process.env['PATH'], DATABASE_URL },
    stdio: ['ignore', output, 'pipe'],
  })
  let memoryMb = 0
  const looking = setInterval(() => {
    try {
      const status = readFileSync(`/proc/${child.pid}/status`, 'utf8')
      memoryMb = Math.max(memoryMb, Number(/^VmHWM:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) / 1_024)
    } catch {
      // The process has ended.
    }
  }, 20)
  const { promise: ended, resolve } = Promise.withResolvers<number | null>()
  child.on('close', (code) => {
    clearInterval(looking)
    resolve(code)
  })
  return { child, memoryMb: () => Math.round(memoryMb), ended, stderr: text(child.stderr as Readable) }
}

const median = (values: number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] as number

test(`import is at least ${RATIO_MIN} times as fast as psql's \\copy into the same table`, async () => {
  const path = join(folder, 'compared.csv')
  await writePets(path, ROWS_COMPARED)
  const time = async (work: (url: string) => Promise<unknown>) => {
    const url = await createTestDatabase()
    const startedAt = performance.now()
    await work(url)
    const seconds = (performance.now() - startedAt) / 1_000
    expect(await sql(url, 'select count(*)::int from pets')).toEqual([{ count: ROWS_COMPARED }])
    return seconds
  }
  const copy = `\\copy pets (name, category_id, status) from '${path}' with (format csv, header)`
  const seconds = { psql: [] as number[], petstore: [] as number[] }
  for (let round = 0; round < ROUNDS; round += 1) {
    seconds.psql.push(await time(async (url) => execFileSync('psql', ['-qX', asSuperuser(url), '-c', copy])))
    seconds.petstore.push(await time(async (url) => expect(await start(['import', path], url).ended).toBe(0)))
  }
  const ratio = median(seconds.psql) / median(seconds.petstore)
  console.log({
    psqlRowsPerSecond: Math.round(ROWS_COMPARED / median(seconds.psql)),
    petstoreRowsPerSecond: Math.round(ROWS_COMPARED / median(seconds.petstore)),
    ratio: Number(ratio.toFixed(2)),
  })
  expect(ratio).toBeGreaterThanOrEqual(RATIO_MIN)
})

test(`imports each of ${ROWS} rows exactly once despite ${KILLS} kills; import and export need less than ${MEMORY_MAX_MB} MB`, async () => {
  const path = join(folder, 'many.csv')
  await writePets(path, ROWS, 1_000)
  const url = await createTestDatabase()
  const rowsDone = async () =>
    (await sql<{ rows: number }>(url, 'select rows::int from imports'))[0]?.rows ?? 0

  /** The rows that were imported, while the import stands still: on a busy host, it could end before the response. */
  async function rowsOfPaused({ child }: Run): Promise<number> {
    child.kill('SIGSTOP')
    const rows = await rowsDone()
    child.kill('SIGCONT')
    return rows
  }

  let memoryMb = 0
  const killedAt: number[] = []
  for (let kill = 1; kill <= KILLS; kill += 1) {
    const run = start(['import', path], url)
    // Let each run get further than the last, and kill it some milliseconds later, at an arbitrary point. More than half
    // of the rows are left then.
    while ((await rowsOfPaused(run)) < (ROWS * kill) / (2 * KILLS + 1)) {
      expect(run.child.exitCode, 'the import ended by itself').toBeNull()
      await sleep(10)
    }
    await sleep(kill * 17)
    run.child.kill('SIGKILL')
    await run.ended
    killedAt.push(await rowsDone())
    memoryMb = Math.max(memoryMb, run.memoryMb())
  }
  const last = start(['import', path], url)
  expect(await last.ended).toBe(2)
  memoryMb = Math.max(memoryMb, last.memoryMb())

  const [counted] = await sql(
    url,
    'select count(*)::int as all, count(distinct name)::int as different from pets',
  )
  const listed = readFileSync(`${path}.rejected.csv`, 'utf8').trimEnd().split('\n').slice(1)
  expect(counted).toEqual({ all: ROWS, different: ROWS })
  expect(listed).toHaveLength(ROWS / 1_000)
  expect(new Set(listed)).toHaveProperty('size', ROWS / 1_000)
  expect(await auditFeed(url)).toEqual([])

  const output = join(folder, 'exported.csv')
  const exporting = start(['export', '--output', output], url)
  expect(await exporting.ended).toBe(0)
  // A pipe without a reader must not make the export buffer in memory. The sockets of the kernel can hold tens of megabytes.
  await sql(
    url,
    `set session_replication_role = replica;
    insert into pet_profiles (pet_id, description) select id, repeat('x', 1000) from pets limit 90000`,
  )
  const piped = start(['export', '--profiles', '--format', 'ndjson'], url, 'pipe')
  const isBlocked = `select from pg_stat_activity
    where datname = current_database() and application_name = 'petstore-export' and wait_event = 'ClientWrite'`
  await expect.poll(async () => (await sql(url, isBlocked)).length).toBe(1)
  let lines = 0
  for await (const chunk of piped.child.stdout as AsyncIterable<Buffer>) {
    for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, at + 1)) lines += 1
  }
  expect(await piped.ended).toBe(0)
  expect(lines).toBe(ROWS)
  console.log({
    killedAt,
    last: (await last.stderr).trim().split('\n')[0],
    importMb: memoryMb,
    exportMb: exporting.memoryMb(),
    pipedExportMb: piped.memoryMb(),
  })
  expect(Math.max(memoryMb, exporting.memoryMb(), piped.memoryMb())).toBeLessThan(MEMORY_MAX_MB)
})
