// Gives open-database.ts connections to a trusted primary, and says whether the outcome of a commit is known.
// primary-pool.ts finds the primary, server-trust.ts decides whether it is trusted, and unacknowledged.ts keeps the
// connections of commits that no standby has confirmed.
import type pg from 'pg'
import type { DatabaseObserver } from '../../telemetry/database-metrics.ts'
import { CONNECTION_WAIT_MS, QUERY_TIMEOUT_MS } from '../connection/deadlines.ts'
import { QueryFailure } from '../connection/failures.ts'
import { certificateEnd, type PoolOptions } from '../connection/pool.ts'
import { openSlots, type Slot, type Slots, type WorkKind } from '../connection/slots.ts'
import { NoResponse, withTimeout } from '../connection/timeout.ts'
import { openPrimaryPool, type PrimaryPool } from './primary-pool.ts'
import { type ServerTrust, trackServers } from './server-trust.ts'
import { findBusyBackends, trackUnacknowledgedWrites, type UnacknowledgedWrites } from './unacknowledged.ts'
import { trackUnreplicatedCommits, type UnreplicatedCommits } from './unreplicated.ts'

export interface PrimaryOptions extends PoolOptions {
  /** Max time to wait for the response to a query. Default: QUERY_TIMEOUT_MS. */
  queryTimeoutMs?: number
  /** Max time to wait for a free connection. Default: CONNECTION_WAIT_MS. */
  connectionWaitMs?: number
  observer?: DatabaseObserver
}

/** `unknown`: no response to the commit arrived, or a failover can still lose the commit. */
export type Outcome = 'known' | 'unknown'

export interface Connection {
  client: pg.PoolClient
  /** Must be called before the statement that commits is sent. */
  beforeCommit: () => void
  /**
   * Releases the connection. Must be called once, after the last statement, with the failure of the task if a statement
   * failed. Returns whether the outcome of the commit is known.
   */
  end: (failure?: QueryFailure) => Outcome
}

export interface Primary {
  /**
   * Returns a connection to the primary, which is trusted. Rejects with a QueryFailure if there is none, and with an
   * AppError if it gets no slot.
   */
  connect: (kind: WorkKind) => Promise<Connection>
  /** See `Db.connections`. */
  connections: () => { total: number; idle: number; waiting: number; unacknowledged: number }
  close: () => Promise<void>
}

interface Parts {
  slots: Slots
  pool: PrimaryPool
  trust: ServerTrust
  unreplicated: UnreplicatedCommits
  unacknowledged: UnacknowledgedWrites
  observer: DatabaseObserver | undefined
}

/** A connection in use, and its slot. */
interface Use {
  client: pg.PoolClient
  slot: Slot
  /**
   * The kind of response that this use waits for. It starts with `statement`, changes to `barrier` if this connection
   * runs the barrier of a server that is not trusted yet, back to `statement` for the task, and to `commit` before the
   * statement that commits.
   * PostgreSQL responds to a barrier and to a commit only once a standby has confirmed it.
   */
  waitsFor: 'statement' | 'barrier' | 'commit'
}

export function openPrimary(options: PrimaryOptions): Primary {
  const { size, queryTimeoutMs: timeoutMs = QUERY_TIMEOUT_MS, observer } = options
  const { connectionWaitMs: waitMs = CONNECTION_WAIT_MS } = options
  const slots = openSlots({ size, waitMs })
  const unreplicated = trackUnreplicatedCommits()
  const onConnect = (client: pg.ClientBase) => {
    unreplicated.watch(client)
    const validTo = certificateEnd(client)
    if (validTo !== undefined) observer?.onCertificate(validTo)
  }
  const onHostFailure = (host: string, error: Error) => {
    observer?.onHostFailure(host)
    options.onHostFailure?.(host, error)
  }
  // These parts need each other. Their callbacks run later, when `trust` and `parts` are set.
  const pool = openPrimaryPool({ ...options, onConnect, onHostFailure }, (incarnation) =>
    trust.distrustReplacedBy(incarnation),
  )
  const { requireSession } = pool
  const trust: ServerTrust = trackServers({ timeoutMs, unreplicated, requireSession })
  const unacknowledged = trackUnacknowledgedWrites((pids) => findBusy(parts, pids, timeoutMs))
  const parts: Parts = { slots, pool, trust, unreplicated, unacknowledged, observer }

  return {
    connect: (kind) => connect(parts, kind),
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

async function connect(parts: Parts, kind: WorkKind): Promise<Connection> {
  const use = await startUse(parts, kind)
  const { client } = use
  try {
    const check = parts.trust.check(client, () => {
      use.waitsFor = 'barrier'
    })
    // Undefined for a trusted server, which is the usual case: there is nothing to wait for.
    if (check !== undefined) await check
  } catch (error) {
    const failure = new QueryFailure(error)
    endUse(parts, use, failure)
    throw failure
  }
  use.waitsFor = 'statement'
  return {
    client,
    beforeCommit: () => {
      use.waitsFor = 'commit'
      parts.unreplicated.beforeCommit(client)
    },
    end: (failure) => {
      const outcome = outcomeOf(parts, use, failure)
      endUse(parts, use, failure)
      return outcome
    },
  }
}

/** Unknown if a commit may have succeeded without a response, or if it succeeded but a failover can still lose it. */
function outcomeOf({ unreplicated }: Parts, { client, waitsFor }: Use, failure?: QueryFailure): Outcome {
  if (waitsFor !== 'commit') return 'known'
  const isUnknown = failure === undefined ? unreplicated.has(client) : failure.kind === 'lost'
  return isUnknown ? 'unknown' : 'known'
}

/** Takes a slot and a connection. Does not check whether its server is trusted. */
async function startUse({ slots, pool, observer }: Parts, kind: WorkKind): Promise<Use> {
  const waitingSince = performance.now()
  const slot = await slots.take(kind)
  observer?.onWait(kind, (performance.now() - waitingSince) / 1_000)
  try {
    return { client: await pool.connect(), slot, waitsFor: 'statement' }
  } catch (error) {
    slot.leave()
    throw new QueryFailure(error)
  }
}

/** Releases the connection and the slot, at once or, if a standby may delay the response, by unacknowledged.ts later. */
function endUse(parts: Parts, { client, slot, waitsFor }: Use, failure?: QueryFailure): void {
  const release = (isBroken?: boolean) => {
    client.release(isBroken)
    slot.leave()
  }
  const cause = failure?.cause
  if (cause instanceof NoResponse && waitsFor !== 'statement') {
    slot.markUnacknowledged()
    parts.unacknowledged.keep({ pid: parts.trust.pidOf(client), response: cause.response, release })
    return
  }
  // No standby delays this response, so the server may be frozen, and another one may have become the primary.
  if (cause instanceof NoResponse) parts.trust.distrustAll()
  release(failure?.poisonsConnection)
}

/**
 * Returns those of the given backends that are still busy. The server need not be trusted: the result is not data of the
 * store, and a new primary correctly shows none of these backends.
 */
async function findBusy(parts: Parts, pids: number[], timeoutMs: number): Promise<number[]> {
  const use = await startUse(parts, 'read')
  let failure: QueryFailure | undefined
  try {
    return await withTimeout(findBusyBackends(use.client, pids), timeoutMs)
  } catch (error) {
    failure = new QueryFailure(error)
    throw failure
  } finally {
    endUse(parts, use, failure)
  }
}
