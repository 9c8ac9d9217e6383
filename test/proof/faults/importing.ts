// An import that loses its connection: after a second run, every row is stored exactly once.
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'
import { importPets } from '../../../src/data/import-export/imports.ts'
import { fileSource } from '../../../src/data/import-export/source.ts'
import { openClient } from '../../../src/db/connection/pool.ts'
import { petstore } from '../../support/service.ts'
import { type Fault, MOMENTS } from '../../support/wire-faults.ts'
import { ATTEMPTS_MAX, countLate, mayBeLate, workInTime } from '../late.ts'
import type { PlannedFault, FaultFixture } from './fixture.ts'
import type { Verdict } from './grid.ts'
import { CATEGORY, inTime } from './operation.ts'
import { count } from './tally.ts'

const ROWS = 50
const FINISHED = 'finished'
const ALREADY = /was already imported/

const folder = mkdtempSync(join(tmpdir(), 'petstore-faults-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** All faults except silence: an import has no query timeout, because PostgreSQL may work for hours. */
export const IMPORT_FAULTS: Fault[] = [
  ...MOMENTS.flatMap((moment): Fault[] => [
    { moment, kind: 'end' },
    { moment, kind: 'reset' },
  ]),
  { moment: 'half sent', kind: 'delay' },
  { moment: 'half a row received', kind: 'delay' },
]

/** Runs an import, and returns its final message. */
export type Import = (file: string, databaseUrl: string) => Promise<string>

/** Imports as the command does, without its process. */
export async function importHere(file: string, databaseUrl: string): Promise<string> {
  const client = openClient(databaseUrl, 'petstore-import')
  try {
    await client.connect()
    const { signal } = new AbortController()
    await importPets(client, await fileSource(file, { signal }), {
      findNamed: undefined,
      currency: 'EUR',
      rejectedPath: `${file}.rejected.csv`,
      again: false,
      signal,
      onProgress: () => {},
    })
    return FINISHED
  } catch (error) {
    return (error as Error).message
  } finally {
    await client.end()
  }
}

export async function importByCommand(file: string, databaseUrl: string): Promise<string> {
  const { code, stderr } = await petstore(['import', file], { DATABASE_URL: databaseUrl })
  return code === 0 ? FINISHED : stderr
}

/** The statements of an import without a fault. */
export async function traceImport(fixture: FaultFixture): Promise<string[]> {
  return workInTime(async () => {
    fixture.plan(undefined)
    const message = await importHere(writePets().file, fixture.proxy.url)
    if (message !== FINISHED) throw new Error(message)
    return [...fixture.seen]
  })
}

/** Injects the fault once, runs the import again, and counts the rows. Returns what is wrong. */
export async function tryImport(fixture: FaultFixture, planned: PlannedFault, run: Import): Promise<Verdict> {
  const wrong: string[] = []
  const { file, name } = writePets()
  const { query } = fixture
  const countRows = () => query('select count(*) from pets where name like $1', [`${name}%`])
  const countNames = () => query('select count(distinct name) from pets where name like $1', [`${name}%`])

  fixture.plan(planned)
  const startedAt = performance.now()
  const first = await inTime(run(file, fixture.proxy.url))
  const isDone = first === FINISHED
  const statements = `  statements: ${fixture.seen.join(', ')}`
  const verdict = (isLate: boolean): Verdict => ({
    wrong: wrong.map((what) => `${describeImport(planned)}: ${what}\n  first run: ${first}\n${statements}`),
    isLate,
  })
  if (fixture.injected() === 0) wrong.push('not injected')
  else if (planned.fault.kind === 'delay' && !isDone) wrong.push('a delay has ended the import')
  if (wrong.length > 0) return verdict(!isDone && mayBeLate(startedAt))
  fixture.plan(undefined)
  await fixture.proxy.settled()
  count(isDone ? 'imports finished' : 'imports interrupted')
  if (isDone && (await countRows()) !== ROWS) {
    count('lost')
    wrong.push(`finished with ${await countRows()} of ${ROWS} rows`)
  }

  const second = isDone ? FINISHED : await importAgain(() => run(file, fixture.proxy.url))
  if (second !== FINISHED && !ALREADY.test(second)) wrong.push(`second run: ${second}`)
  const [rows, names] = [await countRows(), await countNames()]
  if (names < ROWS) count('lost')
  if (rows > names) count('duplicated')
  if (rows !== ROWS || names !== ROWS) wrong.push(`${rows} rows, ${names} names of ${ROWS}`)
  return verdict(false)
}

/** Runs an import without a fault, and again if it could not connect in time. */
async function importAgain(run: () => Promise<string>): Promise<string> {
  for (let attempt = 1; ; attempt += 1) {
    const startedAt = performance.now()
    const message = await inTime(run())
    const isOver = message === FINISHED || ALREADY.test(message)
    if (isOver || !mayBeLate(startedAt) || attempt === ATTEMPTS_MAX) return message
    countLate()
  }
}

/** Names a case, also in PROOF_CASE. */
export function describeImport({ statement, occurrence, fault }: PlannedFault): string {
  return `import, ${statement} ${occurrence}, ${fault.kind} ${fault.moment}`
}

function writePets(): { file: string; name: string } {
  const name = randomUUID()
  const file = join(folder, `${name}.csv`)
  const rows = Array.from({ length: ROWS }, (_, index) => `${name} ${index},${CATEGORY}`)
  writeFileSync(file, ['name,categoryId', ...rows, ''].join('\n'))
  return { file, name }
}
