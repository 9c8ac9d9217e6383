// The connection to PostgreSQL fails at every moment of every statement: what was acknowledged is there once, what was
// refused is not there, and whatever cannot be known is said to be unknown.
import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { auditStore } from '../../support/store-audit.ts'
import { type Fault, isBeforeResponse } from '../../support/wire-faults.ts'
import { recordFigures } from '../figures.ts'
import { replayWith, SCALE, SEED } from '../seed.ts'
import { BACKGROUND } from './background.ts'
import { CONNECTING, createRole } from './connecting.ts'
import { aimsAt, type Cell, QUICK_FAULTS, SILENT_FAULTS, traceOf, tryCell } from './grid.ts'
import {
  type Import,
  IMPORT_FAULTS,
  importByCommand,
  importHere,
  traceImport,
  tryImport,
} from './importing.ts'
import { type Aim, type Lane, openLane } from './lane.ts'
import { loadWithFaults } from './load.ts'
import type { Operation } from './operation.ts'
import { seeded } from '../random.ts'
import { READING } from './reading.ts'
import { count, counts, faulted } from './tally.ts'
import { WRITING } from './writing.ts'

const LANES = SCALE < 1 ? 6 : 16
const FILE = 'test/proof/faults'
const WRONG_SHOWN_MAX = 20
/** Then enough is known, and the rest would take long: what is wrong often waits for a limit. */
const WRONG_ENOUGH = 60

afterAll(() => {
  console.log(`connection faults, seed ${SEED}`, counts)
  recordFigures('faults', counts)
})

const role = await createRole()
// One after the other: all at once they would keep each other from connecting in time.
const lanes: Lane[] = []
while (lanes.length < LANES) lanes.push(await openLane(role))
const [first] = lanes as [Lane]
const reached = new Set<string>()

/** Everything that is wrong, and how to see it again. */
function expectNothing(wrong: readonly string[]): void {
  const shown = wrong.slice(0, WRONG_SHOWN_MAX)
  expect(shown, `${wrong.length} wrong; again: ${replayWith(FILE)}`).toEqual([])
}

const cellsAt = (operation: Operation, trace: readonly string[], faults: readonly Fault[]): Cell[] =>
  aimsAt(trace, faults).map((aim) => ({ ...aim, operation }))

/** Each in the next lane that is free. */
async function tryAll<Item>(
  items: readonly Item[],
  tryOne: (lane: Lane, item: Item) => Promise<string[]>,
): Promise<string[]> {
  const left = [...items]
  const wrong: string[] = []
  await Promise.all(
    lanes.map(async (lane) => {
      while (left.length > 0 && wrong.length < WRONG_ENOUGH) {
        wrong.push(...(await tryOne(lane, left.pop() as Item)))
      }
    }),
  )
  return wrong
}

/** The cells of every operation. What only reads is tried once for each statement, wherever that stands. */
async function allCells(): Promise<Cell[]> {
  const cells: Cell[] = []
  for (const operation of [...WRITING, ...BACKGROUND, ...READING, ...CONNECTING]) {
    const trace = await traceOf(first, operation)
    const known = new Set(reached)
    for (const statement of trace) reached.add(statement)
    const isNew = (cell: Cell) => operation.commits !== undefined || !known.has(cell.statement)
    const quick = cellsAt(operation, trace, QUICK_FAULTS).filter(isNew)
    const silent = cellsAt(operation, trace, SILENT_FAULTS).filter(
      (cell) =>
        isNew(cell) && (cell.statement === operation.commits || cell.fault.moment === 'done, not answered'),
    )
    cells.push(...quick, ...silent)
  }
  return cells
}

/** The name of every statement in the sources. */
function namedStatements(): string[] {
  const folder = resolve(import.meta.dirname, '../../../src')
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  const isSql = (path: string) => path.endsWith('queries.ts') || path === join('db', 'migrate.ts')
  return files.filter(isSql).flatMap((path) => {
    const text = readFileSync(join(folder, path), 'utf8')
    return [...text.matchAll(/name: '([a-z_]+)',\s+(?:\/\/.*\s+)*text:/g)].map(([, name = '']) => name)
  })
}

/** In a sequence of their own for each seed; a part of them for a run at less than the usual volume. */
function sample<Item>(items: readonly Item[]): Item[] {
  return seeded(SEED)
    .shuffle(items)
    .slice(0, Math.ceil(items.length * SCALE))
}

let cells: Cell[] = []

test('every operation works without a fault, and together they reach every statement that the sources name', async () => {
  cells = sample(await allCells())
  const named = namedStatements()
  count('statements of the service', named.length)
  expect(named.length).toBeGreaterThan(40)
  expect(named.filter((name) => !reached.has(name))).toEqual([])
  expect([...reached]).toEqual(expect.arrayContaining(['startup', 'password', 'begin', 'commit', 'rollback']))
})

test('whatever happens to a statement, the answer is true, and repeating it makes it done once', async () => {
  console.log(`${cells.length} faults in ${LANES} lanes`)
  expectNothing(await tryAll(cells, tryCell))
})

test.skipIf(SCALE < 1)('every statement that the sources name has met faults', () => {
  const named = namedStatements()
  count('statements that met faults', named.filter((name) => faulted.has(name)).length)
  expect(named.filter((name) => !faulted.has(name))).toEqual([])
})

test('an import that lost its connection anywhere goes on when it is run again, and no row is lost or doubled', async () => {
  // Copied rows have no answer of their own that could be cut off.
  const isPossible = ({ statement, fault }: Aim) =>
    statement !== 'copy data' || isBeforeResponse(fault.moment)
  const aims = aimsAt(await traceImport(first), IMPORT_FAULTS).filter(isPossible)
  expectNothing(await tryAll(sample(aims), (lane, aim) => tryImport(lane, aim, importHere)))
})

test('so does `petstore import`, and it says how', async () => {
  const aims: Aim[] = [
    { statement: 'copy done', occurrence: 1, fault: { moment: 'half sent', kind: 'reset' } },
    { statement: 'commit', occurrence: 1, fault: { moment: 'before it is sent', kind: 'end' } },
    { statement: 'commit', occurrence: 1, fault: { moment: 'done, not answered', kind: 'reset' } },
  ]
  for (const aim of aims) {
    const said: string[] = []
    const run: Import = async (...args) => {
      said.push(await importByCommand(...args))
      return said.at(-1) ?? ''
    }
    expectNothing(await tryImport(first, aim, run))
    expect(said[0]).toContain('Run the same command again')
  }
})

test('after all of it animals, orders, history and counts agree', async () => {
  const audits = await Promise.all(lanes.map(({ api }) => auditStore(api.databaseUrl)))
  expectNothing(audits.flat())
})

test('under load, with connections that fail at random, nothing acknowledged is lost or doubled', async () => {
  expectNothing(await loadWithFaults(SEED, 800 * SCALE))
})
