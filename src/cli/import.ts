// `petstore import`: adds the animals of a CSV file, and goes on where it stopped when it is run again.
import { realpath } from 'node:fs/promises'
import { type Command, InvalidArgumentError, Option } from 'commander'
import type { Client } from 'pg'
import { type Config, readConfig } from '../config.ts'
import { count, countOf } from '../counts.ts'
import { openClient } from '../db/pool.ts'
import type { Source } from '../imports/source.ts'
import { EXIT_INTERRUPTED, EXIT_ROWS_REJECTED } from './exit-codes.ts'
import { openProgress } from './progress.ts'
import { CommandError, paint, print, say } from './terminal.ts'

const REJECTED_SHOWN_MAX = 10

interface Options {
  id?: string
  rejected?: string
  refused?: string
  dryRun?: boolean
  again?: boolean
  json?: boolean
}

interface Outcome {
  rows: number
  rejected: number
  rowsBefore: number
  interrupted: boolean
  rejectedFile: string | null
}

export function addImport(program: Command): void {
  program
    .command('import')
    .description('add the animals of a CSV file; run again after a failure, it goes on where it stopped')
    .argument(
      '<file>',
      'a CSV file with the columns name, categoryId and, if wanted, status; - reads standard input',
    )
    .option(
      '--id <name>',
      'what to know standard input by, so that it can go on: letters, digits, . _ -',
      parseInputName,
    )
    .option('--rejected <path>', 'where to list rejected rows; FILE.rejected.csv unless given')
    .addOption(new Option('--refused <path>', 'the former name of --rejected').hideHelp())
    .option('--dry-run', 'check every row and write nothing')
    .option('--again', 'add the animals of a finished file once more')
    .option('--json', 'a summary as JSON on standard output')
    .addHelpText(
      'after',
      `
A row that the interface would refuse is listed with its line and the reason, and does not stop the others.
Ends with 0 when every row was taken, 2 when some were refused, 1 on failure.

Examples:
  petstore import animals.csv --dry-run
  petstore import animals.csv
  zcat animals.csv.gz | petstore import - --id animals-2030-06`,
    )
    .action(async (file: string, options: Options) => {
      const config = readConfig()
      await run(file, withoutFormerNames(options), config)
    })
}

/** `--refused` was renamed in version 1.1 and works until 2.0. */
function withoutFormerNames({ refused, ...options }: Options): Options {
  if (refused === undefined) return options
  say('--refused is now called --rejected; the old name works until version 2.0.')
  return { rejected: refused, ...options }
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
    say('Stopped before anything was added.')
    process.exitCode = EXIT_INTERRUPTED
  } finally {
    process.off('SIGINT', onSignal).off('SIGTERM', onSignal)
  }
}

async function openSource(file: string, options: Options, signal: AbortSignal): Promise<Source> {
  // Loaded here alone, as below: the other commands do without.
  const { fileSource, inputSource } = await import('../imports/source.ts')
  if (file === '-') {
    if (options.id === undefined && !options.dryRun) {
      throw new CommandError(
        'Standard input needs a name, so that a run after a failure can go on: petstore import - --id NAME',
      )
    }
    return inputSource(process.stdin, options.id ?? 'dry-run', { signal })
  }
  if (options.id !== undefined) {
    throw new CommandError(
      'A file is known by its content; --id is for standard input: petstore import - --id NAME',
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
): Promise<Outcome> {
  const { importPets, namedCategories } = await import('../imports/imports.ts')
  const rejectedPath = options.rejected ?? `${file === '-' ? options.id : file}.rejected.csv`
  if (await isSameFile(rejectedPath, file)) {
    throw new CommandError(
      '--rejected names the input file itself; choose another path for the rejected rows.',
    )
  }
  const client = await connect(config)
  const lookup = config.CATEGORIES === 'strict' ? await connect(config) : undefined
  const progress = openProgress('Adding')
  const onAbort = () => say('\nFinishing the batch under way; once more ends at once.')
  signal.addEventListener('abort', onAbort)
  try {
    const result = await importPets(client, source, {
      findNamed: lookup && namedCategories(lookup),
      rejectedPath,
      again: options.again ?? false,
      signal,
      onProgress: ({ bytes, rows }) => progress.update({ bytes, rows, bytesTotal: source.bytesTotal }),
    })
    progress.end()
    if (result.listIncomplete) {
      say(`${rejectedPath} lacks the rows that earlier runs refused: it was moved or changed since.`)
    }
    return { ...result, rejectedFile: result.rejected > 0 ? rejectedPath : null }
  } catch (error) {
    const isBehind = error instanceof Error && 'code' in error && error.code === '42P01'
    throw isBehind ? new CommandError('The schema of the database is behind. Run: petstore migrate') : error
  } finally {
    signal.removeEventListener('abort', onAbort)
    progress.end()
    await client.end()
    await lookup?.end()
  }
}

async function check(source: Source, config: Config): Promise<Outcome> {
  const { checkPets, namedCategories } = await import('../imports/imports.ts')
  // Only the names of categories are asked of the database.
  const client = config.CATEGORIES === 'strict' ? await connect(config) : undefined
  const progress = openProgress('Checking')
  const shown: string[] = []
  try {
    const result = await checkPets(source, {
      findNamed: client && namedCategories(client),
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
    await client?.end()
  }
}

function report(outcome: Outcome, seconds: number, source: Source, options: Options): void {
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
        // The names before version 1.1, until 2.0.
        refused: rejected,
        refusedFile: rejectedFile,
        rowsBefore,
        seconds: Number(seconds.toFixed(3)),
        rowsPerSecond,
      }),
    )
  }
  const earlier = rowsBefore > 0 ? `, ${count(rowsBefore)} of them read by earlier runs` : ''
  const added = `${countOf(rows - rejected, 'row')} ${options.dryRun ? 'can be added' : 'added'}`
  say(
    `${added}, ${count(rejected)} refused${earlier}; ${seconds.toFixed(1)} s, ${countOf(rowsPerSecond, 'row')}/s.`,
  )
  if (rejectedFile !== null) {
    say(paint('yellow', `The refused rows, with lines and reasons, are in ${rejectedFile}`))
  }
  if (interrupted) say('Stopped before the end. Run the same command again to go on from here.')
  if (interrupted) process.exitCode = EXIT_INTERRUPTED
  else if (rejected > 0) process.exitCode = EXIT_ROWS_REJECTED
}

async function connect(config: Config): Promise<Client> {
  const client = openClient(config.DATABASE_URL, 'petstore-import')
  await client.connect()
  return client
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
  throw new InvalidArgumentError('It must have 1 to 100 letters, digits, dots, dashes or underscores.')
}
