// Reads from standbys that are as exact as reads from the primary: a read that begins after a write was acknowledged sees
// it, and no read goes back in time. docs/decisions/0016-reads-from-standbys.md explains why.
//
// A read has four steps, in this order: take a connection to a standby; ask the primary for its position; wait until the
// standby has replayed it; read on that connection, in a statement of its own. If a step fails, the primary is read.
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import type { StandbyObserver } from '../../telemetry/standby-metrics.ts'
import type { Tracing } from '../../telemetry/tracing/tracing.ts'
import { batched, WAITING_MAX } from '../batch.ts'
import { QueryFailure } from '../connection/failures.ts'
import { withTimeout } from '../connection/timeout.ts'
import type { Db, Reader, Statement } from '../database.ts'
import { type QueryOptions, runQuery } from '../run-query.ts'
import { type Fence, openFence } from './fence.ts'
import { completeRecord, isPageEnd, isWholeQuorum, type Position, readPosition } from './position.ts'
import { openStandbys, type StandbyConnection, type Standbys, type StandbysOptions } from './standbys.ts'

export interface StandbyLimits {
  /** Max time to connect to a standby. */
  connectMs: number
  /** Max time that a read waits for a standby. */
  replayMs: number
  /** Max time that a fence waits. It bounds how long a read takes beside a long transaction, such as an import. */
  fenceMs: number
  /** A result that arrives later than this after the position was asked for is discarded: a failover may have happened. */
  resultMs: number
}

/** With these, a read that the primary must serve begins there within half a second. */
const LIMITS: StandbyLimits = { connectMs: 1_000, replayMs: 100, fenceMs: 100, resultMs: 1_000 }
/** Min time between two records that complete another one. */
const COMPLETED_EVERY_MS = 100

/**
 * Why a read was served by the primary:
 * - `no_standby`: no standby can be used now
 * - `quorum`: not every standby is part of the quorum
 * - `late`: the standby had not replayed the position, or did not respond, in time
 * - `failed`: the standby rejected the read, or was promoted
 */
export type FallbackReason = 'no_standby' | 'quorum' | 'late' | 'failed'

export interface StandbyReads {
  /** Reads rows from a standby, or from the primary behind the fence. */
  rows: Reader
  /** Reads from the primary, behind the fence: for what a standby cannot read cheaply. */
  fenced: Reader
  fence: Fence
  close: () => Promise<void>
}

export interface StandbyReadsOptions
  extends Omit<StandbysOptions, 'connectTimeoutMs' | 'statementTimeoutMs' | 'requireCurrent'> {
  /** Opened with `recordsTerm`. */
  db: Db
  /** Called before each read of the primary, which may begin later than usual. See FreshHolds. */
  waitUntilFresh: () => Promise<void> | undefined
  standbyObserver: StandbyObserver
  queryObserver: QueryOptions['observer']
  tracing: Tracing | undefined
  /** Default: LIMITS. */
  limits?: StandbyLimits
}

export function openStandbyReads(options: StandbyReadsOptions): StandbyReads {
  const { db, waitUntilFresh, standbyObserver: observer } = options
  const limits = options.limits ?? LIMITS
  const askPosition = openPositions(db)
  const fence = openFence(db, limits.fenceMs, observer.onUnfenced)
  const standbys = openStandbys({
    ...options,
    connectTimeoutMs: limits.connectMs,
    statementTimeoutMs: limits.resultMs,
    requireCurrent: async (client) => waitForReplay(client, await askPosition(), limits.replayMs),
  })
  const fenced = fencedReader(db, fence, waitUntilFresh)
  const rows = standbyReader({ ...options, standbys, askPosition, limits }, fenced)
  return { rows, fenced, fence, close: standbys.close }
}

const fencedReader = (
  db: Reader,
  fence: Fence,
  waitUntilFresh: StandbyReadsOptions['waitUntilFresh'],
): Reader => ({
  read: async (statement) => {
    await fence()
    await waitUntilFresh()
    return db.read(statement)
  },
})

const standbyReader = (parts: Parts, fenced: Reader): Reader => ({
  read: async <Row>(statement: Statement) => {
    const rows = await readFromStandby<Row>(parts, statement)
    if (rows !== undefined) return rows
    parts.standbyObserver.onRead('primary')
    return fenced.read<Row>(statement)
  },
})

/** What every read needs. */
interface Parts extends Pick<StandbyReadsOptions, 'standbyObserver' | 'queryObserver' | 'tracing'> {
  standbys: Standbys
  askPosition: () => Promise<Position>
  limits: StandbyLimits
}

