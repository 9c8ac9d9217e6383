// The connection to PostgreSQL fails at every point of every statement: acknowledged changes are stored once, rejected
// changes are not stored, and an unknown outcome is reported as unknown.
import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { auditStore } from '../../support/store-audit.ts'
import { auditFeed } from '../../support/feed-audit.ts'
import { type Fault, isBeforeResponse } from '../../support/wire-faults.ts'
import { recordFigures } from '../figures.ts'
import { replayWith, SCALE, SEED } from '../seed.ts'
import { BACKGROUND } from './background.ts'
import { CONNECTING, createRole } from './connecting.ts'
import { plannedFaults, type Cell, QUICK_FAULTS, SILENT_FAULTS, traceOf, tryCell } from './grid.ts'
import {
  type Import,
  IMPORT_FAULTS,
  importByCommand,
  importHere,
  traceImport,
  tryImport,
} from './importing.ts'
import { type PlannedFault, type FaultFixture, openFaultFixture } from './fixture.ts'
import { loadWithFaults } from './load.ts'
import type { Operation } from './operation.ts'
import { seeded } from '../random.ts'
import { READING } from './reading.ts'
import { SIGNING_IN } from './signing-in.ts'
import { count, counts, faulted } from './tally.ts'
import { WEBHOOKS } from './webhooks.ts'
import { WRITING } from './writing.ts'

const FIXTURES = SCALE < 1 ? 6 : 16
const FILE = 'test/proof/faults'
const WRONG_SHOWN_MAX = 20
/** Stops after this many problems, because failing cases often wait for a timeout. */
const WRONG_ENOUGH = 60

afterAll(() => {
  console.log(`connection faults, seed ${SEED}`, counts)
  recordFigures('faults', counts)
})

const role = await createRole()
// Open one after the other, because opening all at once would exceed connection timeouts.
const fixtures: FaultFixture[] = []
while (fixtures.length < FIXTURES) fixtures.push(await openFaultFixture(role))
const [first] = fixtures as [FaultFixture]
const reached = new Set<string>()

/** Fails with the problems found, and how to reproduce them. */
function expectNothing(wrong: readonly string[]): void {
  const shown = wrong.slice(0, WRONG_SHOWN_MAX)
  expect(shown, `${wrong.length} wrong; reproduce with: ${replayWith(FILE)}`).toEqual([])
}

const cellsAt = (operation: Operation, trace: readonly string[], faults: readonly Fault[]): Cell[] =>
  plannedFaults(trace, faults).map((one) => ({ ...one, operation }))

/** Tries every item, each in a fixture that is free. */
async function tryAll<Item>(
  items: readonly Item[],
  tryOne: (fixture: FaultFixture, item: Item) => Promise<string[]>,
): Promise<string[]> {
  const left = [...items]
  const wrong: string[] = []
  await Promise.all(
    fixtures.map(async (fixture) => {
      while (left.length > 0 && wrong.length < WRONG_ENOUGH) {
        wrong.push(...(await tryOne(fixture, left.pop() as Item)))
      }
    }),
  )
  return wrong
}

/** The cells of every operation. A statement that only reads is tried only in the first operation that uses it. */
async function allCells(): Promise<Cell[]> {
  const cells: Cell[] = []
  for (const operation of [
    ...WRITING,
    ...WEBHOOKS,
    ...SIGNING_IN,
    ...BACKGROUND,
    ...READING,
    ...CONNECTING,
  ]) {
    const trace = await traceOf(first, operation)
    const known = new Set(reached)
    for (const statement of trace) reached.add(statement)
    const isNew = (cell: Cell) => operation.commits !== undefined || !known.has(cell.statement)
    const quick = cellsAt(operation, trace, QUICK_FAULTS).filter(isNew)
    const silent = cellsAt(operation, trace, SILENT_FAULTS).filter(
      (cell) =>
        isNew(cell) &&
        (cell.statement === operation.commits || cell.fault.moment === 'executed, no response yet'),
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

/** Shuffles the items by the seed. Returns only a part of them if SCALE is less than 1. */
function sample<Item>(items: readonly Item[]): Item[] {
  return seeded(SEED)
    .shuffle(items)
    .slice(0, Math.ceil(items.length * SCALE))
}

let cells: Cell[] = []

test('every operation succeeds without a fault, and the operations together run every statement in src', async () => {
  cells = sample(await allCells())
  const named = namedStatements()
  count('statements of the service', named.length)
  expect(named.length).toBeGreaterThan(40)
  expect(named.filter((name) => !reached.has(name))).toEqual([])
  expect([...reached]).toEqual(expect.arrayContaining(['startup', 'password', 'begin', 'commit', 'rollback']))
})

test('after any fault in a statement the response is correct, and a retry has exactly one effect', async () => {
  console.log(`${cells.length} faults in ${FIXTURES} fixtures`)
  expectNothing(await tryAll(cells, tryCell))
})

test.skipIf(SCALE < 1)('faults were injected into every statement in src', () => {
  const named = namedStatements()
  count('statements with injected faults', named.filter((name) => faulted.has(name)).length)
  expect(named.filter((name) => !faulted.has(name))).toEqual([])
})

test('an import resumes after a lost connection, and no row is lost or duplicated', async () => {
  // PostgreSQL does not respond to copied rows, so they have no fault in the response.
  const isPossible = ({ statement, fault }: PlannedFault) =>
    statement !== 'copy data' || isBeforeResponse(fault.moment)
  const planned = plannedFaults(await traceImport(first), IMPORT_FAULTS).filter(isPossible)
  expectNothing(await tryAll(sample(planned), (fixture, one) => tryImport(fixture, one, importHere)))
})

test('`petstore import` prints how to resume after a lost connection, and resumes', async () => {
  const planned: PlannedFault[] = [
    { statement: 'copy done', occurrence: 1, fault: { moment: 'half sent', kind: 'reset' } },
    { statement: 'commit', occurrence: 1, fault: { moment: 'before sending', kind: 'end' } },
    { statement: 'commit', occurrence: 1, fault: { moment: 'executed, no response yet', kind: 'reset' } },
  ]
  for (const one of planned) {
    const outputs: string[] = []
    const run: Import = async (...args) => {
      outputs.push(await importByCommand(...args))
      return outputs.at(-1) ?? ''
    }
    expectNothing(await tryImport(first, one, run))
    expect(outputs[0]).toContain('Run the same command again')
  }
})

test('pets, orders, history, counts and events agree after all faults', async () => {
  // The audit reads the feed from its start, which the first epoch includes.
  const text = 'delete from event_epochs where id > (select min(id) from event_epochs)'
  await Promise.all(fixtures.map(({ api }) => api.sql(text)))
  const audits = await Promise.all(
    fixtures.map(async ({ api }) => [
      ...(await auditStore(api.databaseUrl)),
      ...(await auditFeed(api.databaseUrl)),
    ]),
  )
  expectNothing(audits.flat())
})

test('under load with random connection faults, no acknowledged change is lost or duplicated', async () => {
  expectNothing(await loadWithFaults(SEED, 800 * SCALE))
})
