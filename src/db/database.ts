// The database as the rest of the service sees it: read, write, transaction.
// Decides what is repeated after a failure, and never repeats what may have been committed.
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { CONNECTION_WAIT_MS, QUERY_TIMEOUT_MS, RETRY_FOR_MS } from '../deadlines.ts'
import { AppError } from '../errors.ts'
import { QueryFailure } from './failures.ts'
import { openPool, type PoolOptions } from './pool.ts'
import { openSlots, type Slot, type Work } from './slots.ts'
import { trackUnacknowledgedWrites } from './unacknowledged.ts'

const RETRIES_MAX = 20
/** How many requests may wait for a connection at once; the next one is rejected with 503 `overloaded`. */
export const POOL_QUEUE_MAX = 1_000

export interface Statement {
  /** Prepared once per connection under this name. */
  name: string
  text: string
  values: unknown[]
  /** Doing it twice comes to the same as once: a write that is repeated although it may have been committed. */
  isIdempotent?: true
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
  readonly isRetry: boolean
}

export interface Db extends Reader, Writer {
  /** Runs the work in one transaction, again from its start if it was surely rolled back. */
  transaction<Result>(work: (tx: Tx) => Promise<Result>): Promise<Result>
  /** `unanswered`: writes whose response did not arrive in time; their connections cannot be used. */
  connections(): { total: number; idle: number; waiting: number; unacknowledged: number }
  close(): Promise<void>
}

/** One connection during one attempt, and how far that attempt has come. */
interface Attempt {
  client: pg.PoolClient
  /** The statement in flight commits. */
  isCommitting: boolean
  /** It must not be repeated if its response is lost. */
  mayHaveCommitted: boolean
  /** Whether an attempt before it lost its connection. */
  isRetry: boolean
}

