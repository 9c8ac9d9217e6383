// The imports of this browser, so that the same file continues where its import stopped, even after the page was reloaded, and
// is not imported twice by mistake. An Idempotency-Key alone does not ensure that: it belongs to a person, or to an API key
// and its successors, and it is valid for 24 hours.
import type { Progress } from './run-import.ts'

const STORAGE_NAME = 'petstore-imports'
const IMPORTS_MAX = 20

export interface PastImport extends Progress {
  /** The SHA-256 of the file. */
  hash: string
  /** The name of the file. */
  name: string
  /** When the last batch was sent or done. */
  at: string
}

/** What a browser has, such as `localStorage`. */
interface Storage {
  getItem: (name: string) => string | null
  setItem: (name: string, value: string) => void
}

export function findImport(storage: Storage, hash: string): PastImport | undefined {
  return readImports(storage).find((one) => one.hash === hash)
}

/** The newest import of another file with the same name, such as the file before it was corrected. */
export function findNamesake(
  storage: Storage,
  { name, hash }: { name: string; hash: string },
): PastImport | undefined {
  return readImports(storage).find((one) => one.name === name && one.hash !== hash && one.added > 0)
}

/** Keeps the newest imports. Without room for them, the import continues, and the service still knows its batches. */
export function rememberImport(storage: Storage, done: PastImport): void {
  const others = readImports(storage).filter(({ hash }) => hash !== done.hash)
  try {
    storage.setItem(STORAGE_NAME, JSON.stringify([done, ...others].slice(0, IMPORTS_MAX)))
  } catch {
    // The storage is full, or the person has turned it off.
  }
}

function readImports(storage: Storage): PastImport[] {
  try {
    const stored: unknown = JSON.parse(storage.getItem(STORAGE_NAME) ?? '[]')
    return Array.isArray(stored) ? (stored as PastImport[]) : []
  } catch {
    return []
  }
}
