// The responses that clients received: acknowledged changes, and changes whose outcome is unknown. Also appended to a file.
import { appendFile } from 'node:fs/promises'

const FLUSHED_EVERY_MS = 500

export type OrderState = 'placed' | 'completing' | 'completed' | 'cancelling' | 'cancelled'

export interface AcknowledgedOrder {
  petId: number
  state: OrderState
}

/** A pet whose status one client changes. */
export interface TrackedStatus {
  version: number
  status: string
  /** The status after a change whose outcome is unknown; its version is one higher. */
  possible: string | undefined
}

export interface ImportedFile {
  name: string
  rows: number
  finished: boolean
}

/** Compact, because a full run acknowledges about 700,000 writes. */
export interface History {
  /** Prefix of the names of all pets and of the notes of all orders of this run. Other rows are ignored. */
  prefix: string
  /** The name of each acknowledged pet, by id. */
  pets: Map<number, string>
  /** Names of pets that the service reported as not created. */
  rejectedPets: Set<string>
  /** Names of pets whose outcome is unknown. Added before the request, so that a request in flight is included. */
  unknownPets: Set<string>
  orders: Map<number, AcknowledgedOrder>
  /** Notes of orders whose outcome is unknown. */
  unknownOrders: Set<string>
  statuses: Map<number, TrackedStatus>
  imports: ImportedFile[]
}

export function emptyHistory(prefix: string): History {
  return {
    prefix,
    pets: new Map(),
    rejectedPets: new Set(),
    unknownPets: new Set(),
    orders: new Map(),
    unknownOrders: new Set(),
    statuses: new Map(),
    imports: [],
  }
}

/** The name of row `row` of an imported file. */
export function importedName(file: string, row: number): string {
  return `${file}-${row}`
}

export interface HistoryFile {
  append: (entry: Record<string, unknown>) => void
  close: () => Promise<void>
}

/** Appends entries as JSON lines, asynchronously, so that the disk does not slow down the load. */
export function openHistoryFile(path: string, onError: (error: unknown) => void): HistoryFile {
  let lines: string[] = []
  let writing = Promise.resolve()
  const startedAt = performance.now()
  const flush = () => {
    if (lines.length === 0) return writing
    const text = lines.join('')
    lines = []
    writing = writing.then(() => appendFile(path, text)).catch(onError)
    return writing
  }
  const timer = setInterval(() => void flush(), FLUSHED_EVERY_MS)
  return {
    append: (entry) => {
      lines.push(`${JSON.stringify({ ms: Math.round(performance.now() - startedAt), ...entry })}\n`)
    },
    close: async () => {
      clearInterval(timer)
      await flush()
    },
  }
}
