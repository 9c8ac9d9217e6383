// The connection to PostgreSQL fails at every point of every statement: acknowledged changes are stored once, rejected
// changes are not stored, and an unknown outcome is reported as unknown.
import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { auditStore } from '../../support/store-audit.ts'
import { auditFeed } from '../../support/feed-audit.ts'
import { type Fault, isBeforeResponse } from '../../support/wire-faults.ts'
import { recordFigures } from '../figures.ts'
import { ATTEMPTS_MAX, countedLate, countLate, workInTime } from '../late.ts'
import { CASE, replayWith, SCALE, SEED } from '../seed.ts'
import { BACKGROUND } from './background.ts'
import { CONNECTING, createRole } from './connecting.ts'
import {
  type Cell,
  describe as describeCell,
  plannedFaults,
  QUICK_FAULTS,
  SILENT_FAULTS,
  traceOf,
  tryCell,
  type Verdict,
} from './grid.ts'
import {
  describeImport,
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
import { TILL } from './till.ts'
import { WEBHOOKS } from './webhooks.ts'
import { WRITING } from './writing.ts'

const FIXTURES = CASE !== undefined ? 1 : SCALE < 1 ? 6 : 16
/** Whether every possible fault is tried. The default tries a part of those that are alike. */
const IS_WHOLE = SCALE >= 4 || CASE !== undefined
const FILE = 'test/proof/faults'
const WRONG_SHOWN_MAX = 20
/** Stops after this many problems, because failing cases often wait for a timeout. */
const WRONG_ENOUGH = 60

afterAll(() => {
  const figures = { ...counts, ...countedLate() }
  console.log(`connection faults, seed ${SEED}`, figures)
  recordFigures('faults', figures)
})

const role = await createRole()
// Open one after the other, because opening all at once would exceed connection timeouts.
const fixtures: FaultFixture[] = []
while (fixtures.length < FIXTURES) fixtures.push(await openFaultFixture(role))
const [first] = fixtures as [FaultFixture]
const reached = new Set<string>()

/** Fails with the problems found, and how to reproduce them. `named` is the case, if the problems are of one. */
function expectNothing(wrong: readonly string[], named?: string): void {
  if (wrong.length === 0) return
  const only = named === undefined ? {} : { PROOF_CASE: named }
  expect.fail(
    [
      `${wrong.length} wrong${wrong.length > WRONG_SHOWN_MAX ? `, the first ${WRONG_SHOWN_MAX}` : ''}:`,
      ...wrong.slice(0, WRONG_SHOWN_MAX),
      `To reproduce${named === undefined ? '' : ' the first'}:\n${replayWith(FILE, only)}`,
    ].join('\n\n'),
  )
}

const cellsAt = (operation: Operation, trace: readonly string[], faults: readonly Fault[]): Cell[] =>
  plannedFaults(trace, faults).map((one) => ({ ...one, operation }))

/** The number of cases. */
let tried = 0

type TryOne<Item> = (fixture: FaultFixture, item: Item) => Promise<Verdict>

/** Tries every item, each in a fixture that is free, and fails with what is wrong. */
async function expectAll<Item>(
  items: readonly Item[],
  nameOf: (item: Item) => string,
  tryOne: TryOne<Item>,
): Promise<void> {
  const left = CASE === undefined ? [...items] : items.filter((item) => nameOf(item) === CASE)
  tried += left.length
  const late: Item[] = []
  const wrong: { name: string; what: string }[] = []
  const note = (item: Item, found: Verdict) =>
    wrong.push(...found.wrong.map((what) => ({ name: nameOf(item), what })))
  await Promise.all(
    fixtures.map(async (fixture) => {
      while (left.length > 0 && wrong.length < WRONG_ENOUGH) {
        const item = left.pop() as Item
        const verdict = await tryOne(fixture, item)
        if (verdict.isLate) late.push(item)
        else note(item, verdict)
      }
    }),
  )
  // Alone, because timeouts of the service then expire less often.
  for (const item of late) if (wrong.length === 0) note(item, await tryAlone(item, tryOne))
  expectNothing(
    wrong.map(({ what }) => what),
    wrong[0]?.name,
  )
}

/** Tries again until the outcome is not late. */
async function tryAlone<Item>(item: Item, tryOne: TryOne<Item>): Promise<Verdict> {
  for (let attempt = 1; ; attempt += 1) {
    countLate()
    const verdict = await tryOne(first, item)
    if (!verdict.isLate || attempt === ATTEMPTS_MAX) return verdict
  }
}

const choices = seeded(SEED)
/** Of the statements that do not commit, the share that gets silence, which takes seconds. */
const SILENT_SHARE = 0.25
const isSilentChosen = () => IS_WHOLE || choices.chance(SILENT_SHARE)

/**
 * A statement that commits gets every fault. Another statement gets, at each moment, either an orderly end or a reset, and
 * one of the delays. The seed chooses, so that every run tries others.
 */
const isQuickChosen = ({ operation, statement, fault: { kind } }: Cell): boolean => {
  if (IS_WHOLE || statement === operation.commits) return true
  if (kind === 'end') isEndChosen = choices.chance(0.5)
  if (kind === 'end') return isEndChosen
  if (kind === 'reset') return !isEndChosen
  return kind !== 'delay' || choices.chance(1 / 3)
}
/** In the list of faults, the reset of a moment follows its end. */
let isEndChosen = false

/** The cells of every operation. A statement that only reads is tried only in the first operation that uses it. */
async function allCells(): Promise<Cell[]> {
  const cells: Cell[] = []
  for (const operation of [
    ...WRITING,
    ...TILL,
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
    const quick = cellsAt(operation, trace, QUICK_FAULTS).filter((cell) => isNew(cell) && isQuickChosen(cell))
    const silent = cellsAt(operation, trace, SILENT_FAULTS).filter(
      (cell) =>
        isNew(cell) &&
        (cell.statement === operation.commits ||
          (cell.fault.moment === 'executed, no response yet' && isSilentChosen())),
    )
    cells.push(...quick, ...silent)
  }
  return cells
}

/** The name of every statement in the sources, except those that only fill the demo shop. */
function namedStatements(): string[] {
  const folder = resolve(import.meta.dirname, '../../../src')
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  const isSql = (path: string) =>
    (path.endsWith('queries.ts') && !path.startsWith(join('data', 'demo'))) ||
    path === join('db', 'migrations', 'migrate.ts')
  return files.filter(isSql).flatMap((path) => {
    const text = readFileSync(join(folder, path), 'utf8')
    return [...text.matchAll(/name: '([a-z_]+)',\s+(?:bounded: '[a-z ]+',\s+)?(?:\/\/.*\s+)*text:/g)].map(
      ([, name = '']) => name,
    )
  })
}

/** Shuffles the items by the seed. Returns only a part of them if SCALE is less than 1. */
function sample<Item>(items: readonly Item[]): Item[] {
  return seeded(SEED)
    .shuffle(items)
    .slice(0, IS_WHOLE ? items.length : Math.ceil(items.length * SCALE))
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
  const silent = cells.filter(({ fault }) => fault.kind === 'silence').length
  console.log(`${cells.length} faults, ${silent} of them silence, in ${FIXTURES} fixtures`)
  await expectAll(cells, describeCell, tryCell)
})

test.skipIf(SCALE < 1 || CASE !== undefined)('faults were injected into every statement in src', () => {
  const named = namedStatements()
  count('statements with injected faults', named.filter((name) => faulted.has(name)).length)
  expect(named.filter((name) => !faulted.has(name))).toEqual([])
})

test('an import resumes after a lost connection, and no row is lost or duplicated', async () => {
  // PostgreSQL does not respond to copied rows, so they have no fault in the response.
  const isPossible = ({ statement, fault }: PlannedFault) =>
    statement !== 'copy data' || isBeforeResponse(fault.moment)
  const planned = plannedFaults(await traceImport(first), IMPORT_FAULTS).filter(isPossible)
  await expectAll(sample(planned), describeImport, (fixture, one) => tryImport(fixture, one, importHere))
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
    await expectAll([one], describeImport, (fixture, each) => {
      outputs.length = 0
      return tryImport(fixture, each, run)
    })
    if (CASE === undefined) expect(outputs[0]).toContain('Run the same command again')
  }
})

test('pets, orders, history, counts and events agree after all faults', async () => {
  // The audit reads the feed from its start, which the first epoch includes.
  const text = 'delete from event_epochs where id > (select min(id) from event_epochs)'
  await Promise.all(fixtures.map(({ api }) => api.sql(text)))
  const audits = await Promise.all(
    fixtures.map(async ({ api }) => [
      ...(await auditStore(api.databaseUrl)),
      ...(await workInTime(() => auditFeed(api.databaseUrl))),
    ]),
  )
  expectNothing(audits.flat())
})

test.skipIf(CASE !== undefined)(
  'under load with random connection faults, no acknowledged change is lost or duplicated',
  async () => {
    expectNothing(await loadWithFaults(SEED, 250 * SCALE))
  },
)

test.skipIf(CASE === undefined)('PROOF_CASE is the name of a case', () => {
  expect(tried).toBeGreaterThan(0)
})
