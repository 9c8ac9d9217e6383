// `petstore restore-checks`: lists the results of restore checks, and records that a restore failed. `petstore verify
// --record` records the other results.
import { type Command, InvalidArgumentError } from 'commander'
import { readConfig } from '../config/config.ts'
import { AppError } from '../contract/errors.ts'
import {
  insertRestoreCheck,
  listRestoreChecks,
  type NewRestoreCheck,
  type RestoreCheck,
} from '../data/verify/restore-check-queries.ts'
import {
  BACKUP_LENGTH_MAX,
  MESSAGE_LENGTH_MAX,
  REPOSITORY_MAX,
  RESTORE_CHECKS_KEPT,
} from '../data/verify/restore-check-rules.ts'
import { messageOf } from './doctor/finding.ts'
import { parseInteger } from './terminal/arguments.ts'
import { type Cell, CommandError, localTime, print, say, table, visible } from './terminal/terminal.ts'
import { withDatabase } from './with-database.ts'

const APPLICATION_NAME = 'petstore-restore-checks'
const LISTED = 20

export function addRestoreChecks(program: Command): void {
  const checks = program
    .command('restore-checks')
    .description('list the results of checking that backups can be restored, and record a failed restore')

  checks
    .command('list')
    .description('list the results, newest first')
    .option('--limit <n>', 'max number of results to list', parseInteger(1, RESTORE_CHECKS_KEPT), LISTED)
    .option('--json', 'print a JSON array')
    .addHelpText('after', '\nExample:\n  petstore restore-checks list --limit 5')
    .action(async ({ limit, json }: { limit: number; json?: boolean }) => {
      const { DATABASE_URL } = readConfig()
      const all = await withDatabase(DATABASE_URL, APPLICATION_NAME, (db) => listRestoreChecks(db, limit))
      if (json) return print(toJson(all))
      if (all.length === 0) return say('No entries.')
      print(toTable(all))
    })

  checks
    .command('record-failure')
    .usage('--message <text> [options]')
    .description('record that a backup could not be restored')
    .requiredOption('--message <text>', 'what failed (required)')
    .option('--repository <n>', 'repository of pgBackRest', parseRepository, 1)
    .option('--backup <label>', 'label of the backup', parseLabel)
    .option('--started-at <time>', 'when the restore started (default: now)', parsePastTime)
    .addHelpText(
      'after',
      `
deploy/backup/check-restore uses this command if there is no restored database for \`petstore verify --record\`. The role
petstore_verify can run it.

Example:
  petstore restore-checks record-failure --backup 20261116-030001F --message 'the disk is full'`,
    )
    .action(async ({ message, repository, backup, startedAt = new Date() }: FailureOptions) => {
      const durationMs = Date.now() - startedAt.getTime()
      await recordCheck(readConfig().DATABASE_URL, {
        repository,
        backup,
        recoveredTo: null,
        isProven: false,
        durationMs,
        message,
      })
      say('Recorded the failure.')
    })
}

interface FailureOptions {
  message: string
  repository: number
  backup?: string
  startedAt?: Date
}

/** Control characters are escaped, and a long message is cut. */
export async function recordCheck(databaseUrl: string, check: NewRestoreCheck): Promise<void> {
  const message = visible(check.message).slice(0, MESSAGE_LENGTH_MAX)
  try {
    await withDatabase(databaseUrl, APPLICATION_NAME, (db) => insertRestoreCheck(db, { ...check, message }))
  } catch (error) {
    const cause = error instanceof AppError && error.cause !== undefined ? error.cause : error
    throw new CommandError(`Cannot record the result in the database of the store: ${messageOf(cause)}`)
  }
}

export function parseLabel(text: string): string {
  if (/^[\w-]+$/.test(text) && text.length <= BACKUP_LENGTH_MAX) return text
  throw new InvalidArgumentError(
    `A label has 1 to ${BACKUP_LENGTH_MAX} letters, digits, hyphens and underscores.`,
  )
}

export const parseRepository = parseInteger(1, REPOSITORY_MAX)

export function parsePastTime(text: string): Date {
  const time = new Date(text)
  if (/^\d{4}-\d\d-\d\dT/.test(text) && time.getTime() <= Date.now()) return time
  throw new InvalidArgumentError('Use a time in the past, such as 2026-11-16T03:00:00Z.')
}

function toJson(all: readonly RestoreCheck[]): string {
  return JSON.stringify(
    all.map((check) => ({ ...check, durationMs: Number(check.durationMs) })),
    null,
    2,
  )
}

function toTable(all: readonly RestoreCheck[]): string {
  const toRow = (check: RestoreCheck): Cell[] => {
    const { checkedAt, repository, backup, recoveredTo, isProven, durationMs, message } = check
    return [
      localTime(checkedAt.toISOString()),
      isProven ? { text: 'proven', style: 'green' } : { text: 'failed', style: 'red' },
      String(repository),
      backup ?? '',
      recoveredTo === null ? '' : localTime(recoveredTo.toISOString()),
      `${Math.round(Number(durationMs) / 1_000)} s`,
      message,
    ]
  }
  const heading = ['CHECKED', 'RESULT', 'REPOSITORY', 'BACKUP', 'RECOVERED TO', 'DURATION', 'MESSAGE']
  return table([heading, ...all.map(toRow)])
}
