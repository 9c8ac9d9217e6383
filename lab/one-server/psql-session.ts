// One connection to PostgreSQL on the server, as its superuser, which stays open: a command in the server takes too long to
// find out when something happened.
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { repeat } from '../parts/repeat.ts'
import type { PetRow } from '../parts/store-rows.ts'
import type { Moment } from '../restore/journal.ts'
import type { Machine } from './machine.ts'

/** Ends at the first statement that fails, because its result is missing. */
const OPTIONS = ['--no-psqlrc', '-At', '--set=ON_ERROR_STOP=1', '--dbname=petstore']
const PSQL = ['runuser', '-u', 'postgres', '--', 'psql', ...OPTIONS]
const PETS =
  "select coalesce(json_agg(json_build_object('id', id, 'name', name, 'categoryId', category_id, 'status', status, 'version', version)), '[]') from pets"
const POSITION = 'select pg_walfile_name(pg_current_wal_lsn())'
const POSITION_EVERY_MS = 250

export interface PsqlSession {
  /** Runs a statement whose result is one line. The session ran it between the two times of performance.now(). */
  ask: (statement: string) => Promise<Moment>
  /** Ends the session. */
  close: () => Promise<void>
}

export function openPsqlSession(machine: Machine): PsqlSession {
  const child = machine.spawn(PSQL)
  const ended = once(child, 'close')
  // The server can end the session, or lose its data.
  child.stdin.on('error', () => {})
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  return {
    ask: async (statement) => {
      const from = performance.now()
      child.stdin.write(`${statement};\n`)
      const { value, done } = await lines.next()
      if (done) throw new Error(`the session of psql ended: ${statement}`)
      return { text: value, from, until: performance.now() }
    },
    close: async () => {
      child.stdin.end()
      await ended
    },
  }
}

/** Runs one statement in a session of its own. */
export async function askOnce(machine: Machine, statement: string): Promise<Moment> {
  const session = openPsqlSession(machine)
  try {
    return await session.ask(statement)
  } finally {
    await session.close()
  }
}

export async function readPets(machine: Machine): Promise<PetRow[]> {
  return JSON.parse((await askOnce(machine, PETS)).text) as PetRow[]
}

export interface PositionWatch {
  /** Stops, and returns which segment of WAL was written at which time. */
  stop: () => Promise<Moment[]>
}

/** Reads again and again which segment of WAL PostgreSQL writes, until it no longer responds. */
export function watchPosition(machine: Machine): PositionWatch {
  const session = openPsqlSession(machine)
  const positions: Moment[] = []
  const stop = repeat(POSITION_EVERY_MS, async () => positions.push(await session.ask(POSITION)))
  return {
    stop: async () => {
      // A server without its data ends the session.
      await stop().catch(() => {})
      await session.close()
      return positions
    },
  }
}

/**
 * The end of an archive whose newest segment is `newest`, as a moment of the clients. A change that was acknowledged before
 * PostgreSQL was seen to write this segment, or an earlier one, is in the archive. One that was sent after PostgreSQL was
 * seen to write a later segment is not.
 */
export function endOfArchive(newest: string, positions: readonly Moment[]): Moment {
  const last = positions.findLast(({ text }) => text <= newest)
  const next = positions.find(({ text }) => text > newest)
  if (last === undefined) throw new Error(`PostgreSQL was not seen to write the segment ${newest}`)
  return { text: newest, from: last.from, until: next?.until ?? Number.POSITIVE_INFINITY }
}
