// The database as the rest of the service sees it: read, write, transaction.
// Decides what is repeated after a failure, and never repeats what may have been committed.
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { AppError } from '../errors.ts'
import { QueryFailure } from './failures.ts'
import { openPool, type PoolOptions } from './pool.ts'

/** How long a failed attempt may be repeated, counted from the first one. */
const RETRY_FOR_MS = 2_000
const RETRIES_MAX = 20
/** How many requests may wait for a connection at once; the next one is told that the service is busy. */
const POOL_QUEUE_MAX = 1_000

export interface Statement {
  /** Prepared once per connection under this name. */
  name: string
  text: string
  values: unknown[]
  /** Doing it twice comes to the same as once: a write that is repeated although it may have been committed. */
  isRepeatable?: true
}

export interface Reader {
  /** For statements that change nothing: repeated on another connection when one is lost. */
  read<Row>(statement: Statement): Promise<Row[]>
}

export interface Writer {
  /** For statements that change something: committed alone, unless inside a transaction. */
  write<Row>(statement: Statement): Promise<Row[]>
}

/** Inside a transaction. A function that takes a Tx needs one; a Db will not do. */
export interface Tx extends Reader, Writer {
  readonly inTransaction: true
  /** An earlier attempt lost its connection: until PostgreSQL notices, that transaction keeps its locks. */
  readonly isAgain: boolean
}

export interface Db extends Reader, Writer {
  /** Runs the work in one transaction, again from its start if it was surely rolled back. */
  transaction<Result>(work: (tx: Tx) => Promise<Result>): Promise<Result>
  connections(): { total: number; idle: number; waiting: number }
  close(): Promise<void>
}

/** One connection during one attempt, and whether that attempt has reached the point of no return. */
interface Attempt {
  client: pg.PoolClient
  mayHaveCommitted: boolean
  /** Whether an attempt before it lost its connection. */
  isAgain: boolean
}

export function openDatabase(options: PoolOptions): Db {
  const pool = openPool(options)

  // A commit whose wait for a standby is cancelled succeeds with no more than this warning, and
  // a failover may still lose it: its outcome is as unknown as that of a lost connection. Any other statement may
  // be warned of other things by the same code.
  const warned = new WeakSet<pg.ClientBase>()
  pool.on('connect', (client) => {
    client.on('notice', (notice) => {
      if (notice.code === '01000') warned.add(client)
    })
  })

  async function attempt<Result>(work: (attempt: Attempt) => Promise<Result>): Promise<Result> {
    const giveUpAt = performance.now() + RETRY_FOR_MS
    let isAgain = false
    for (let tries = 1; ; tries += 1) {
      if (pool.waitingCount >= POOL_QUEUE_MAX) throw new AppError('overloaded')
      let current: Attempt | undefined
      try {
        current = { client: await connect(pool), mayHaveCommitted: false, isAgain }
        const result = await work(current)
        if (current.mayHaveCommitted && warned.has(current.client)) throw new AppError('outcome_unknown')
        current.client.release()
        return result
      } catch (error) {
        const failed = error instanceof QueryFailure ? error : undefined
        current?.client.release(failed?.poisonsConnection)
        if (failed === undefined || failed.failure === 'fault') throw error
        if (failed.failure === 'lost' && current?.mayHaveCommitted === true) {
          throw new AppError('outcome_unknown', { cause: failed.cause })
        }
        const again = failed.failure !== 'refused' && tries < RETRIES_MAX && performance.now() < giveUpAt
        if (!again) throw new AppError('unavailable', { cause: failed.cause })
        isAgain ||= current !== undefined && failed.failure === 'lost'
        await sleep(Math.min(20 * tries, 200) * (0.5 + Math.random()))
      }
    }
  }

  /** The next statement of this attempt commits. */
  function passPointOfNoReturn(current: Attempt): void {
    current.mayHaveCommitted = true
    warned.delete(current.client)
  }

  return {
    read: (statement) => attempt(({ client }) => query(client, statement)),

    write: (statement) =>
      attempt((current) => {
        if (!statement.isRepeatable) passPointOfNoReturn(current)
        return query(current.client, statement)
      }),

    transaction: (work) =>
      attempt(async (current) => {
        const { client, isAgain } = current
        const run = <Row>(statement: Statement) => query<Row>(client, statement)
        await query(client, 'begin')
        let result: Awaited<ReturnType<typeof work>>
        try {
          result = await work({ inTransaction: true, isAgain, read: run, write: run })
        } catch (error) {
          const lost = error instanceof QueryFailure && error.failure === 'lost'
          if (!lost) await query(client, 'rollback')
          throw error
        }
        passPointOfNoReturn(current)
        await query(client, 'commit')
        return result
      }),

    connections: () => ({ total: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount }),
    close: () => pool.end(),
  }
}

async function connect(pool: pg.Pool): Promise<pg.PoolClient> {
  try {
    return await pool.connect()
  } catch (error) {
    throw new QueryFailure(error)
  }
}

async function query<Row>(client: pg.PoolClient, statement: Statement | string): Promise<Row[]> {
  try {
    return (await client.query(statement)).rows as Row[]
  } catch (error) {
    throw new QueryFailure(error)
  }
}
