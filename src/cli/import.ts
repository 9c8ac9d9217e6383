// `petstore import`: adds the pets in a CSV file. After a failure, the next run continues after the last committed batch.
import { realpath } from 'node:fs/promises'
import { type Command, InvalidArgumentError } from 'commander'
import type { Client } from 'pg'
import { type Config, readConfig } from '../config/config.ts'
import type { Source } from '../data/import-export/source.ts'
import { readerOf } from '../db/connection/pool.ts'
import { UNDEFINED_TABLE } from '../db/connection/sqlstates.ts'
import { DURABLE_READ } from '../db/durable-read.ts'
import { connectClient } from '../db/failover/hosts.ts'
import { findSettings } from '../store/settings/queries.ts'
import { count, countOf } from '../values/count-text.ts'
import { EXIT_INTERRUPTED, EXIT_ROWS_REJECTED } from './terminal/exit-codes.ts'
import { openProgress } from './terminal/progress.ts'
import { CommandError, paint, print, say } from './terminal/terminal.ts'

const REJECTED_SHOWN_MAX = 10

interface Options {
  id?: string
  rejected?: string
  dryRun?: boolean
  again?: boolean
  json?: boolean
}

interface ImportSummary {
  rows: number
  rejected: number
  rowsBefore: number
  interrupted: boolean
  rejectedFile: string | null
}

export function addImport(program: Command): void {
  program
    .command('import')
    .description('add the pets in a CSV file; after a failure, run the same command again to continue')
    .argument(
      '<file>',
      'CSV file with the columns name, categoryId and, optionally, status and those of a profile; use - for standard input',
    )
    .option(
      '--id <name>',
      'name that identifies standard input, so that a later run can continue; required for standard input, except with --dry-run',
      parseInputName,
    )
    .option(
      '--rejected <path>',
      'file for rejected rows (default: FILE.rejected.csv, or ID.rejected.csv for standard input)',
    )
    .option('--dry-run', 'check every row; add no pets and write no file')
    .option('--again', 'import a file that was already imported; adds its pets a second time')
    .option('--json', 'print a JSON summary to standard output')
    .addHelpText(
      'after',
      `
A row that the API would reject does not stop the import. The command writes it to the file for rejected rows,
with its line number and the reason. With --dry-run, it prints the first 10 rejected rows instead.

Exit codes:
  0    every row was added (with --dry-run: every row is valid)
  1    the import failed; fix the problem and run the same command again to
       continue
  2    some rows were rejected and all others added (with --dry-run: some rows
       are invalid)
  130  stopped by Ctrl-C or SIGTERM; run the same command again to continue

Examples:
  petstore import pets.csv --dry-run
  petstore import pets.csv
  zcat pets.csv.gz | petstore import - --id pets-2030-06`,
    )
    .action(async (file: string, options: Options) => {
      const config = readConfig()
      await run(file, options, config)
    })
}

async function run(file: string, options: Options, config: Config): Promise<void> {
  const interrupt = new AbortController()
  const onSignal = () => {
    if (interrupt.signal.aborted) process.exit(EXIT_INTERRUPTED)
    interrupt.abort()
  }
  process.on('SIGINT', onSignal).on('SIGTERM', onSignal)
  const startedAt = performance.now()
  try {
    const source = await openSource(file, options, interrupt.signal)
    const outcome = options.dryRun
      ? await check(source, config)
      : await add(source, file, options, config, interrupt.signal)
    report(outcome, (performance.now() - startedAt) / 1000, source, options)
  } catch (error) {
    if (!interrupt.signal.aborted || !isAbort(error)) throw error
    say('Stopped before any row was added.')
    process.exitCode = EXIT_INTERRUPTED
  } finally {
    process.off('SIGINT', onSignal).off('SIGTERM', onSignal)
  }
}

async function openSource(file: string, options: Options, signal: AbortSignal): Promise<Source> {
  // Imported on demand, as below, so that other commands start faster.
  const { fileSource, inputSource } = await import('../data/import-export/source.ts')
  if (file === '-') {
    if (options.id === undefined && !options.dryRun) {
      throw new CommandError(
        'Name standard input with --id, so that a later run can continue after a failure: petstore import - --id NAME',
      )
    }
    return inputSource(process.stdin, options.id ?? 'dry-run', { signal })
  }
  if (options.id !== undefined) {
    throw new CommandError(
      '--id is only for standard input (petstore import - --id NAME). A file is identified by its content.',
    )
  }
  const progress = openProgress('Reading')
  try {
    return await fileSource(file, {
      signal,
      onDigest: (bytes, bytesTotal) => progress.update({ bytes, bytesTotal }),
    })
  } finally {
    progress.end()
  }
}

