// Starts all clients of the load, and stops them.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Lab } from '../cluster/cluster.ts'
import type { Activity } from '../parts/activity.ts'
import { createRandom } from '../parts/random.ts'
import type { Violations } from '../parts/violations.ts'
import { openMarket } from './buyers.ts'
import { type Client, openClient, type Reply, type Request } from './client.ts'
import { type LoadTotals, newContext, type Worker } from './context.ts'
import type { OperationName } from './documented.ts'
import { type Follower, startFollower } from './feed-follower.ts'
import { type Gate, openGate } from '../parts/gate.ts'
import type { History, HistoryFile } from './history.ts'
import { importerOf } from './importer.ts'
import { reader } from './readers.ts'
import { statusChanger } from './status-changers.ts'
import { keyedWriter, unkeyedWriter } from './writers.ts'

/** Time for the clients to get responses to everything that they have begun. */
const DRAIN_MS = 60_000
/** The longest request of a client that has just begun its last attempt. */
const LAST_ATTEMPT_MS = 25_000

interface LoadOptions {
  lab: Lab
  seed: number
  history: History
  historyFile: HistoryFile
  activity: Activity
  violations: Violations
  folder: string
  /** Called before each request of a client, except the follower. The result is called with the reply. */
  observe?: Observe
}

export type Observe = (operation: OperationName, request: Request) => (reply: Reply) => void

export interface Load {
  client: Client
  /** Pauses all clients except the follower. */
  gate: Gate
  follower: Follower
  totals: LoadTotals
  acknowledged: () => number
  /** Multiplies the periods of the clients; see LoadContext. */
  setPace: (factor: number) => void
  /** Lets the clients finish what they have begun; returns how many did not finish in time. */
  stop: () => Promise<number>
}

export function startLoad({ lab, seed, folder, observe, ...shared }: LoadOptions): Load {
  const client = openClient({ ...lab, violations: shared.violations })
  const follower = startFollower({ ...shared, client, random: createRandom(seed, 'follower') })
  const gate = openGate()
  const send = observedSend(client, observe)
  const gated: Client = { ...client, send: (...sent) => gate.pass(() => send(...sent)) }
  const runCommand: Lab['runCommand'] = (...sent) => gate.pass(() => lab.runCommand(...sent))
  const context = newContext({ ...shared, client: gated, lag: follower.lag })
  const { auctioneer, buyer } = openMarket()
  const crew: [name: string, worker: Worker, count: number][] = [
    ['keyed-writer', keyedWriter, 8],
    ['unkeyed-writer', unkeyedWriter, 8],
    ['auctioneer', auctioneer, 1],
    ['buyer', buyer, 8],
    ['reader', reader, 4],
    ['status-changer', statusChanger, 2],
    ['importer', importerOf({ runCommand }, folder), 1],
  ]
  let running = 0
  const workers = crew.flatMap(([name, worker, count]) =>
    Array.from({ length: count }, async (_, index) => {
      running += 1
      await worker(context, createRandom(seed, `${name} ${index}`), index)
      running -= 1
    }),
  )
  const finished = Promise.all(workers)
  // A failed client is a defect of the drill. `stop` throws its error.
  finished.catch(() => {})
  return {
    client,
    gate,
    follower,
    totals: context.totals,
    acknowledged: () => {
      const { reads: _, ...changes } = context.totals
      return Object.values(changes).reduce((sum, count) => sum + count, 0)
    },
    setPace: (factor) => {
      context.paceFactor = factor
    },
    stop: async () => {
      context.stopping = true
      context.endsAt = performance.now() + DRAIN_MS
      await Promise.race([finished, sleep(DRAIN_MS + LAST_ATTEMPT_MS, undefined, { ref: false })])
      return running
    },
  }
}

function observedSend(client: Client, observe: Observe | undefined): Client['send'] {
  if (observe === undefined) return client.send
  return async (operation, request) => {
    const onReply = observe(operation, request)
    const reply = await client.send(operation, request)
    onReply(reply)
    return reply
  }
}