export function openDatabase(options: PoolOptions): Db {
  const pool = openPool(options)
  const { queryTimeoutMs = QUERY_TIMEOUT_MS } = options
  const query = <Row>(client: pg.PoolClient, statement: Statement | string) =>
    runQuery<Row>(client, statement, queryTimeoutMs)
  const slots = openSlots({ size: options.size, waitingMax: POOL_QUEUE_MAX, waitMs: CONNECTION_WAIT_MS })
  const unacknowledged = trackUnacknowledgedWrites(findBusy)

  // A commit whose wait for a standby is cancelled succeeds with no more than this warning, and a failover may
  // still lose it: its outcome is unknown. The code of the warning (01000) is that of any other warning, and its
  // text depends on the server's language.
  const unreplicated = new WeakSet<pg.ClientBase>()
  pool.on('connect', (client) => {
    client.on('notice', ({ routine }) => {
      if (routine === 'SyncRepWaitForLSN') unreplicated.add(client)
    })
  })

  async function attempt<Result>(kind: Work, work: (attempt: Attempt) => Promise<Result>): Promise<Result> {
    const giveUpAt = performance.now() + RETRY_FOR_MS
    let isRetry = false
    for (let tries = 1; ; tries += 1) {
      const slot = await slots.take(kind)
      let current: Attempt | undefined
      try {
        const client = await connect(pool)
        current = { client, isCommitting: false, mayHaveCommitted: false, isRetry }
        const result = await work(current)
        if (current.mayHaveCommitted && unreplicated.has(client)) throw new AppError('outcome_unknown')
        release(current, slot)
        return result
      } catch (error) {
        const failed = error instanceof QueryFailure ? error : undefined
        release(current, slot, failed)
        if (failed === undefined || failed.failure === 'fault') throw error
        if (failed.failure === 'lost' && current?.mayHaveCommitted === true) {
          throw new AppError('outcome_unknown', { cause: failed.cause })
        }
        const again = failed.failure !== 'rejected' && tries < RETRIES_MAX && performance.now() < giveUpAt
        if (!again) throw new AppError('unavailable', { cause: failed.cause })
        isRetry ||= current !== undefined && failed.failure === 'lost'
        await sleep(Math.min(20 * tries, 200) * (0.5 + Math.random()))
      }
    }
  }

  /** Gives back the connection and the slot, once PostgreSQL has responded. */
  function release(current: Attempt | undefined, slot: Slot, failed?: QueryFailure): void {
    if (current?.isCommitting && failed?.cause instanceof NoResponse) {
      slot.markUnacknowledged()
      unacknowledged.keep({
        pid: backendPid(current.client),
        response: failed.cause.response,
        release: (isBroken) => {
          current.client.release(isBroken)
          slot.leave()
        },
      })
      return
    }
    current?.client.release(failed?.poisonsConnection)
    slot.leave()
  }

  /** The next statement of this attempt commits. */
  function passPointOfNoReturn(current: Attempt, isIdempotent = false): void {
    current.isCommitting = true
    current.mayHaveCommitted = !isIdempotent
    unreplicated.delete(current.client)
  }

  /** Undefined behind a connection pooler, where the process ids that a client sees are not PostgreSQL's. */
  async function findBusy(pids: number[]): Promise<number[] | undefined> {
    return attempt('read', async ({ client }) => {
      const [row] = await query<{ own: number; busy: number[] }>(client, {
        name: 'find_busy_backends',
        text: `select pg_backend_pid() as own, array(
            select pid from pg_stat_activity where pid = any($1::int[]) and state = 'active'
          ) as busy`,
        values: [pids],
      })
      return row?.own === backendPid(client) ? row.busy : undefined
    })
  }

  return {
    read: (statement) => attempt('read', ({ client }) => query(client, statement)),

    write: (statement) =>
      attempt('write', (current) => {
        passPointOfNoReturn(current, statement.isIdempotent)
        return query(current.client, statement)
      }),

    transaction: (work) =>
      attempt('write', async (current) => {
        const { client, isRetry } = current
        const run = <Row>(statement: Statement) => query<Row>(client, statement)
        await query(client, 'begin')
        let result: Awaited<ReturnType<typeof work>>
        try {
          result = await work({ inTransaction: true, isRetry, read: run, write: run })
        } catch (error) {
          const lost = error instanceof QueryFailure && error.failure === 'lost'
          if (!lost) await query(client, 'rollback')
          throw error
        }
        passPointOfNoReturn(current)
        await query(client, 'commit')
        return result
      }),

    connections: () => ({
      total: pool.totalCount,
      idle: pool.idleCount,
      waiting: slots.waiting(),
      unacknowledged: slots.unacknowledged(),
    }),

    close: async () => {
      unacknowledged.close()
      await pool.end()
    },
  }
}

/** PostgreSQL did not respond in time; it may still do so. */
class NoResponse extends Error {
  readonly response: Promise<unknown>

  constructor(response: Promise<unknown>, timeoutMs: number) {
    super(`PostgreSQL did not respond within ${timeoutMs} ms`)
    this.response = response
  }
}

async function connect(pool: pg.Pool): Promise<pg.PoolClient> {
  try {
    return await pool.connect()
  } catch (error) {
    throw new QueryFailure(error)
  }
}

async function runQuery<Row>(
  client: pg.PoolClient,
  statement: Statement | string,
  timeoutMs: number,
): Promise<Row[]> {
  try {
    return (await inTime(client.query(statement), timeoutMs)).rows as Row[]
  } catch (error) {
    throw new QueryFailure(error)
  }
}

/** On our side, since PostgreSQL's statement_timeout does not end a wait for synchronous replication. */
function inTime<Result>(response: Promise<Result>, timeoutMs: number): Promise<Result> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new NoResponse(response, timeoutMs)), timeoutMs)
    response.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}

/** Missing in the types of node-postgres. */
function backendPid(client: pg.PoolClient): number {
  return (client as pg.PoolClient & { processID: number }).processID
}
