// An import whose connection is lost: whatever it had done, running it again leaves every row there once.
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
import type { Aim, Lane } from './lane.ts'
import { CATEGORY, inTime } from './operation.ts'
import { count } from './tally.ts'

const ROWS = 50
const FINISHED = 'finished'
const ALREADY = /was imported already/

const folder = mkdtempSync(join(tmpdir(), 'petstore-faults-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Silence is not among them: an import waits for as long as PostgreSQL works, which may be hours. */
export const IMPORT_FAULTS: Fault[] = [
  ...MOMENTS.flatMap((moment): Fault[] => [
    { moment, kind: 'end' },
    { moment, kind: 'reset' },
  ]),
  { moment: 'half sent', kind: 'delay' },
  { moment: 'half a row answered', kind: 'delay' },
]

/** How an import is run, and what it says in the end. */
export type Import = (file: string, databaseUrl: string) => Promise<string>

/** The way of the command line without its process. */
export async function importHere(file: string, databaseUrl: string): Promise<string> {
  const client = openClient(databaseUrl, 'petstore-import')
  try {
    await client.connect()
    const { signal } = new AbortController()
    await importPets(client, await fileSource(file, { signal }), {
      findNamed: undefined,
      rejectedPath: `${file}.refused.csv`,
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

/** The statements of an import, as they are without a fault. */
export async function traceImport(lane: Lane): Promise<string[]> {
  lane.aim(undefined)
  const said = await importHere(writePets().file, lane.proxy.url)
  if (said !== FINISHED) throw new Error(said)
  return [...lane.seen]
}

/** Lets the fault happen once, runs the import again, and counts; answers what is wrong. */
export async function tryImport(lane: Lane, aim: Aim, run: Import): Promise<string[]> {
  const wrong: string[] = []
  const { file, name } = writePets()
  const rowsThere = () => lane.look('select count(*) from pets where name like $1', [`${name}%`])
  const namesThere = () => lane.look('select count(distinct name) from pets where name like $1', [`${name}%`])

  lane.aim(aim)
  const first = await inTime(run(file, lane.proxy.url))
  if (lane.injected() === 0) return [`never happened: ${lane.seen.join(', ')}`]
  lane.aim(undefined)
  await lane.proxy.settled()
  const isDone = first === FINISHED
  count(isDone ? 'imports that finished' : 'imports that were cut off')
  if (isDone && (await rowsThere()) !== ROWS) {
    count('lost')
    wrong.push(`finished with ${await rowsThere()} of ${ROWS} rows`)
  }
  if (aim.fault.kind === 'delay' && !isDone) wrong.push(first)

  const second = isDone ? FINISHED : await inTime(run(file, lane.proxy.url))
  if (second !== FINISHED && !ALREADY.test(second)) wrong.push(`run again: ${second}`)
  const [rows, names] = [await rowsThere(), await namesThere()]
  if (names < ROWS) count('lost')
  if (rows > names) count('doubled')
  if (rows !== ROWS || names !== ROWS) wrong.push(`${rows} rows, ${names} names of ${ROWS}; first: ${first}`)
  return wrong.map(
    (what) => `import, ${aim.statement} ${aim.occurrence}, ${aim.fault.kind} ${aim.fault.moment}: ${what}`,
  )
}

function writePets(): { file: string; name: string } {
  const name = randomUUID()
  const file = join(folder, `${name}.csv`)
  const rows = Array.from({ length: ROWS }, (_, index) => `${name} ${index},${CATEGORY}`)
  writeFileSync(file, ['name,categoryId', ...rows, ''].join('\n'))
  return { file, name }
}