/** Returns undefined if the primary must be read. Rejects if the primary cannot be asked, because it cannot be read then. */
async function readFromStandby<Row>(parts: Parts, statement: Statement): Promise<Row[] | undefined> {
  const { standbys, standbyObserver: observer } = parts
  // Before the position is asked for: the server of this connection is a standby from then on. A former primary that
  // returns as a standby later may show a commit that no other node has.
  const connection = await standbys.connect()
  if (connection === undefined) {
    observer.onFallback('no_standby')
    return undefined
  }
  try {
    const rows = await readOn<Row>(connection, parts, statement)
    connection.release()
    observer.onRead(connection.host)
    return rows
  } catch (error) {
    if (isIntact(error)) connection.release()
    else connection.fail(error)
    const reason = reasonOf(error)
    if (reason === undefined) throw error
    observer.onFallback(reason)
    return undefined
  }
}

async function readOn<Row>(
  { client, host }: StandbyConnection,
  { standbys, askPosition, limits, standbyObserver, queryObserver, tracing }: Parts,
  statement: Statement,
): Promise<Row[]> {
  const askedAt = performance.now()
  const position = await askPosition()
  if (!isWholeQuorum(position.standbyNames, standbys.count)) throw new CannotRead('quorum')
  const waitingSince = performance.now()
  await waitForReplay(client, position, limits.replayMs)
  standbyObserver.onReplayed(host, (performance.now() - waitingSince) / 1_000)
  const parent = tracing?.active()
  const trace = tracing && parent && { tracing, parent, number: 1 }
  const timeoutMs = limits.resultMs - (performance.now() - askedAt)
  const rows = await runQuery<Row>(client, statement, { timeoutMs, observer: queryObserver }, trace)
  if (performance.now() - askedAt > limits.resultMs) throw new CannotRead('late')
  return rows
}

/** The standby cannot serve this read. */
class CannotRead extends Error {
  readonly reason: FallbackReason

  constructor(reason: FallbackReason) {
    super(`the standby cannot serve the read: ${reason}`)
    this.reason = reason
  }
}

/** Undefined for an error of the primary. */
function reasonOf(error: unknown): FallbackReason | undefined {
  if (error instanceof CannotRead) return error.reason
  if (error instanceof QueryFailure) return error.kind === 'lost' ? 'late' : 'failed'
  return undefined
}

/** Whether the standby can serve the next read: the error came from the primary, or from this statement only. */
function isIntact(error: unknown): boolean {
  if (error instanceof CannotRead) return error.reason === 'quorum'
  return !(error instanceof QueryFailure) || !error.poisonsConnection
}

/** One question for the position is in flight. Reads that begin meanwhile wait for the next one. */
function openPositions(db: Db): () => Promise<Position> {
  let completedAt = Number.NEGATIVE_INFINITY

  async function ask(): Promise<Position> {
    const position = await readPosition(db)
    if (isPageEnd(position.lsn) && performance.now() - completedAt > COMPLETED_EVERY_MS) {
      completedAt = performance.now()
      // If it fails, the reads that wait for it use the primary.
      completeRecord(db).catch(() => {})
    }
    return position
  }

  const positions = batched<void, Position>(
    async (reads) => {
      const position = await ask()
      return reads.map(() => position)
    },
    { sizeMax: WAITING_MAX, inFlightMax: 1, waitingMax: WAITING_MAX },
  )
  return () => positions()
}

interface ReplayState {
  isStandby: boolean
  hasReplayed: boolean
}

/** Never in one statement with the read: its snapshot would be older than the position that the statement compares. */
async function waitForReplay(client: pg.PoolClient, position: Position, withinMs: number): Promise<void> {
  const giveUpAt = performance.now() + withinMs
  for (let pauseMs = 1; ; pauseMs = Math.min(2 * pauseMs, 8)) {
    const { isStandby, hasReplayed } = await readReplay(client, position, giveUpAt - performance.now())
    if (!isStandby) throw new CannotRead('failed')
    if (hasReplayed) return
    if (performance.now() + pauseMs > giveUpAt) throw new CannotRead('late')
    await sleep(pauseMs)
  }
}

async function readReplay(
  client: pg.PoolClient,
  { term, lsn }: Position,
  timeoutMs: number,
): Promise<ReplayState> {
  const query = client.query<ReplayState>({
    name: 'read_replay',
    text: `select pg_is_in_recovery() as "isStandby",
        term = $1 and pg_last_wal_replay_lsn() >= $2::pg_lsn as "hasReplayed"
      from primary_term`,
    values: [term, lsn],
  })
  const [state] = await withTimeout(query, timeoutMs).then(
    ({ rows }) => rows,
    (error: unknown) => {
      throw new QueryFailure(error)
    },
  )
  return state ?? { isStandby: false, hasReplayed: false }
}
