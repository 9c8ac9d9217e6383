// `petstore export`: writes all pets, from one snapshot, as CSV or as JSON lines.
import { createWriteStream } from 'node:fs'
import { rename, rm, stat } from 'node:fs/promises'
import { Transform, type Writable } from 'node:stream'
import { finished, pipeline } from 'node:stream/promises'
import { type Command, Option } from 'commander'
import { readConfig } from '../config/config.ts'
import { liftTimeouts } from '../db/connection/pool.ts'
import { UNDEFINED_TABLE } from '../db/connection/sqlstates.ts'
import { connectClient } from '../db/failover/hosts.ts'
import { EXPORT_FORMATS, type ExportFormat } from '../store/pet-export/format.ts'
import { countOf } from '../values/count-text.ts'
import { openProgress } from './terminal/progress.ts'
import { CommandError, print, say } from './terminal/terminal.ts'

interface Options {
  format: ExportFormat
  output?: string
  profiles?: boolean
  /** True without the name of a file. */
  withPosition?: string | true
}

export function addExport(program: Command): void {
  program
    .command('export')
    .description('write all pets, sorted by id, to standard output or to a file')
    .addOption(
      new Option('--format <format>', 'output format; `petstore import` can read only csv')
        .choices(EXPORT_FORMATS)
        .default('csv'),
    )
    .option('--profiles', 'also write the price of each pet and the facts about it')
    .option(
      '--output <file>',
      'write to this file instead of standard output; the file appears when the export is complete',
    )
    .option(
      '--with-position [file]',
      'also print the position in the event feed that follows the export, or write it to this file',
    )
    .addHelpText(
      'after',
      `
An export is a snapshot: it contains no changes made after the export started.

To keep a copy of the catalogue up to date, apply the events after the position to the export, in order. The export may
already contain the changes of the first events. Apply them anyway.

Examples:
  petstore export --output pets.csv
  petstore export --profiles --output pets.csv
  petstore export --format ndjson | gzip > pets.ndjson.gz
  POSITION=$(petstore export --output pets.csv --with-position)
  petstore export --with-position pets.position | gzip > pets.csv.gz`,
    )
    .action(async (options: Options) => {
      if (options.withPosition === true && options.output === undefined) {
        throw new CommandError(
          'Standard output cannot contain both the pets and the position. Add --output FILE, or name a file for the position: --with-position FILE',
        )
      }
      await exportPets(options)
    })
}

async function exportPets(options: Options): Promise<void> {
  const client = await connectClient(readConfig().DATABASE_URL, 'petstore-export')
  const progress = openProgress('Exporting')
  try {
    // Imported on demand, so that other commands start faster.
    const { copyPetsTo, startSnapshot } = await import('../data/import-export/export-queries.ts')
    await liftTimeouts(client)
    const position = options.withPosition === undefined ? undefined : await startSnapshot(client)
    const copy = copyPetsTo(client, options.format, { profiles: options.profiles ?? false })
    let bytes = 0
    const meter = new Transform({
      transform: (chunk: Buffer, _encoding, done) => {
        bytes += chunk.length
        progress.update({ bytes })
        done(null, chunk)
      },
    })
    await writeTo(options.output, (output) => pipeline(copy, meter, output))
    progress.end()
    say(`${countOf(copy.rowCount, 'pet')} exported.`)
    // Last: after a crash, an earlier position with this export is correct. A new position with an earlier export
    // would skip events.
    if (position !== undefined) await reportPosition(position, options.withPosition)
  } catch (error) {
    // The reader closed the pipe, as `head` does.
    if (hasCode(error, 'EPIPE')) return
    if (hasCode(error, UNDEFINED_TABLE))
      throw new CommandError('The database schema is out of date. Run: petstore migrate')
    throw error
  } finally {
    progress.end()
    await client.end()
  }
}

async function reportPosition(position: string, file: Options['withPosition']): Promise<void> {
  if (typeof file !== 'string') return print(position)
  await writeTo(file, async (output) => {
    output.end(`${position}\n`)
    await finished(output)
  })
}

/** Renames a regular file when it is complete. Devices and pipes are written directly. */
async function writeTo(path: string | undefined, write: (output: Writable) => Promise<void>): Promise<void> {
  if (path === undefined) return write(process.stdout)
  const existing = await stat(path).catch(() => undefined)
  const isRegular = existing === undefined || existing.isFile()
  const target = isRegular ? `${path}.part` : path
  try {
    await write(createWriteStream(target))
    if (isRegular) await rename(target, path)
  } catch (error) {
    if (isRegular) await rm(target, { force: true })
    if (hasCode(error, 'ENOENT', 'EACCES', 'EISDIR', 'ENOTDIR', 'ENOSPC', 'EROFS')) {
      throw new CommandError(`Cannot write ${path} (${(error as Error).message}). Choose another path.`)
    }
    throw error
  }
}

function hasCode(error: unknown, ...codes: string[]): boolean {
  return error instanceof Error && 'code' in error && codes.includes(String(error.code))
}
