// `npm run test:mutants -- --operators`: replaces one operator at a time in the pure files of the delivery, and runs their tests,
// which need no database. Vitest stays in this process; only its workers start anew.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type CliOptions, createVitest, type Vitest } from 'vitest/node'
import { ROOT } from './trial.ts'

const FILES = ['transitions', 'lanes', 'health', 'schedule'].map((name) => `src/events/delivery/${name}.ts`)
/** In this order, because the first file detects most mutants. */
const TESTS = ['transitions', 'lanes', 'histories'].map((name) => `test/events/delivery-${name}.test.ts`)
/** Ends a mutant that loops. The tests take a second. */
const RUN_MAX_MS = 30_000
const OPTIONS: CliOptions = {
  root: ROOT,
  config: false,
  include: TESTS,
  watch: false,
  bail: 1,
  reporters: [],
  testTimeout: 2 * RUN_MAX_MS,
  // Its key does not include the mutant.
  fsModuleCache: false,
  // Uses the seed, so that each run has the same result.
  setupFiles: ['test/support/failure-report.ts'],
  env: { TEST_SEED: '1' },
}

/** Bounds move by one; all others become their opposite. */
const PAIRS = ['=== !==', '< <=', '> >=', '&& ||', '+ -', '+= -=', '* /', 'true false']
const REPLACEMENTS = new Map<string, readonly string[]>(
  PAIRS.map((pair) => pair.split(' ') as [string, string]).flatMap(([one, other]) => [
    [one, [other]],
    [other, [one]],
  ]),
)
  .set('??', ['&&'])
  .set('??=', ['='])
for (const name of ['Math.min', 'Math.max'])
  REPLACEMENTS.set(name, ['((one, _) => one)', '((_, other) => other)'])
const OPERATOR =
  /(?<= )(?:[!=]==|[<>]=?|&&|\|\||\?\?=?|[-+]=?|[*/])(?= )|\bMath\.(?:min|max)\b|\b(?:true|false)\b/g
/** A condition or a part of one, which is once true and once false: `x`, `!x.y`, `x(y)` or `x < y`. */
const TERM = String.raw`!?[\w.]+(?:\([\w.]*\))?(?: (?:[!=]==|[<>]=?) [\w.']+)?`
const CONDITION = new RegExp(
  [
    String.raw`(?<=\(|[^=!<>]= |return |: |&& |\|\| )${TERM}(?= (?:&&|\|\||\?) )`,
    String.raw`(?<=&& |\|\| )${TERM}(?=\)|$)`,
    String.raw`(?<=if \()${TERM}(?=\))`,
  ].join('|'),
  'g',
)
const IS_NO_CODE = /^ *(?:\/[/*]|\*|import )/

/** Mutants that behave like the original, by their names. */
const EQUIVALENT: Readonly<Record<string, string>> = {
  [`if (row.kind === 'event' && row.number !== null) handledBefore.add(row.number): row.number !== null → true`]:
    'every event has a number',
  [`if (row.kind !== 'event' && row.id > state.lastRequestId) state.lastRequestId = row.id: > → >=`]:
    'assigns the value that it has',
  "if (kind !== 'redelivery') return: kind !== 'redelivery' → false": 'the event itself no longer waits',
  'if (now < lanes.nextWakeAt) return: now < lanes.nextWakeAt → false':
    'only looks at messages that are not due',
  'if (!isDown(health)) health.failedLanes.add(lane): !isDown(health) → true': 'only the set grows',
  'const doublings = Math.min(failures - 1, 20): Math.min → ((one, _) => one)':
    'PROBE_SECONDS_MAX limits it, too',
}

interface Mutant {
  file: string
  /** The line, and what is replaced in it. */
  name: string
  code: string
}

function mutantsOf(file: string): Mutant[] {
  const lines = readFileSync(join(ROOT, file), 'utf8').split('\n')
  return lines.flatMap((line, row) =>
    (IS_NO_CODE.test(line) ? [] : changesOf(line)).map(([text, index, other]) => {
      const changed = line.slice(0, index) + other + line.slice(index + text.length)
      const name = `${line.trim()}: ${text} → ${other}`
      return { file, name, code: lines.with(row, changed).join('\n') }
    }),
  )
}

/** The texts that can stand in a line instead. */
function changesOf(line: string): (readonly [text: string, index: number, other: string])[] {
  const changes = (pattern: RegExp, othersOf: (text: string) => readonly string[] | undefined) =>
    [...line.matchAll(pattern)].flatMap(({ 0: text, index }) =>
      (othersOf(text) ?? []).map((other) => [text, index, other] as const),
    )
  return [
    ...changes(OPERATOR, (text) => REPLACEMENTS.get(text)),
    ...changes(CONDITION, () => ['true', 'false']),
  ]
}

/** Returns the first test that fails; undefined if all pass. */
async function findFailure(vitest: Vitest, file: string): Promise<string | undefined> {
  vitest.invalidateFile(join(ROOT, file))
  for (const path of TESTS.map((test) => join(ROOT, test))) {
    let isEnded = false
    const timer = setTimeout(() => {
      isEnded = true
      // Only the second request ends a test that does not return.
      for (let request = 1; request <= 2; request += 1) void vitest.cancelCurrentRun('test-failure')
    }, RUN_MAX_MS)
    const { testModules } = await vitest.runTestFiles([path])
    clearTimeout(timer)
    if (isEnded) return `not finished in ${RUN_MAX_MS / 1_000} s`
    const module = testModules.find(({ moduleId }) => moduleId === path)
    for (const test of module?.children.allTests('failed') ?? []) return test.fullName
    if (module?.ok() !== true) return `${path} could not run`
  }
  return undefined
}

/** Tries the mutants with the text in their file or name. Prints each one; returns how many survived. */
export async function tryOperators(text: string): Promise<number> {
  const all = FILES.flatMap(mutantsOf)
  const stale = Object.keys(EQUIVALENT).filter((one) => all.every(({ name }) => name !== one))
  if (stale.length > 0) throw new Error(`no mutant has this name: ${stale.join('; ')}`)
  const mutants = all.filter(({ file, name }) => `${file}: ${name}`.includes(text))
  let planted: Mutant | undefined
  const transform = (_code: string, id: string) =>
    planted && id === join(ROOT, planted.file) ? planted.code : undefined
  const vitest = await createVitest(OPTIONS, { plugins: [{ name: 'plant', enforce: 'pre', transform }] })
  const counts = { detected: 0, equivalent: 0, SURVIVED: 0 }
  try {
    await vitest.standalone()
    for (const mutant of [undefined, ...mutants]) {
      planted = mutant
      const file = mutant?.file ?? ''
      const failure = await findFailure(vitest, file)
      if (mutant === undefined && failure !== undefined) throw new Error(`fails without a mutant: ${failure}`)
      if (mutant === undefined) continue
      const reason = EQUIVALENT[mutant.name]
      const verdict = failure !== undefined ? 'detected' : reason !== undefined ? 'equivalent' : 'SURVIVED'
      counts[verdict] += 1
      console.log(`${verdict.padEnd(10)}  ${file}: ${mutant.name}\n            ${failure ?? reason ?? ''}`)
      vitest.invalidateFile(join(ROOT, file))
    }
  } finally {
    await vitest.close()
  }
  console.log(
    `\n${counts.detected} of ${mutants.length} planted defects were detected, ${counts.equivalent} are equivalent, ${counts.SURVIVED} survived`,
  )
  return counts.SURVIVED
}
