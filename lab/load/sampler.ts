// Samples the primary once a second: connections of the service, and how many wait for synchronous replication.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from 'pg'
import type { Lab } from '../cluster/cluster.ts'

const SAMPLED_EVERY_MS = 1_000
const CONNECT_TIMEOUT_MS = 3_000
const QUERY_TIMEOUT_MS = 1_000
const SERVICE_ROLE = 'petstore_app'
const SAMPLE = `
  select pg_is_in_recovery() as standby, count(*)::int as connections,
    (count(*) filter (where wait_event = 'SyncRep'))::int as waiting
  from pg_stat_activity where usename = $1`

export interface Peak {
  connections: number
  waitingForReplication: number
}

export interface Sampler {
  /** The peaks since the last call. */
  takePeak: () => Peak
  stop: () => Promise<void>
}

export function startSampler(lab: Pick<Lab, 'connectToPrimary'>): Sampler {
  let peak: Peak = { connections: 0, waitingForReplication: 0 }
  const stopping = new AbortController()
  const running = run()
  return {
    takePeak: () => {
      const taken = peak
      peak = { connections: 0, waitingForReplication: 0 }
      return taken
    },
    stop: async () => {
      stopping.abort()
      await running
    },
  }

  async function run(): Promise<void> {
    let client: Client | undefined
    while (!stopping.signal.aborted) {
      try {
        client ??= await connect(lab)
        const query = { text: SAMPLE, values: [SERVICE_ROLE], query_timeout: QUERY_TIMEOUT_MS }
        const [row] = (await client.query(query)).rows as [Sample]
        if (row.standby) throw new Error('the server is a standby now')
        peak.connections = Math.max(peak.connections, row.connections)
        peak.waitingForReplication = Math.max(peak.waitingForReplication, row.waiting)
      } catch {
        // During a fault the primary is unreachable. The next sample connects again.
        endLater(client)
        client = undefined
      }
      await sleep(SAMPLED_EVERY_MS)
    }
    endLater(client)
  }
}

interface Sample {
  standby: boolean
  connections: number
  waiting: number
}

/** Connects to the primary. A connection that takes too long is closed once it is open. */
export async function connect(
  lab: Pick<Lab, 'connectToPrimary'>,
  timeoutMs = CONNECT_TIMEOUT_MS,
): Promise<Client> {
  const connecting = lab.connectToPrimary().then((client) => {
    // Without a listener, a lost connection would end the process.
    client.on('error', () => {})
    return client
  })
  const client = await Promise.race([connecting, sleep(timeoutMs, undefined, { ref: false })])
  if (client !== undefined) return client
  connecting.then(endLater, () => {})
  throw new Error(`no connection to the primary within ${timeoutMs} ms`)
}

/** Closes a connection without waiting, because the server may be frozen. */
function endLater(client: Client | undefined): void {
  client?.end().catch(() => {})
}
