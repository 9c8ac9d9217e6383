// `petstore report`: records what the service cannot see by itself, for the page "Health" of the console. Timers of the
// operator run it.
import { X509Certificate } from 'node:crypto'
import { readFileSync, statfsSync } from 'node:fs'
import { type Command, InvalidArgumentError } from 'commander'
import { readConfig } from '../config/config.ts'
import { type NewReport, upsertHealthReport } from '../server/health/queries.ts'
import { NOTE_LENGTH_MAX, type ReportName } from '../server/health/rules.ts'
import { messageOf } from './doctor/finding.ts'
import { parsePastTime } from './restore-checks.ts'
import { CommandError, say, visible } from './terminal/terminal.ts'
import { withDatabase } from './with-database.ts'

const APPLICATION_NAME = 'petstore-report'

export function addReport(program: Command): void {
  const report = program
    .command('report')
    .description('record the age of a backup, the disk or a certificate for the page "Health" of the console')
    .addHelpText(
      'after',
      `
Run these commands in timers, and after each backup. Each replaces what it recorded before. The role petstore_verify can
run them.`,
    )
  addBackup(report, 'backup', 'backup', 'record that a backup was made')
  addBackup(
    report,
    'second-place',
    'secondPlace',
    'record that the backups were copied to another place, away from the server',
  )

  report
    .command('disk')
    .usage('--folder <folder> [options]')
    .description('record how full the disk with a folder is')
    .requiredOption('--folder <folder>', 'a folder on the disk, such as that of PostgreSQL (required)')
    .option('--note <text>', 'which disk it is (default: the folder)', parseNote)
    .action(async ({ folder, note = folder }: { folder: string; note?: string }) => {
      const { blocks, bavail, bfree, bsize } = attempt(() => statfsSync(folder, { bigint: true }))
      // As df: blocks that only root can use are neither used nor free.
      const used = blocks - bfree
      const [usedBytes, totalBytes] = [used * bsize, (used + bavail) * bsize]
      await record({ name: 'disk', at: null, usedBytes, totalBytes, note })
    })
    .addHelpText('after', exampleOf('disk --folder /var/lib/postgresql'))

  report
    .command('certificate')
    .usage('--file <file> [options]')
    .description('record when a certificate expires')
    .requiredOption('--file <file>', 'the certificate in PEM, or a chain that starts with it (required)')
    .option('--note <text>', 'whose certificate it is, such as the host name', parseNote)
    .action(async ({ file, note }: { file: string; note?: string }) => {
      const { validToDate } = attempt(() => new X509Certificate(readFileSync(file)))
      await recordTime('certificate', validToDate, note)
    })
    .addHelpText('after', exampleOf('certificate --file /etc/ssl/shop.example.pem --note shop.example'))
}

const exampleOf = (command: string) => `\nExample:\n  petstore report ${command}`

function addBackup(report: Command, command: string, name: ReportName, description: string): void {
  report
    .command(command)
    .description(description)
    .option('--at <time>', 'when the backup was made (default: now)', parsePastTime)
    .option('--note <text>', 'where it is', parseNote)
    .action(({ at = new Date(), note }: { at?: Date; note?: string }) => recordTime(name, at, note))
    .addHelpText('after', exampleOf(`${command} --note 'on the backup host'`))
}

function recordTime(name: ReportName, at: Date, note: string | undefined): Promise<void> {
  return record({ name, at, usedBytes: null, totalBytes: null, note: note ?? null })
}

async function record(report: NewReport): Promise<void> {
  const note = report.note && visible(report.note).slice(0, NOTE_LENGTH_MAX)
  await withDatabase(readConfig().DATABASE_URL, APPLICATION_NAME, (db) =>
    upsertHealthReport(db, { ...report, note }),
  )
  say('Recorded the report.')
}

function parseNote(text: string): string {
  if (text.length <= NOTE_LENGTH_MAX) return text
  throw new InvalidArgumentError(`A note has at most ${NOTE_LENGTH_MAX} characters.`)
}

function attempt<Value>(work: () => Value): Value {
  try {
    return work()
  } catch (error) {
    throw new CommandError(messageOf(error))
  }
}
