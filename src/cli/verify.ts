// `petstore verify`: checks whether a database, such as a restored backup, is complete and consistent.
import type { Command } from 'commander'
import { readConfig } from '../config/config.ts'
import type { CheckResult } from '../data/verify/check.ts'
import { connectClient } from '../db/failover/hosts.ts'
import { countOf } from '../values/count-text.ts'
import { parseLabel, parsePastTime, parseRepository, recordCheck } from './restore-checks.ts'
import { EXIT_FAILED } from './terminal/exit-codes.ts'
import { openProgress, type ProgressLine } from './terminal/progress.ts'
import { CommandError, paint, print, say, visible } from './terminal/terminal.ts'

const HELP = `
The command reads every row of the database, in one snapshot, and changes nothing in it. The service can keep running. For each
fault and each warning, the command prints how to fix it.

Use the role petstore_verify, which deploy/roles.sql creates. It can only read and record results, and cannot read the
secrets of webhooks.

With --record, the result is added to the table restore_checks of the store, also if a check fails. The service exposes
it as a metric, and \`petstore restore-checks list\` lists it.

Exit codes:
  0  no check found a fault; there may be warnings
  1  at least one check found a fault, or the result could not be recorded

Examples:
  DATABASE_URL=postgres://petstore_verify@127.0.0.1/restored petstore verify
  petstore verify --json
  petstore verify --record 20261116-030001F`

export function addVerify(program: Command): void {
  program
    .command('verify')
    .description('check whether the database, such as a restored backup, is complete and consistent')
    .option(
      '--json',
      'print a JSON array of {check, state, message, remedy, durationMs}; state is ok, warning or fault',
    )
    .option(
      '--record <backup>',
      'also record the result, for the backup with this label, in the database of RECORD_DATABASE_URL',
      parseLabel,
    )
    .option('--repository <n>', 'the repository of pgBackRest that has the backup', parseRepository, 1)
    .option(
      '--started-at <time>',
      'when the restore started; the recorded duration starts then (default: now)',
      parsePastTime,
    )
    .addHelpText('after', HELP)
    .action(run)
}

/** Verifies the database, and records the result if the caller wants that. */
async function run({
  json = false,
  record,
  repository,
  startedAt = new Date(),
}: VerifyCommandOptions): Promise<void> {
  const { DATABASE_URL, RECORD_DATABASE_URL } = readConfig()
  if (record === undefined) return exitWith(await verify(DATABASE_URL, json))
  if (RECORD_DATABASE_URL === undefined) {
    throw new CommandError(
      'RECORD_DATABASE_URL is not set. Set it to the database in which to record the result.',
    )
  }
  const toCheck = ({ isConsistent, message, recoveredTo }: Verdict) => ({
    repository,
    backup: record,
    recoveredTo,
    isProven: isConsistent,
    durationMs: Date.now() - startedAt.getTime(),
    message,
  })
  const verdict = await verify(DATABASE_URL, json).catch(async (error: unknown) => {
    const message = `cannot verify: ${String(error)}`
    await recordCheck(RECORD_DATABASE_URL, toCheck({ isConsistent: false, message, recoveredTo: null }))
    throw error
  })
  exitWith(verdict)
  await recordCheck(RECORD_DATABASE_URL, toCheck(verdict))
  say('Recorded the result.')
}

interface VerifyCommandOptions {
  json?: boolean
  record?: string
  repository: number
  startedAt?: Date
}

interface Verdict {
  isConsistent: boolean
  /** All findings in one line. */
  message: string
  recoveredTo: Date | null
}

function exitWith({ isConsistent }: Verdict): void {
  if (!isConsistent) process.exitCode = EXIT_FAILED
}

/** Verifies the database, and prints each finding. */
async function verify(databaseUrl: string, json: boolean): Promise<Verdict> {
  const client = await connectClient(databaseUrl, 'petstore-verify')
  const findings: CheckResult[] = []
  let progress: ProgressLine | undefined
  try {
    // Imported on demand, so that other commands start faster.
    const { readRecoveredTo, verifyDatabase } = await import('../data/verify/verify.ts')
    // Fails if the tables are missing. The checks report that.
    const recoveredTo = await readRecoveredTo(client).catch(() => null)
    const isConsistent = await verifyDatabase(client, {
      onStart: showRunning,
      onProgress: (bytes, bytesTotal) => {
        progress ??= openProgress('Reading all rows')
        progress.update({ bytes, bytesTotal })
      },
      onFinding: (finding) => {
        progress?.end()
        progress = undefined
        clearRunning()
        findings.push(finding)
        if (!json) print(toLines(finding))
      },
    })
    if (json) print(JSON.stringify(findings, null, 2))
    else say(isConsistent ? 'The database is complete and consistent.' : 'The database has faults.')
    return { isConsistent, message: summarize(findings), recoveredTo }
  } finally {
    progress?.end()
    await client.end()
  }
}

function summarize(findings: readonly CheckResult[]): string {
  const listOf = (state: CheckResult['state']) =>
    findings
      .filter((finding) => finding.state === state)
      .map(({ check, message }) => `${state}: ${check}: ${message}`)
  return [...listOf('fault'), ...listOf('warning'), `${countOf(findings.length, 'check')} done`].join('; ')
}

/** A check can take minutes. On a terminal, its name shows that the command is working. */
function showRunning(check: string): void {
  if (process.stderr.isTTY) process.stderr.write(paint('dim', `checking ${check} …`))
}

function clearRunning(): void {
  if (process.stderr.isTTY) process.stderr.write('\r\u{1b}[2K')
}

function toLines({ check, state, message, remedy, durationMs }: CheckResult): string {
  const mark = {
    ok: paint('green', 'ok     ', process.stdout),
    warning: paint('yellow', 'warning', process.stdout),
    fault: paint('red', 'fault  ', process.stdout),
  }[state]
  const lines = [`${mark}  ${check.padEnd(9)}  ${visible(message)} (${(durationMs / 1000).toFixed(1)} s)`]
  if (remedy !== undefined) lines.push(`${' '.repeat(20)}${remedy}`)
  return lines.join('\n')
}
