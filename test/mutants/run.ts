// `npm run test:mutants`: plants defects of defects.ts in a copy of the repository, one at a time, and runs the test that
// must detect each. `-- --all` plants the optional ones too; `-- TEXT` plants those with the text in their name. Exits
// with 1 if a defect was not detected, or could not be planted because the code has changed.
import { execFile, execFileSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { recordFigures } from '../proof/figures.ts'
import { startTestServer, type TestServer } from '../support/global-setup.ts'
import type { Defect } from './defect.ts'
import { DEFECTS } from './defects.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const TIMEOUT_MS = 600_000
/** Ends tests and hooks that hang because of the defect. */
const TEST_TIMEOUT_MS = 40_000
/** Whether a defect in concurrent code shows depends on timing, so its test gets a second attempt. */
const ATTEMPTS_MAX = 2
/** The tests spend more time waiting than using the CPU. */
const CONCURRENT_MAX = 6

interface Verdict {
  defect: Defect
  /** The first test that failed; undefined if all passed. */
  detectedBy: string | undefined
  problem?: string
  /** The attempt in which the test failed. */
  attempt?: number
}

/** Copies tracked files and untracked files that git does not ignore, and links node_modules. */
function copyRepository(): string {
  const copy = mkdtempSync(join(tmpdir(), 'petstore-mutant-'))
  const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
    cwd: ROOT,
  })
  for (const file of listed
    .toString()
    .split('\n')
    .filter((name) => name !== '' && existsSync(join(ROOT, name)))) {
    mkdirSync(dirname(join(copy, file)), { recursive: true })
    cpSync(join(ROOT, file), join(copy, file))
  }
  symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'))
  return copy
}

function plant(copy: string, { file, find, replace }: Defect): boolean {
  const before = readFileSync(join(copy, file), 'utf8')
  if (before.split(find).length !== 2) return false
  writeFileSync(
    join(copy, file),
    before.replace(find, () => replace),
  )
  return true
}

/** One server for all runs, except for defects in the schema that its template databases have. */
let server: TestServer | undefined

function environmentFor(changed: string, test: string): NodeJS.ProcessEnv {
  const isSharing = !changed.startsWith('migrations/')
  return {
    ...process.env,
    ...(isSharing && { TEST_SERVER_URL: server?.url('postgres') }),
    ...(!test.startsWith('test/contract/') && { TEST_CONTRACT: 'off' }),
  }
}

async function runTest(
  copy: string,
  { file: changed, test, title }: Defect,
): Promise<{ failed: string | undefined; output: string }> {
  const kind = /^test\/(slow|proof)\//.exec(test)?.[1]
  const report = join(copy, 'report.json')
  const args = ['run', test, '--reporter=json', `--outputFile=${report}`, '--bail=1']
  if (kind !== undefined) args.push('--config', `vitest.${kind}.config.ts`)
  else args.push(`--testTimeout=${TEST_TIMEOUT_MS}`, `--hookTimeout=${TEST_TIMEOUT_MS}`)
  if (title !== undefined) args.push('-t', title)
  const output = await new Promise<string>((done) => {
    execFile(
      join(ROOT, 'node_modules/.bin/vitest'),
      args,
      { cwd: copy, timeout: TIMEOUT_MS, env: environmentFor(changed, test) },
      (_error, stdout, stderr) => done(stdout + stderr),
    )
  })
  if (!existsSync(report)) return { failed: undefined, output }
  const { testResults } = JSON.parse(readFileSync(report, 'utf8')) as {
    testResults: { status: string; name: string; assertionResults: { status: string; fullName: string }[] }[]
  }
  const failedTest = testResults
    .flatMap((file) => file.assertionResults)
    .find(({ status }) => status === 'failed')
  const failedFile = testResults.find(({ status }) => status === 'failed')
  return { failed: failedTest?.fullName ?? failedFile?.name.replace(`${copy}/`, ''), output }
}

async function judge(defect: Defect): Promise<Verdict> {
  const copy = copyRepository()
  try {
    if (!plant(copy, defect))
      return {
        defect,
        detectedBy: undefined,
        problem: 'the file does not contain the text to change exactly once',
      }
    let output = ''
    for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt += 1) {
      const run = await runTest(copy, defect)
      if (run.failed !== undefined) return { defect, detectedBy: run.failed, attempt }
      ;({ output } = run)
    }
    return { defect, detectedBy: undefined, problem: output.slice(-500) }
  } finally {
    rmSync(copy, { recursive: true, force: true })
  }
}

async function main(): Promise<void> {
  const [choice] = process.argv.slice(2)
  const only = choice === '--all' ? undefined : choice
  const isChosen = ({ name, isOptional }: Defect) =>
    only === undefined ? choice === '--all' || isOptional !== true : name.includes(only)
  const todo = DEFECTS.filter(isChosen)
  server = await startTestServer()
  const verdicts: Verdict[] = []
  const queue = [...todo]
  const work = async () => {
    for (let defect = queue.shift(); defect !== undefined; defect = queue.shift()) {
      const verdict = await judge(defect)
      verdicts.push(verdict)
      console.log(
        verdict.detectedBy === undefined
          ? `NOT DETECTED  ${defect.name}\n              ${defect.test}: ${verdict.problem}`
          : `detected      ${defect.name}\n              by "${verdict.detectedBy}" (${defect.test}${verdict.attempt === 1 ? '' : `, attempt ${verdict.attempt}`})`,
      )
    }
  }
  await Promise.all(Array.from({ length: CONCURRENT_MAX }, work))
  await server.stop()
  const detected = verdicts.filter(({ detectedBy }) => detectedBy !== undefined).length
  console.log(`\n${detected} of ${todo.length} planted defects were detected`)
  if (only === undefined)
    recordFigures('mutants', { 'planted defects': todo.length, 'detected by a test': detected })
  if (detected < todo.length) process.exitCode = 1
}

await main()