async function add(
  source: Source,
  file: string,
  options: Options,
  config: Config,
  signal: AbortSignal,
): Promise<ImportSummary> {
  const { importPets, namedCategories } = await import('../data/import-export/imports.ts')
  const rejectedPath = options.rejected ?? `${file === '-' ? options.id : file}.rejected.csv`
  if (await isSameFile(rejectedPath, file)) {
    throw new CommandError('--rejected is the input file itself. Choose another path for the rejected rows.')
  }
  const client = await connect(config)
  let lookup: Client | undefined
  const progress = openProgress('Adding')
  const onAbort = () => say('\nStopping after the current batch. Press Ctrl-C again to stop at once.')
  signal.addEventListener('abort', onAbort)
  try {
    if (config.CATEGORIES === 'strict') lookup = await connect(config)
    const result = await importPets(client, source, {
      findNamed: lookup && namedCategories(lookup),
      currency: (await findSettings(readerOf(client))).currency,
      rejectedPath,
      again: options.again ?? false,
      signal,
      onProgress: ({ bytes, rows }) => progress.update({ bytes, rows, bytesTotal: source.bytesTotal }),
    })
    progress.end()
    if (result.listIncomplete) {
      say(
        `${rejectedPath} lacks the rows that earlier runs rejected, because the file was moved or changed since then.`,
      )
    }
    return { ...result, rejectedFile: result.rejected > 0 ? rejectedPath : null }
  } catch (error) {
    const isOutdated = error instanceof Error && 'code' in error && error.code === UNDEFINED_TABLE
    throw isOutdated ? new CommandError('The database schema is out of date. Run: petstore migrate') : error
  } finally {
    signal.removeEventListener('abort', onAbort)
    progress.end()
    await client.end()
    await lookup?.end()
  }
}

async function check(source: Source, config: Config): Promise<ImportSummary> {
  const { checkPets, namedCategories } = await import('../data/import-export/imports.ts')
  // A dry run reads only the settings of the shop, and the names of categories.
  const client = await connect(config)
  const progress = openProgress('Checking')
  const shown: string[] = []
  try {
    const result = await checkPets(source, {
      findNamed: config.CATEGORIES === 'strict' ? namedCategories(client) : undefined,
      currency: (await findSettings(readerOf(client))).currency,
      onProgress: ({ bytes, rows }) => progress.update({ bytes, rows, bytesTotal: source.bytesTotal }),
      onRejected: ({ line, reason }) => {
        if (shown.length < REJECTED_SHOWN_MAX) shown.push(`line ${line}: ${reason}`)
      },
    })
    progress.end()
    for (const line of shown) say(line)
    if (result.rejected > shown.length) say(`… and ${count(result.rejected - shown.length)} more`)
    return { ...result, rowsBefore: 0, interrupted: false, rejectedFile: null }
  } finally {
    progress.end()
    await client.end()
  }
}

function report(outcome: ImportSummary, seconds: number, source: Source, options: Options): void {
  const { rows, rejected, rowsBefore, interrupted, rejectedFile } = outcome
  const rowsPerSecond = Math.round((rows - rowsBefore) / seconds)
  if (options.json) {
    print(
      JSON.stringify({
        source: source.key,
        dryRun: options.dryRun ?? false,
        finished: !interrupted,
        rows,
        added: rows - rejected,
        rejected,
        rejectedFile,
        rowsBefore,
        seconds: Number(seconds.toFixed(3)),
        rowsPerSecond,
      }),
    )
  }
  const earlier = rowsBefore > 0 ? `, ${count(rowsBefore)} of them processed by earlier runs` : ''
  const added = `${countOf(rows - rejected, 'row')} ${options.dryRun ? 'can be added' : 'added'}`
  say(
    `${added}, ${count(rejected)} rejected${earlier}; ${seconds.toFixed(1)} s, ${countOf(rowsPerSecond, 'row')}/s.`,
  )
  if (rejectedFile !== null) {
    say(paint('yellow', `Rejected rows, with line numbers and reasons: ${rejectedFile}`))
  }
  if (interrupted) say('Stopped before the end. Run the same command again to continue.')
  if (interrupted) process.exitCode = EXIT_INTERRUPTED
  else if (rejected > 0) process.exitCode = EXIT_ROWS_REJECTED
}

async function connect(config: Config): Promise<Client> {
  const client = await connectClient(config.DATABASE_URL, 'petstore-import')
  try {
    // The progress of an earlier run counts only if no failover can lose it.
    await client.query(DURABLE_READ)
    return client
  } catch (error) {
    // An open connection would keep the process running.
    await client.end()
    throw error
  }
}

async function isSameFile(one: string, other: string): Promise<boolean> {
  const [first, second] = await Promise.all([one, other].map((path) => realpath(path).catch(() => undefined)))
  return first !== undefined && first === second
}

function isAbort(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError'
}

function parseInputName(text: string): string {
  if (/^[A-Za-z0-9._-]{1,100}$/.test(text)) return text
  throw new InvalidArgumentError('Use 1 to 100 letters, digits, dots, dashes or underscores.')
}
