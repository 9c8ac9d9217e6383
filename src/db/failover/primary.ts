// The connections to the primary. open-database.ts asks for one that is good for its work, and reports what happened to it.
// Behind this: which host is the primary, whether it is trusted, and what becomes of a commit that no standby has confirmed.
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

/** `unknown`: the connection was lost while it committed, or a failover can still lose the commit. */
export type Outcome = 'known' | 'unknown'

export interface Connection {
  client: pg.PoolClient
  /** Must be called before the statement that commits is sent. */
  beforeCommit: () => void
  /**
   * Must be called once, after the last statement, with the failure of this statement if it failed. Returns whether the
   * outcome of the commit is known.
   */
  end: (failure?: QueryFailure) => Outcome
}

export interface Primary {
  /**
   * Returns a connection that is good for the work: it leads to the primary, and the primary is trusted. Rejects with a
   * QueryFailure otherwise, and with an AppError if too many requests wait for a connection.
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

/** A connection in use. */
interface Use {
  client: pg.PoolClient
  slot: Slot
  /** PostgreSQL responds to a barrier and to a commit only once a standby has confirmed it. */
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
  const pool = openPrimaryPool({ ...options, onConnect, onHostFailure }, (incarnation) =>
    trust.distrustReplacedBy(incarnation),
  )
  const trust: ServerTrust = trackServers({ timeoutMs, unreplicated, requireSession: pool.requireSession })
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
      const outcome = use.waitsFor === 'commit' && isUnknown(parts, client, failure) ? 'unknown' : 'known'
      endUse(parts, use, failure)
      return outcome
    },
  }
}

/** Whether a commit may have succeeded without a response, or is one that a failover can still lose. */
function isUnknown({ unreplicated }: Parts, client: pg.PoolClient, failure?: QueryFailure): boolean {
  return failure === undefined ? unreplicated.has(client) : failure.kind === 'lost'
}

/** Takes a slot and a connection, which may lead to any server. */
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

/** Releases the connection and the slot. If a standby may delay the response, unacknowledged.ts releases them later. */
function endUse(parts: Parts, { client, slot, waitsFor }: Use, failure?: QueryFailure): void {
  const cause = failure?.cause
  if (cause instanceof NoResponse && waitsFor !== 'statement') {
    slot.markUnacknowledged()
    parts.unacknowledged.keep({
      pid: parts.trust.pidOf(client),
      response: cause.response,
      release: (isBroken) => {
        client.release(isBroken)
        slot.leave()
      },
    })
    return
  }
  if (cause instanceof NoResponse) parts.trust.distrustAll()
  client.release(failure?.poisonsConnection)
  slot.leave()
}

/** Asks any server, trusted or not: clients do not see the result, and a new primary has none of these backends. */
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
