// `npm run test:mutants`: plants defects, one at a time in a copy of the repository, and runs the test that must detect
// each. See HELP below.
import { rmSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { recordFigures } from '../proof/figures.ts'
import { startTestServer } from '../support/global-setup.ts'
import {
  changedSince,
  findBase,
  isInPart,
  isTouched,
  limitTouched,
  PARTS,
  partOfDay,
  resolveCommit,
} from './choice.ts'
import type { Defect } from './defect.ts'
import { DEFECTS } from './defects.ts'
import { copyRepository, ROOT, tryDefect, type Verdict } from './trial.ts'

const HELP = `Usage: npm run test:mutants -- [OPTIONS] [TEXT]

Plants the defects of test/mutants/*defects.ts, one at a time, and runs the test that must detect each.
Without options, plants up to 60 defects that recent changes may affect, and one of ${PARTS} parts of the others. The part
depends on the date, so that ${PARTS} consecutive days plant all defects.

  TEXT             plant only the defects with this text in their name
  --all            plant all defects, for example at night
  --since REV      the changes since this commit: a defect counts if its file, or the test that detects it, has changed.
                   Default: where this branch left origin/main; on the main branch, the last 20 commits
  --part N         the part of the others, from 1 to ${PARTS}; 0 is none. Default: the part of today
  --jobs N         how many tests run at the same time. Default: 4
  --list           print the names of the defects, and plant none
  --help           print this text

Examples:
  npm run test:mutants                                 before a merge
  npm run test:mutants -- --all                        at night
  npm run test:mutants -- --since HEAD~1 --part 0      only what the last commit may affect
  npm run test:mutants -- 'a revoked key'              one defect

Exits with 1 if a test passed with its defect, or a defect could not be planted because the code has changed. A defect
without a result, because the host was too slow to finish its test, is reported, but is not an error.`

interface Choice {
  defects: Defect[]
  /** What was chosen, and a command that chooses at least the same. */
  description: string
}

function choose(): Choice & { jobs: number; isListing: boolean; isComplete: boolean } {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      all: { type: 'boolean', default: false },
      since: { type: 'string' },
      part: { type: 'string' },
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
  const chosen = text !== undefined ? chooseNamed(text) : values.all ? ALL : chooseRecent(values)
  return { ...chosen, jobs: Number(values.jobs), isListing: values.list, isComplete: text === undefined }
}

const ALL: Choice = { defects: [...DEFECTS], description: `all ${DEFECTS.length} defects` }

function chooseNamed(text: string): Choice {
  const defects = DEFECTS.filter(({ name }) => name.includes(text))
  if (defects.length === 0) throw new Error(`no defect has "${text}" in its name`)
  return { defects, description: `the defects with "${text}" in their name` }
}

function chooseRecent(values: { since?: string | undefined; part?: string | undefined }): Choice {
  const since = values.since === undefined ? findBase(ROOT) : resolveCommit(ROOT, values.since)
  const part = Number(values.part ?? partOfDay(new Date()))
  if (!Number.isInteger(part) || part < 0 || part > PARTS)
    throw new Error(`--part must be a number from 0 to ${PARTS}`)
  const changed = changedSince(ROOT, since)
  const touched = DEFECTS.filter((defect) => isTouched(defect, changed))
  const planted = values.since === undefined ? limitTouched(touched, part) : touched
  const others = DEFECTS.filter((defect, index) => isInPart(index, part) && !touched.includes(defect))
  return {
    defects: [...planted, ...others],
    description: `${planted.length} of ${touched.length} defects that changes since ${since.slice(0, 12)} may affect, and ${others.length} of part ${part} of ${PARTS}
All of them: npm run test:mutants -- --since ${since} --part ${part}`,
  }
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
  const { defects, description, jobs, isListing, isComplete } = choose()
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
