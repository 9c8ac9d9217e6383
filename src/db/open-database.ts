// Opens the database. Retries failed attempts, but never a write that may have been committed, unless it is idempotent.
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { AppError } from '../contract/errors.ts'
import type { DatabaseObserver } from '../telemetry/database-metrics.ts'
import type { Tracing } from '../telemetry/tracing/tracing.ts'
import { CONNECTION_WAIT_MS, QUERY_TIMEOUT_MS, RETRY_FOR_MS } from './connection/deadlines.ts'
import { QueryFailure } from './connection/failures.ts'
import { backendPid, certificateEnd, type PoolOptions } from './connection/pool.ts'
import { NoResponse } from './connection/timeout.ts'
import type { Db, Statement, Tx } from './database.ts'
import { openPrimaryPool, type PrimaryPool } from './failover/primary-pool.ts'
import { trackServers } from './failover/server-trust.ts'
import { trackUnacknowledgedWrites } from './failover/unacknowledged.ts'
import { runQuery, secondsSince } from './run-query.ts'
import { openSlots, type Slot, type Work } from './slots.ts'
import {
  type AttemptSpan,
  endStatementSpan,
  startConnectionWait,
  startStatementSpan,
} from './statement-spans.ts'

const RETRIES_MAX = 20
/** Max number of requests that wait for a connection. Further requests are rejected with 503 `overloaded`. */
export const POOL_QUEUE_MAX = 1_000

/** The connection and the progress of one attempt. */
interface Attempt {
  client: pg.PoolClient
  /** True once the statement that commits is about to be sent. */
  isCommitting: boolean
  /** True once a lost connection means an unknown outcome. The attempt must not be retried then. */
  mayHaveCommitted: boolean
  /** True if an earlier attempt lost its connection. */
  isRetry: boolean
  /** Undefined if tracing is off or the request is not sampled. */
  traced: AttemptSpan | undefined
}

export interface DatabaseOptions extends PoolOptions {
  /** Max time to wait for the response to a query. Default: QUERY_TIMEOUT_MS. */
  queryTimeoutMs?: number
  /** Max time to wait for a free connection. Default: CONNECTION_WAIT_MS. */
  connectionWaitMs?: number
  /** Retries start only within this time after the first attempt began. Default: RETRY_FOR_MS. */
  retryForMs?: number
  observer?: DatabaseObserver
  tracing?: Tracing | undefined
}

