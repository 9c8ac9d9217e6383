// Where the rows come from: a file, which is known by its digest, or an input without one, which is known by a name.
import { createHash } from 'node:crypto'
import { createReadStream, type Stats } from 'node:fs'
import { stat } from 'node:fs/promises'
import { basename } from 'node:path'
import { addAbortSignal, type Readable } from 'node:stream'
import { type CsvPosition, type CsvRecord, openCsvParser } from './csv.ts'
import { ImportError } from './schema.ts'

// Parsing one takes about two milliseconds, the longest that the copy of the batch before has to wait.
const CHUNK_BYTES = 65_536

export interface Source {
  /** Its key in the table `imports`. */
  key: string
  /** What tells its animals' request ids apart. */
  shortKey: string
  label: string
  /** Undefined where nobody can know. */
  bytesTotal: number | undefined
  /** The columns, and all rows from the position on: at once where that can be, else from the first row. */
  open(from: CsvPosition | undefined): Promise<OpenSource>
}

export interface OpenSource {
  header: string[]
  /** Whether the rows start with the first one, whatever the position was. */
  startsOver: boolean
  /** Chunk by chunk, each to be read to its end before the next. */
  records: AsyncIterable<Iterable<CsvRecord>>
  /** Throws when the file is not what it was. */
  checkUnchanged(): Promise<void>
}

export interface SourceOptions {
  signal: AbortSignal
  /** Called while the digest is being made. */
  onDigest?: (bytes: number, bytesTotal: number) => void
}

export async function fileSource(path: string, { signal, onDigest }: SourceOptions): Promise<Source> {
  const stats = await statFile(path)
  const digest = createHash('sha256')
  let bytes = 0
  for await (const chunk of readFile(path, 0, signal)) {
    digest.update(chunk)
    bytes += chunk.length
    onDigest?.(bytes, stats.size)
  }
  const sha256 = digest.digest('hex')
  return {
    key: `sha256:${sha256}`,
    shortKey: sha256.slice(0, 12),
    label: basename(path),
    bytesTotal: stats.size,
    open: async (from) => {
      const fromStart = readRecords(readFile(path, 0, signal))
      const first = await readHeader(fromStart, path)
      if (from !== undefined) await fromStart.return(undefined)
      return {
        header: first.header,
        startsOver: false,
        records: from === undefined ? first.records : readRecords(readFile(path, from.bytes, signal), from),
        checkUnchanged: async () => {
          const now = await statFile(path)
          if (now.size === stats.size && now.mtimeMs === stats.mtimeMs && now.ino === stats.ino) return
          throw new ImportError(
            `${path} was changed while it was read. Compare what is in the catalogue before you import the new one.`,
          )
        },
      }
    },
  }
}

export function inputSource(input: Readable, id: string, { signal }: SourceOptions): Source {
  return {
    key: `id:${id}`,
    shortKey: id,
    label: 'standard input',
    bytesTotal: undefined,
    open: async () => {
      const stream = addAbortSignal(signal, input) as AsyncIterable<Buffer>
      return {
        ...(await readHeader(readRecords(stream), 'The input')),
        startsOver: true,
        checkUnchanged: async () => {},
      }
    },
  }
}

function readFile(path: string, start: number, signal: AbortSignal): AsyncIterable<Buffer> {
  return createReadStream(path, { start, signal, highWaterMark: CHUNK_BYTES })
}

async function statFile(path: string): Promise<Stats> {
  const stats = await stat(path).catch((error: NodeJS.ErrnoException) => {
    throw new ImportError(
      error.code === 'ENOENT'
        ? `There is no file ${path}.`
        : `${path} cannot be read (${error.code}); see who may read it.`,
    )
  })
  if (stats.isFile()) return stats
  throw new ImportError(`${path} is not a file. To read from a pipe: … | petstore import - --id NAME`)
}

async function* readRecords(
  chunks: AsyncIterable<Buffer>,
  from?: CsvPosition,
): AsyncGenerator<Generator<CsvRecord>> {
  const parser = openCsvParser(from)
  for await (const chunk of chunks) yield parser.push(chunk)
  yield parser.push(Buffer.alloc(0), true)
}

async function readHeader(chunks: ReturnType<typeof readRecords>, label: string) {
  for (;;) {
    const { value: records, done } = await chunks.next()
    if (done) {
      throw new ImportError(`${label} is empty. Its first line must name the columns: name,categoryId,status`)
    }
    const { value: header, done: none } = records.next()
    if (none) continue
    if (header.fault !== undefined) {
      throw new ImportError(
        `The first line of ${label} cannot be read: ${header.fault} ` +
          'It must name the columns, in UTF-8: name,categoryId,status',
      )
    }
    return { header: header.fields, records: continueWith(records, chunks) }
  }
}

async function* continueWith(first: Iterable<CsvRecord>, others: AsyncIterable<Iterable<CsvRecord>>) {
  yield first
  yield* others
}
