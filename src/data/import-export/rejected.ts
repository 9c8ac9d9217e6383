// The list of rejected rows, a CSV file. A run that resumes truncates it to the length that is stored in the database.
// Contains no SQL.
import { type FileHandle, open, rm } from 'node:fs/promises'
import { csvLine } from '../../values/csv.ts'
import type { ProfileColumn } from './profile-columns.ts'
import { ImportError, type ListedRow } from './schema.ts'

const headerOf = (profile: readonly ProfileColumn[]) =>
  `${['line', 'reason', 'name', 'categoryId', 'status', ...profile.map(({ name }) => name), 'row'].join(',')}\n`

export interface RejectedList {
  /** Whether the list lacks rows of earlier runs. */
  isIncomplete: boolean
  /** Appends rows. Once they are on disk, returns the length of the file, which the import stores in the database. */
  append(rows: readonly ListedRow[]): Promise<number>
  /** Deletes the file if no row was rejected. */
  close(): Promise<void>
}

/** The list has the columns of the profile that the file has, so that they can be fixed and imported too. */
export async function openRejectedList(
  path: string,
  profile: readonly ProfileColumn[],
  bytesCommitted: number,
): Promise<RejectedList> {
  const header = headerOf(profile)
  const file = await openOrExplain(path, header)
  let { size } = await file.stat()
  const isIncomplete = size < bytesCommitted
  // Removes rows that an earlier run wrote after its last commit, or the list of another import.
  const kept = isIncomplete ? 0 : bytesCommitted
  await file.truncate(kept)
  size = kept

  return {
    isIncomplete,
    append: async (rows) => {
      if (rows.length === 0) return size
      const text = Buffer.from((size === 0 ? header : '') + rows.map(toCsv).join(''))
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

async function openOrExplain(path: string, header: string): Promise<FileHandle> {
  const file = await open(path, 'r+')
    .catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error
      return open(path, 'wx+')
    })
    .catch((error: Error) => {
      throw new ImportError(
        `The list of rejected rows cannot be written (${error.message}). Choose another path with --rejected PATH.`,
      )
    })
  const { buffer, bytesRead } = await file.read(Buffer.alloc(header.length), 0, header.length, 0)
  if (bytesRead === 0 || buffer.toString() === header) return file
  await file.close()
  throw new ImportError(
    `${path} exists, but is not a list of rejected rows in the format of this version. Move the file, or choose another path with --rejected PATH.`,
  )
}

function toCsv({ line, reason, name, categoryId, status, profileTexts, text }: ListedRow): string {
  return csvLine([String(line), reason, name, categoryId, status, ...profileTexts, text])
}
