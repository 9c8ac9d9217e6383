// The database interface for the rest of the service: read, write, transaction.
// Retries failed attempts, but never a write that may have been committed, unless it is idempotent.
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { CONNECTION_WAIT_MS, QUERY_TIMEOUT_MS, RETRY_FOR_MS } from '../deadlines.ts'
import { AppError } from '../errors.ts'
import { QueryFailure } from './failures.ts'
import { openPool, type PoolOptions } from './pool.ts'
import { openSlots, type Slot, type Work } from './slots.ts'
import { trackUnacknowledgedWrites } from './unacknowledged.ts'

const RETRIES_MAX = 20
/** Max number of requests that wait for a connection. Further requests are rejected with 503 `overloaded`. */
export const POOL_QUEUE_MAX = 1_000

export interface Statement {
  /** PostgreSQL prepares the statement once per connection, under this name. */
  name: string
  text: string
  values: unknown[]
  /** Idempotent write: safe to retry even if the first attempt committed. */
  isIdempotent?: true
}

export interface Reader {
  /** Runs a statement that changes no data. Outside a transaction, it is retried if the connection is lost. */
  read<Row>(statement: Statement): Promise<Row[]>
}

export interface Writer {
  /** Runs a statement that changes data. Outside a transaction, the statement commits immediately. */
  write<Row>(statement: Statement): Promise<Row[]>
}

/** An open transaction. A function that takes a Tx cannot be called with a Db. */
export interface Tx extends Reader, Writer {
  readonly inTransaction: true
  /** True if an earlier attempt lost its connection. PostgreSQL may still hold the locks of that attempt. */
  readonly isRetry: boolean
}

export interface Db extends Reader, Writer {
  /** Runs the work in one transaction. Retries all of the work if the transaction cannot have committed. */
  transaction<Result>(work: (tx: Tx) => Promise<Result>): Promise<Result>
  /**
   * Counts connections and the requests that use them. `waiting`: requests that wait for a connection.
   * `unacknowledged`: writes whose response did not arrive in time. They keep their connections.
   */
  connections(): { total: number; idle: number; waiting: number; unacknowledged: number }
  close(): Promise<void>
}

/** The connection and the progress of one attempt. */
interface Attempt {
  client: pg.PoolClient
  /** True once the statement that commits is about to be sent. */
  isCommitting: boolean
  /** True once a lost connection means an unknown outcome. The attempt must not be retried then. */
  mayHaveCommitted: boolean
  /** True if an earlier attempt lost its connection. */
  isRetry: boolean
}

export function openDatabase(options: PoolOptions): Db {
  const pool = openPool(options)
  const { queryTimeoutMs = QUERY_TIMEOUT_MS } = options
  const query = <Row>(client: pg.PoolClient, statement: Statement | string) =>
    runQuery<Row>(client, statement, queryTimeoutMs)
  const slots = openSlots({ size: options.size, waitingMax: POOL_QUEUE_MAX, waitMs: CONNECTION_WAIT_MS })
  const unacknowledged = trackUnacknowledgedWrites(findBusy)

  // If a commit's wait for a standby is cancelled, PostgreSQL sends a warning and the commit succeeds. A failover can
  // still lose the commit, so its outcome is unknown. Only `routine`, the C function that sent the warning, identifies
  // it: the code 01000 is the default of all warnings, and the text depends on the server's language.
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
        const canRetry = failed.failure !== 'rejected' && tries < RETRIES_MAX && performance.now() < giveUpAt
        if (!canRetry) throw new AppError('unavailable', { cause: failed.cause })
        isRetry ||= current !== undefined && failed.failure === 'lost'
        await sleep(Math.min(20 * tries, 200) * (0.5 + Math.random()))
      }
    }
  }

  /** Releases the connection and the slot. If a commit got no response, unacknowledged.ts releases them later. */
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

  /** Must be called before the statement that commits is sent. */
  function markCommitting(current: Attempt, isIdempotent = false): void {
    current.isCommitting = true
    current.mayHaveCommitted = !isIdempotent
    unreplicated.delete(current.client)
  }

  /**
   * Returns the process ids of the backends that are still busy. Returns undefined behind a connection pooler, because
   * clients do not see the process ids of PostgreSQL there.
   */
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
        markCommitting(current, statement.isIdempotent)
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
        markCommitting(current)
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

/** PostgreSQL did not respond in time. It may still respond later. */
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
    return (await withTimeout(client.query(statement), timeoutMs)).rows as Row[]
  } catch (error) {
    throw new QueryFailure(error)
  }
}

/** PostgreSQL's statement_timeout is not enough, because it does not end a wait for synchronous replication. */
function withTimeout<Result>(response: Promise<Result>, timeoutMs: number): Promise<Result> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new NoResponse(response, timeoutMs)), timeoutMs)
    response.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}

/** The cast is necessary, because the types of node-postgres lack `processID`. */
function backendPid(client: pg.PoolClient): number {
  return (client as pg.PoolClient & { processID: number }).processID
}
