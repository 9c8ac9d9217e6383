// The list of refused rows: a file that is as long as the database says, also after a crash.
import { type FileHandle, open, rm } from 'node:fs/promises'
import { ImportError, type ListedRow } from './schema.ts'

const HEADER = 'line,reason,name,categoryId,status,row\n'

export interface RejectedList {
  /** Whether it lacks rows that an earlier run had put there. */
  isIncomplete: boolean
  /** Safely on the disk when it answers, so that the database may count on it; answers how long it is. */
  append(rows: readonly ListedRow[]): Promise<number>
  /** Leaves no file behind where nothing was refused. */
  close(): Promise<void>
}

export async function openRejectedList(path: string, bytesCommitted: number): Promise<RejectedList> {
  const file = await openOrExplain(path)
  let { size } = await file.stat()
  // What another run wrote after its last commit, or the list of an import before.
  const isIncomplete = size < bytesCommitted
  const kept = isIncomplete ? 0 : bytesCommitted
  await file.truncate(kept)
  size = kept

  return {
    isIncomplete,
    append: async (rows) => {
      if (rows.length === 0) return size
      const text = Buffer.from((size === 0 ? HEADER : '') + rows.map(toCsv).join(''))
      for (let written = 0; written < text.length; ) {
        const { bytesWritten } = await file.write(text, written, text.length - written, size + written)
        written += bytesWritten
      }
      size += text.length
      await file.datasync()
      return size
    },
    close: async () => {
      await file.close()
      if (size === 0) await rm(path, { force: true })
    },
  }
}

async function openOrExplain(path: string): Promise<FileHandle> {
  const file = await open(path, 'r+')
    .catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error
      return open(path, 'wx+')
    })
    .catch((error: Error) => {
      throw new ImportError(
        `The list of refused rows cannot be written (${error.message}); choose another place with --rejected PATH.`,
      )
    })
  const { buffer, bytesRead } = await file.read(Buffer.alloc(HEADER.length), 0, HEADER.length, 0)
  if (bytesRead === 0 || buffer.toString() === HEADER) return file
  await file.close()
  throw new ImportError(
    `${path} exists and is not a list of rejected rows of this version; move it away, or choose another place with --rejected PATH.`,
  )
}

function toCsv({ line, reason, name, categoryId, status, text }: ListedRow): string {
  return `${[String(line), reason, name, categoryId, status, text].map(quote).join(',')}\n`
}

function quote(field: string): string {
  return /[",\r\n]/.test(field) ? `"${field.replaceAll('"', '""')}"` : field
}
