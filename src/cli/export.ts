// `petstore export`: every animal as of one moment, as CSV or as JSON lines.
import { createWriteStream } from 'node:fs'
import { rename, rm, stat } from 'node:fs/promises'
import { Transform, type Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { type Command, Option } from 'commander'
import { readConfig } from '../config.ts'
import { countOf } from '../counts.ts'
import { liftTimeouts, openClient } from '../db/pool.ts'
import type { ExportFormat } from '../exports/queries.ts'
import { openProgress } from './progress.ts'
import { CommandError, say } from './terminal.ts'

const FORMATS: readonly ExportFormat[] = ['csv', 'ndjson']

interface Options {
  format: ExportFormat
  output?: string
}

export function addExport(program: Command): void {
  program
    .command('export')
    .description('write every animal, sorted by id, to standard output or a file')
    .addOption(new Option('--format <format>', 'csv can be imported again').choices(FORMATS).default('csv'))
    .option('--output <file>', 'a file, which appears when it is complete')
    .addHelpText(
      'after',
      '\nAll as of one moment, whatever happens meanwhile.\n\nExamples:\n  petstore export --output animals.csv\n  petstore export --format ndjson | gzip > animals.ndjson.gz',
    )
    .action(async (options: Options) => {
      const config = readConfig()
      const client = openClient(config.DATABASE_URL, 'petstore-export')
      await client.connect()
      const progress = openProgress('Exporting')
      try {
        // Loaded here alone: the other commands do without.
        const { copyPetsTo } = await import('../exports/queries.ts')
        await liftTimeouts(client)
        const copy = copyPetsTo(client, options.format)
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
      } catch (error) {
        // Whoever reads has seen enough, as `head` does.
        if (hasCode(error, 'EPIPE')) return
        if (hasCode(error, '42P01'))
          throw new CommandError('The schema of the database is behind. Run: petstore migrate')
        throw error
      } finally {
        progress.end()
        await client.end()
      }
    })
}

/** A file gets its name when it is complete; a device or a pipe is written as it is. */
async function writeTo(path: string | undefined, write: (output: Writable) => Promise<void>): Promise<void> {
  if (path === undefined) return write(process.stdout)
  const existing = await stat(path).catch(() => undefined)
  const isPlain = existing === undefined || existing.isFile()
  const target = isPlain ? `${path}.part` : path
  try {
    await write(createWriteStream(target))
    if (isPlain) await rename(target, path)
  } catch (error) {
    if (isPlain) await rm(target, { force: true })
    if (hasCode(error, 'ENOENT', 'EACCES', 'EISDIR', 'ENOTDIR', 'ENOSPC', 'EROFS')) {
      throw new CommandError(`${path} cannot be written (${(error as Error).message}); choose another place.`)
    }
    throw error
  }
}

function hasCode(error: unknown, ...codes: string[]): boolean {
  return error instanceof Error && 'code' in error && codes.includes(String(error.code))
}
