// `petstore verify`: checks whether a database, such as a restored backup, is complete and consistent.
import type { Command } from 'commander'
import { readConfig } from '../config.ts'
import { connectClient } from '../db/hosts.ts'
import type { Finding } from '../verify/check.ts'
import { EXIT_FAILED } from './exit-codes.ts'
import { openProgress, type ProgressLine } from './progress.ts'
import { paint, print, say, visible } from './terminal.ts'

export function addVerify(program: Command): void {
  program
    .command('verify')
    .description('check whether the database, such as a restored backup, is complete and consistent')
    .option(
      '--json',
      'print a JSON array of {check, state, message, remedy, durationMs}; state is ok, warning or fault',
    )
    .addHelpText(
      'after',
      `
The command reads every row of the database, in one snapshot, and changes nothing. The service can keep running. For each
fault and each warning, the command prints how to fix it.

Use the role petstore_verify, which deploy/roles.sql creates. It can only read, and cannot read the secrets of webhooks.

Exit codes:
  0  no check found a fault; there may be warnings
  1  at least one check found a fault

Examples:
  DATABASE_URL=postgres://petstore_verify@127.0.0.1/restored petstore verify
  petstore verify --json`,
    )
    .action(async ({ json }: { json?: boolean }) => {
      const { DATABASE_URL } = readConfig()
      const client = await connectClient(DATABASE_URL, 'petstore-verify')
      const findings: Finding[] = []
      let progress: ProgressLine | undefined
      try {
        // Imported on demand, so that other commands start faster.
        const { verifyDatabase } = await import('../verify/verify.ts')
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
        if (!isConsistent) process.exitCode = EXIT_FAILED
      } finally {
        progress?.end()
        await client.end()
      }
    })
}

/** A check can take minutes. On a terminal, its name shows that the command is working. */
function showRunning(check: string): void {
  if (process.stderr.isTTY) process.stderr.write(paint('dim', `checking ${check} …`))
}

function clearRunning(): void {
  if (process.stderr.isTTY) process.stderr.write('\r\u{1b}[2K')
}

function toLines({ check, state, message, remedy, durationMs }: Finding): string {
  const mark = {
    ok: paint('green', 'ok     ', process.stdout),
    warning: paint('yellow', 'warning', process.stdout),
    fault: paint('red', 'fault  ', process.stdout),
  }[state]
  const lines = [`${mark}  ${check.padEnd(9)}  ${visible(message)} (${(durationMs / 1000).toFixed(1)} s)`]
  if (remedy !== undefined) lines.push(`${' '.repeat(20)}${remedy}`)
  return lines.join('\n')
}
