// Reads the state of each node of DATABASE_READ_URL. Only reports; cli/doctor/standby-reads.ts judges.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from 'pg'
import { hostOf, splitDatabaseUrl } from '../../config/database-url.ts'
import { backendPid, openClient, readerOf } from '../connection/pool.ts'
import { withTimeout } from '../connection/timeout.ts'
import type { Reader } from '../database.ts'
import { INCARNATION } from '../failover/incarnation.ts'
import type { Position } from '../failover/position.ts'

const NODE_TIMEOUT_MS = 10_000
/** How long a standby may take to replay the position. The service waits for a shorter time, and then reads the primary. */
const REPLAY_WAIT_MS = 2_000
const ASK_EVERY_MS = 50

export interface ServerState {
  isStandby: boolean
  /** Whether a standby receives WAL from another server. */
  isStreaming: boolean
  /** Process id of the backend, as the backend itself reports it. */
  pid: number
  /** Tells servers apart: two hosts with the same start lead to one server. */
  startedAt: string
  /** Null on a standby. */
  incarnation: string | null
  hasTerm: boolean
  /** How much of the WAL up to the position this standby has not replayed yet. 0 on a primary. */
  bytesBehind: number
}

/** What is known about a host: its server, or why it cannot be asked. */
export type NodeState = { host: string } & (
  | { failure: string }
  | { failure?: undefined; server: ServerState; isPooled: boolean }
)

/** False before the migration, and for a role that serves no reads, such as petstore_deliver. */
export async function canReadTerm(db: Reader): Promise<boolean> {
  const [table] = await db.read<{ isReadable: boolean | null }>({
    name: 'can_read_term',
    text: `select has_table_privilege(to_regclass('primary_term'), 'select') as "isReadable"`,
    values: [],
  })
  return table?.isReadable === true
}

/** `position` is that of the primary. */
export async function readServer(db: Reader, { term, lsn }: Position): Promise<ServerState> {
  const [server] = await db.read<ServerState>({
    name: 'read_server',
    text: `select pg_is_in_recovery() as "isStandby", exists (select from pg_stat_wal_receiver) as "isStreaming",
        pg_backend_pid() as pid, extract(epoch from pg_postmaster_start_time())::text as "startedAt",
        ${INCARNATION} as incarnation, term = $1 as "hasTerm",
        case when pg_is_in_recovery()
          then greatest(0, pg_wal_lsn_diff($2::pg_lsn, pg_last_wal_replay_lsn()))::float8
          else 0
        end as "bytesBehind"
      from primary_term`,
    values: [term, lsn],
  })
  if (server === undefined) throw new Error('the table primary_term is empty')
  return server
}

/** Asks all nodes at the same time. */
export async function readNodes(
  databaseUrl: string,
  applicationName: string,
  position: Position,
): Promise<NodeState[]> {
  return Promise.all(splitDatabaseUrl(databaseUrl).map((url) => readNode(url, applicationName, position)))
}

async function readNode(url: string, applicationName: string, position: Position): Promise<NodeState> {
  const host = hostOf(url)
  const client = openClient(url, applicationName)
  try {
    await client.connect()
    const server = await withTimeout(waitForReplay(client, position), NODE_TIMEOUT_MS)
    return { host, server, isPooled: server.pid !== backendPid(client) }
  } catch (error) {
    return { host, failure: (error as Error).message }
  } finally {
    // Does not wait: a node that does not respond would delay the others.
    client.end().catch(() => {})
  }
}

async function waitForReplay(client: Client, position: Position): Promise<ServerState> {
  const giveUpAt = performance.now() + REPLAY_WAIT_MS
  for (;;) {
    const server = await readServer(readerOf(client), position)
    const isCurrent = server.hasTerm && server.bytesBehind === 0
    if (!server.isStandby || isCurrent || performance.now() > giveUpAt) return server
    await sleep(ASK_EVERY_MS)
  }
}
