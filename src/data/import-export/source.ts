// Sources of rows: a file, identified by its digest, or standard input, identified by a name.
import { createHash } from 'node:crypto'
import { createReadStream, type Stats } from 'node:fs'
import { stat } from 'node:fs/promises'
import { basename } from 'node:path'
import { addAbortSignal, type Readable } from 'node:stream'
import { fileFault } from '../../values/file-fault.ts'
import { type CsvPosition, type CsvRecord, openCsvParser } from './csv.ts'
import { ImportError } from './schema.ts'

/** Parsing a chunk takes about 2 ms. It delays the copy of the previous batch by at most this time. */
const CHUNK_BYTES = 65_536

export interface Source {
  /** Primary key in the table `imports`. */
  key: string
  /** Part of the request id of the imported pets. */
  shortKey: string
  /** Name of the source in messages. */
  label: string
  /** Size of the file; undefined for standard input. */
  bytesTotal: number | undefined
  /** Returns the header and the rows. A file starts at the position, standard input always at its first row. */
  open(from: CsvPosition | undefined): Promise<OpenSource>
}

export interface OpenSource {
  header: string[]
  /** Whether `records` starts at the first row, regardless of the position. */
  startsOver: boolean
  /** The records of each chunk. Read all records of a chunk before you take the next chunk. */
  records: AsyncIterable<Iterable<CsvRecord>>
  /** Throws if the file has changed during the import. */
  checkUnchanged(): Promise<void>
}

export interface SourceOptions {
  signal: AbortSignal
  /** Called with the number of bytes read so far while the digest of a file is computed. */
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
            `${path} was changed during the import. Check which of its pets are in the catalogue before you import the new file.`,
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
  const stats = await stat(path).catch((error: unknown) => {
    throw new ImportError(fileFault(path, error))
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
        `${label} has an invalid first line: ${header.fault} ` +
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
