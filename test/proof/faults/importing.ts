// An import that loses its connection: after a second run, every row is stored exactly once.
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'
import { openClient } from '../../../src/db/pool.ts'
import { importPets } from '../../../src/imports/imports.ts'
import { fileSource } from '../../../src/imports/source.ts'
import { petstore } from '../../support/service.ts'
import { type Fault, MOMENTS } from '../../support/wire-faults.ts'
import type { PlannedFault, FaultFixture } from './fixture.ts'
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
  fixture.plan(undefined)
  const message = await importHere(writePets().file, fixture.proxy.url)
  if (message !== FINISHED) throw new Error(message)
  return [...fixture.seen]
}

/** Injects the fault once, runs the import again, and counts the rows. Returns what is wrong. */
export async function tryImport(fixture: FaultFixture, planned: PlannedFault, run: Import) {
  const wrong: string[] = []
  const { file, name } = writePets()
  const { statement, occurrence, fault } = planned
  const { query } = fixture
  const countRows = () => query('select count(*) from pets where name like $1', [`${name}%`])
  const countNames = () => query('select count(distinct name) from pets where name like $1', [`${name}%`])

  fixture.plan(planned)
  const first = await inTime(run(file, fixture.proxy.url))
  if (fixture.injected() === 0) return [`not injected: ${fixture.seen.join(', ')}`]
  fixture.plan(undefined)
  await fixture.proxy.settled()
  const isDone = first === FINISHED
  count(isDone ? 'imports finished' : 'imports interrupted')
  if (isDone && (await countRows()) !== ROWS) {
    count('lost')
    wrong.push(`finished with ${await countRows()} of ${ROWS} rows`)
  }
  if (fault.kind === 'delay' && !isDone) wrong.push(first)

  const second = isDone ? FINISHED : await inTime(run(file, fixture.proxy.url))
  if (second !== FINISHED && !ALREADY.test(second)) wrong.push(`second run: ${second}`)
  const [rows, names] = [await countRows(), await countNames()]
  if (names < ROWS) count('lost')
  if (rows > names) count('duplicated')
  if (rows !== ROWS || names !== ROWS) wrong.push(`${rows} rows, ${names} names of ${ROWS}; first: ${first}`)
  return wrong.map((what) => `import, ${statement} ${occurrence}, ${fault.kind} ${fault.moment}: ${what}`)
}

function writePets(): { file: string; name: string } {
  const name = randomUUID()
  const file = join(folder, `${name}.csv`)
  const rows = Array.from({ length: ROWS }, (_, index) => `${name} ${index},${CATEGORY}`)
  writeFileSync(file, ['name,categoryId', ...rows, ''].join('\n'))
  return { file, name }
}
