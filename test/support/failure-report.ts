// Loaded into each test file. Seeds its random values, and after a failed test prints how to repeat it, with the log lines
// and the statements of that test only.
import { relative, resolve } from 'node:path'
import { configureGlobal, readConfigureGlobal } from 'fast-check'
import { beforeEach, expect, type TestContext } from 'vitest'
import { createRandom } from '../../lab/parts/random.ts'
import { recordedSince } from './recording.ts'
import { repeatCommand } from './repeat-command.ts'

const ROOT = resolve(import.meta.dirname, '../..')
/** The newest lines are the closest to the failure. */
const LINES_MAX = 60

// vitest-options.ts sets it.
const seed = Number(process.env['TEST_SEED'])
const file = relative(ROOT, expect.getState().testPath ?? '')
configureGlobal({ ...readConfigureGlobal(), seed })
// Each file has its own values, so that no two files create the same names in a shared service.
Math.random = createRandom(seed, file)

let started = 0
let inFlight = 0

beforeEach(({ task, onTestFailed, onTestFinished }) => {
  const startMs = performance.now()
  started += 1
  const [number, others] = [started, inFlight]
  inFlight += 1
  onTestFailed(() => {
    // Tests of `describe.concurrent` overlap.
    const isAlone = others === 0 && started === number
    console.error(describeFailure(task, startMs, isAlone))
  })
  onTestFinished(() => {
    inFlight -= 1
  })
})

function describeFailure({ name, suite }: TestContext['task'], startMs: number, isAlone: boolean): string {
  const title = [suite?.name, name].filter((part) => part !== undefined && part !== '').join(' ')
  const lines = recordedSince(startMs)
  const shown = lines.slice(-LINES_MAX)
  return [
    `Repeat it:  ${repeatCommand(file, title, seed)}`,
    lines.length === 0
      ? 'The test caused no log line and no statement.'
      : `Log lines and statements of this test${isAlone ? '' : ' and of those that ran at the same time'}, in ms since its start` +
        `${shown.length < lines.length ? `, the last ${shown.length} of ${lines.length}` : ''}:`,
    ...shown.map(({ atMs, text }) => `${String(Math.round(atMs - startMs)).padStart(8)}  ${text}`),
  ].join('\n')
}
