// `npm run test:mutants`: plants defects, one at a time in a copy of the repository, and runs the test that must detect
// each. See HELP below.
import { rmSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { recordFigures } from '../proof/figures.ts'
import { startTestServer } from '../support/global-setup.ts'
import { changedSince, isTouched } from './choice.ts'
import { CORE_NAMES } from './core.ts'
import type { Defect } from './defect.ts'
import { DEFECTS } from './defects.ts'
import { copyRepository, ROOT, tryDefect, type Verdict } from './trial.ts'

const HELP = `Usage: npm run test:mutants -- [OPTIONS] [TEXT]

Plants the defects of test/mutants/*defects.ts, one at a time, and runs the test that must detect each.
Without options, plants the core of them that test/mutants/core.ts names, as every merge does.

  TEXT             plant only the defects with this text in their name; with --operators, in their file or line
  --all            plant all defects, for example at night
  --operators      plant no written defect: replace each operator in the pure files of the delivery, and run their tests
  --since REV      plant the defects that changes since this commit may hide: their file, or the test that detects them, has changed
  --jobs N         how many tests run at the same time. Default: 4
  --list           print the names of the defects, and plant none
  --help           print this text

Examples:
  npm run test:mutants                                 before a merge
  npm run test:mutants -- --all                        at night
  npm run test:mutants -- --operators health.ts        after a change of the delivery
  npm run test:mutants -- --since origin/main          what this branch may hide
  npm run test:mutants -- 'a revoked key'              one defect

Exits with 1 if a test passed with its defect, or a defect could not be planted because the code has changed. A defect
without a result, because the host was too slow to finish its test, is reported, but is not an error.`

interface Choice {
  defects: Defect[]
  description: string
}

interface Options extends Choice {
  jobs: number
  isListing: boolean
  isComplete: boolean
  /** The text of the operators to replace, instead of the defects. */
  operators: string | undefined
}

function choose(): Options {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      all: { type: 'boolean', default: false },
      operators: { type: 'boolean', default: false },
      since: { type: 'string' },
      jobs: { type: 'string', default: '4' },
      list: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) {
    console.log(HELP)
    process.exit()
  }
  const [text] = positionals
  return {
    ...(values.operators ? CORE : chooseBy(text, values)),
    operators: values.operators ? (text ?? '') : undefined,
    jobs: Number(values.jobs),
    isListing: values.list,
    isComplete: text === undefined && values.since === undefined,
  }
}

function chooseBy(
  text: string | undefined,
  { since, all }: { since?: string | undefined; all: boolean },
): Choice {
  if (text !== undefined) return chooseNamed(text)
  if (since !== undefined) return chooseTouched(since)
  return all ? ALL : CORE
}

const ALL: Choice = { defects: [...DEFECTS], description: `all ${DEFECTS.length} defects` }
const CORE: Choice = {
  defects: DEFECTS.filter(({ name }) => CORE_NAMES.includes(name)),
  description: `the core of ${CORE_NAMES.length} of ${DEFECTS.length} defects`,
}

function chooseNamed(text: string): Choice {
  const defects = DEFECTS.filter(({ name }) => name.includes(text))
  if (defects.length === 0) throw new Error(`no defect has "${text}" in its name`)
  return { defects, description: `the defects with "${text}" in their name` }
}

function chooseTouched(revision: string): Choice {
  const changed = changedSince(ROOT, revision)
  const defects = DEFECTS.filter((defect) => isTouched(defect, changed))
  return { defects, description: `${defects.length} defects that changes since ${revision} may hide` }
}

function describe({ name, test }: Defect, verdict: Verdict, seconds: number): string {
  const kind = verdict.kind === 'detected' ? 'detected' : verdict.kind.toUpperCase()
  const title = `${kind.padEnd(13)} ${name} (${seconds} s)`
  if (verdict.kind === 'detected') {
    const again = verdict.attempt === 1 ? '' : `, attempt ${verdict.attempt}`
    return `${title}\n              by "${verdict.by}" (${test}${again})`
  }
  return `${title}\n              ${test}: ${verdict.problem}
              The same again: npm run test:mutants -- '${name.replaceAll("'", `'\\''`)}'`
}

async function main(): Promise<void> {
  const { defects, description, jobs, isListing, isComplete, operators } = choose()
  if (operators !== undefined) {
    const { tryOperators } = await import('./operators.ts')
    if ((await tryOperators(operators)) > 0) process.exitCode = 1
    return
  }
  console.log(description)
  if (isListing) {
    for (const { name, file, test } of defects) console.log(`${name}\n    ${file}, ${test}`)
    return
  }
  const server = await startTestServer()
  const queue = [...defects]
  const counts = { detected: 0, 'not detected': 0, 'no result': 0 }
  const work = async () => {
    const copy = copyRepository()
    try {
      for (let defect = queue.shift(); defect !== undefined; defect = queue.shift()) {
        const startedAt = performance.now()
        const verdict = await tryDefect(copy, defect, server.url('postgres'))
        counts[verdict.kind] += 1
        console.log(describe(defect, verdict, Math.round((performance.now() - startedAt) / 1_000)))
      }
    } finally {
      rmSync(copy, { recursive: true, force: true })
    }
  }
  try {
    await Promise.all(Array.from({ length: Math.min(jobs, defects.length) }, work))
  } finally {
    await server.stop()
  }
  console.log(
    `\n${counts.detected} of ${defects.length} planted defects were detected, ${counts['not detected']} were not, ${counts['no result']} without a result`,
  )
  if (isComplete)
    recordFigures('mutants', {
      'planted defects': defects.length,
      'detected by a test': counts.detected,
      'without a result, because the host was too slow': counts['no result'],
    })
  if (counts['not detected'] > 0) process.exitCode = 1
}

await main()