export function openDatabase(options: DatabaseOptions): Db {
  const { queryTimeoutMs = QUERY_TIMEOUT_MS, observer, tracing } = options
  const { connectionWaitMs = CONNECTION_WAIT_MS, retryForMs = RETRY_FOR_MS } = options
  const queryOptions = { timeoutMs: queryTimeoutMs, observer }
  const query = <Row>({ client, traced }: Attempt, statement: Statement | string) =>
    runQuery<Row>(client, statement, queryOptions, traced)
  const slots = openSlots({ size: options.size, waitingMax: POOL_QUEUE_MAX, waitMs: connectionWaitMs })
  const unacknowledged = trackUnacknowledgedWrites(findBusyBackends)

  // If a commit's wait for a standby is cancelled, PostgreSQL sends a warning and the commit succeeds. A failover can
  // still lose the commit, so its outcome is unknown. Only `routine`, the C function that sent the warning, identifies
  // it: the code 01000 is the default of all warnings, and the text depends on the server's language.
  const unreplicated = new WeakSet<pg.ClientBase>()
  const onConnect = (client: pg.ClientBase) => {
    client.on('notice', ({ routine }) => {
      if (routine === 'SyncRepWaitForLSN') unreplicated.add(client)
    })
    const validTo = certificateEnd(client)
    if (validTo !== undefined) observer?.onCertificate(validTo)
  }

  const servers = trackServers({ timeoutMs: queryTimeoutMs, unreplicated })
  const onHostFailure = (host: string, error: Error) => {
    observer?.onHostFailure(host)
    options.onHostFailure?.(host, error)
  }
  const pool = openPrimaryPool({ ...options, onConnect, onHostFailure }, servers.distrustOlder)

  async function waitForTrust(current: Attempt, check: Promise<void>): Promise<void> {
    try {
      await check
      current.isCommitting = false
    } catch (error) {
      throw new QueryFailure(error)
    }
  }

  async function attempt<Result>(
    kind: Work,
    work: (attempt: Attempt) => Promise<Result>,
    { isInternal = false } = {},
  ): Promise<Result> {
    const parent = isInternal ? undefined : tracing?.active()
    const giveUpAt = performance.now() + retryForMs
    let isRetry = false
    for (let tries = 1; ; tries += 1) {
      const waitingSince = performance.now()
      const traced = parent && { parent, number: tries }
      const wait = traced && startConnectionWait(traced, waitingSince)
      const slot = await (wait === undefined ? slots.take(kind) : wait.during(slots.take(kind)))
      observer?.onWait(kind, secondsSince(waitingSince))
      let current: Attempt | undefined
      try {
        const client = await connect(pool)
        const started = { client, isCommitting: false, mayHaveCommitted: false, isRetry, traced }
        current = started
        const check = isInternal ? undefined : servers.check(client, () => (started.isCommitting = true))
        if (check !== undefined) await waitForTrust(current, check)
        wait?.end()
        const result = await work(current)
        if (current.mayHaveCommitted && unreplicated.has(client)) throw new AppError('outcome_unknown')
        release(current, slot)
        return result
      } catch (error) {
        wait?.end(error)
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
    if (failed?.cause instanceof NoResponse) servers.distrust()
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
  async function findBusyBackends(pids: number[]): Promise<number[] | undefined> {
    return attempt(
      'read',
      async (current) => {
        const [row] = await query<{ own: number; busy: number[] }>(current, {
          name: 'find_busy_backends',
          text: `select pg_backend_pid() as own, array(
            select pid from pg_stat_activity where pid = any($1::int[]) and state = 'active'
          ) as busy`,
          values: [pids],
        })
        return row?.own === backendPid(current.client) ? row.busy : undefined
      },
      { isInternal: true },
    )
  }

  async function beginPooled(current: Attempt): Promise<void> {
    const { client, traced } = current
    const span = traced && startStatementSpan(traced, client, 'begin')
    try {
      await waitForTrust(
        current,
        servers.beginPooled(client, () => (current.isCommitting = true)),
      )
      if (span !== undefined) endStatementSpan(span)
    } catch (error) {
      if (span !== undefined) endStatementSpan(span, error)
      throw error
    }
  }

  /** Runs the work between `begin` and `commit`, on one server even behind a connection pooler. */
  async function inTransaction<Result>(
    current: Attempt,
    work: () => Promise<Result>,
    beforeCommit: () => void,
  ): Promise<Result> {
    if (servers.isPooled(current.client)) await beginPooled(current)
    else await query(current, 'begin')
    let result: Result
    try {
      result = await work()
    } catch (error) {
      const lost = error instanceof QueryFailure && error.failure === 'lost'
      if (!lost) await query(current, 'rollback')
      throw error
    }
    beforeCommit()
    await query(current, 'commit')
    return result
  }

  return {
    read: (statement) =>
      attempt('read', (current) => {
        const run = () => query<never>(current, statement)
        return servers.isPooled(current.client) ? inTransaction(current, run, () => {}) : run()
      }),

    write: (statement) =>
      attempt('write', (current) => {
        const run = () => query<never>(current, statement)
        const beforeCommit = () => markCommitting(current, statement.isIdempotent)
        if (servers.isPooled(current.client)) return inTransaction(current, run, beforeCommit)
        beforeCommit()
        return run()
      }),

    transaction: (work) =>
      attempt('write', (current) => {
        const run = <Row>(statement: Statement) => query<Row>(current, statement)
        const tx: Tx = { inTransaction: true, isRetry: current.isRetry, read: run, write: run }
        return inTransaction(
          current,
          () => work(tx),
          () => markCommitting(current),
        )
      }),

    connections: () => ({
      ...pool.counts(),
      waiting: slots.waiting(),
      unacknowledged: slots.unacknowledged(),
    }),

    close: async () => {
      unacknowledged.close()
      await pool.end()
    },
  }
}

async function connect(pool: PrimaryPool): Promise<pg.PoolClient> {
  try {
    return await pool.connect()
  } catch (error) {
    throw new QueryFailure(error)
  }
}
