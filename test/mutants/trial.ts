// Plants one defect in a copy of the repository, and runs the test that must detect it.
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
import type { Defect } from './defect.ts'

export const ROOT = resolve(import.meta.dirname, '../..')

/** How long a test may wait. */
interface Limits {
  testMs: number
  pollMs: number
}

/** Enough for most tests, so that a test that waits for something that the defect prevents ends soon. */
const SHORT: Limits = { testMs: 20_000, pollMs: 10_000 }
/** Enough on a busy host. */
const LONG: Limits = { testMs: 180_000, pollMs: 120_000 }
/** Ends a run that hangs. */
const RUN_MAX_MS = 900_000
/** Whether a defect in concurrent code shows depends on timing, so its test gets a second attempt. */
const ATTEMPTS_MAX = 2

export type Verdict =
  | { kind: 'detected'; by: string; attempt: number }
  /** The test passes with the defect, or the defect cannot be planted. */
  | { kind: 'not detected'; problem: string }
  /** The host was too slow to finish the test, with or without the defect. */
  | { kind: 'no result'; problem: string }

interface Run {
  /** The first test that failed; undefined if all passed. */
  failed: string | undefined
  /** Whether the test may have failed only because it waited too long. */
  mayBeSlow: boolean
  /** Whether the test may have failed for another reason than the defect. */
  isDoubtful: boolean
  /** Whether the run was ended before its end. */
  isEnded: boolean
  output: string
}

/** Copies tracked files and untracked files that git does not ignore, and links node_modules. */
export function copyRepository(): string {
  const copy = mkdtempSync(join(tmpdir(), 'petstore-mutant-'))
  const args = ['ls-files', '--cached', '--others', '--exclude-standard']
  const listed = execFileSync('git', args, { cwd: ROOT }).toString().split('\n')
  for (const file of listed.filter((name) => name !== '' && existsSync(join(ROOT, name)))) {
    mkdirSync(dirname(join(copy, file)), { recursive: true })
    cpSync(join(ROOT, file), join(copy, file))
  }
  symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'))
  return copy
}

/** Plants the defect in the copy, runs its test, and removes the defect. */
export async function tryDefect(copy: string, defect: Defect, serverUrl: string): Promise<Verdict> {
  const path = join(copy, defect.file)
  const before = readFileSync(path, 'utf8')
  if (before.split(defect.find).length !== 2)
    return { kind: 'not detected', problem: 'the file does not contain the text to change exactly once' }
  const planted = before.replace(defect.find, () => defect.replace)
  const run = (text: string, limits: Limits) => {
    writeFileSync(path, text)
    return runTest(copy, defect, limits, serverUrl)
  }
  try {
    return await judge(
      (limits) => run(planted, limits),
      (limits) => run(before, limits),
    )
  } finally {
    writeFileSync(path, before)
  }
}

type RunWith = (limits: Limits) => Promise<Run>

async function judge(runPlanted: RunWith, runCorrect: RunWith): Promise<Verdict> {
  let last: Run | undefined
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt += 1) {
    last = await runPlanted(SHORT)
    if (last.isEnded) return noResult(last)
    if (last.failed === undefined) continue
    const detected: Verdict = { kind: 'detected', by: last.failed, attempt }
    // If the test also fails without the defect, the host is slow, or the test is broken.
    if (!last.isDoubtful || passes(await runCorrect(SHORT))) return detected
    const longer = await runPlanted(LONG)
    if (longer.isEnded) return noResult(longer)
    if (longer.failed === undefined) continue
    const control = await runCorrect(LONG)
    if (passes(control)) return detected
    const isSlow = control.isEnded || control.mayBeSlow
    const problem = `"${control.failed}" fails without the defect, too\n${control.output.slice(-500)}`
    return { kind: isSlow ? 'no result' : 'not detected', problem }
  }
  return { kind: 'not detected', problem: `all its tests passed\n${last?.output.slice(-500)}` }
}

function passes({ failed, isEnded }: Run): boolean {
  return failed === undefined && !isEnded
}

function noResult({ output }: Run): Verdict {
  return { kind: 'no result', problem: `not finished in ${RUN_MAX_MS / 1_000} s\n${output.slice(-500)}` }
}

async function runTest(copy: string, defect: Defect, limits: Limits, serverUrl: string): Promise<Run> {
  const { file, test, title } = defect
  const kind = /^test\/(slow|proof)\//.exec(test)?.[1]
  const report = join(copy, 'report.json')
  rmSync(report, { force: true })
  const args = ['run', test, '--reporter=json', `--outputFile=${report}`, '--bail=1']
  if (kind !== undefined) args.push('--config', `vitest.${kind}.config.ts`)
  else
    args.push(
      `--testTimeout=${limits.testMs}`,
      `--hookTimeout=${limits.testMs}`,
      `--expect.poll.timeout=${limits.pollMs}`,
    )
  if (title !== undefined) args.push('-t', title)
  const { output, isEnded } = await start(copy, args, environmentFor(file, test, serverUrl))
  if (isEnded) return { failed: undefined, mayBeSlow: true, isDoubtful: true, isEnded, output }
  if (!existsSync(report)) throw new Error(`vitest ended without a report:\n${output}`)
  return { ...readReport(copy, report, kind === undefined), isEnded, output }
}

function start(cwd: string, args: string[], env: NodeJS.ProcessEnv) {
  return new Promise<{ output: string; isEnded: boolean }>((done) => {
    // With this Node, because the one in the PATH may be too old for the tests.
    const command = [join(ROOT, 'node_modules/vitest/vitest.mjs'), ...args]
    execFile(process.execPath, command, { cwd, timeout: RUN_MAX_MS, env }, (error, stdout, stderr) =>
      done({ output: stdout + stderr, isEnded: error?.killed === true }),
    )
  })
}

/** One server for all runs, except for defects in the schema that its template databases have. */
function environmentFor(changed: string, test: string, serverUrl: string): NodeJS.ProcessEnv {
  return {
    ...process.env,
    ...(!changed.startsWith('migrations/') && { TEST_SERVER_URL: serverUrl }),
    ...(!test.startsWith('test/contract/') && { TEST_CONTRACT: 'off' }),
  }
}

interface Report {
  testResults: {
    status: string
    name: string
    assertionResults: { status: string; fullName: string; duration?: number | null }[]
  }[]
}

function readReport(copy: string, report: string, isLimited: boolean): Omit<Run, 'isEnded' | 'output'> {
  const { testResults } = JSON.parse(readFileSync(report, 'utf8')) as Report
  const tests = testResults.flatMap((file) => file.assertionResults)
  const failed = tests.find(({ status }) => status === 'failed')
  const failedFile = testResults.find(({ status }) => status === 'failed')
  const passed = tests.filter(({ status }) => status === 'passed')
  if (failed === undefined && failedFile === undefined && passed.length === 0)
    throw new Error('no test has run: the name of its file or its title has changed')
  // A test of test/slow and test/proof has its own long limit. A failed hook has no duration.
  const mayBeSlow = isLimited && failed !== undefined && (failed.duration ?? SHORT.pollMs) >= SHORT.pollMs
  return {
    failed: failed?.fullName ?? failedFile?.name.replace(`${copy}/`, ''),
    mayBeSlow,
    // A file can fail without a failed test, for example because it could not be loaded.
    isDoubtful: mayBeSlow || (failed === undefined && failedFile !== undefined),
  }
}
