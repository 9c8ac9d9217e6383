// The state that all clients of the load use, and the limits of their retries.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Activity } from '../parts/activity.ts'
import type { Random } from '../parts/random.ts'
import type { Violations } from '../parts/violations.ts'
import { type Client, type Reply, waitPolitely } from './client.ts'
import type { Lag } from './feed-lag.ts'
import type { History, HistoryFile } from './history.ts'

/** Longer than the longest fault and the recovery from it. */
const RETRY_MAX_MS = 300_000
const RECENT_PETS_MAX = 2_000
const RECENT_ORDERS_MAX = 50

export interface LoadTotals {
  keyedPets: number
  unkeyedPets: number
  orders: number
  completions: number
  cancellations: number
  statusChanges: number
  importedRows: number
  reads: number
}

export interface LoadContext {
  client: Client
  history: History
  historyFile: HistoryFile
  activity: Activity
  lag: Pick<Lag, 'acknowledge'>
  violations: Violations
  totals: LoadTotals
  /** Ids of recently acknowledged pets with a key, for buyers and readers. */
  recentPets: number[]
  /** Of all pets that were acknowledged, or that any reader has read. */
  newestPetId: number
  /** The highest version of each pet that any reader has read. */
  versionsRead: Map<number, number>
  /** Acknowledged orders of each pet. */
  ordersByPet: Map<number, number[]>
  /** Ids of recently acknowledged orders, for readers. */
  recentOrders: number[]
  /** Set once: clients then finish what they have begun. */
  stopping: boolean
  /** Time by which the clients end, in milliseconds of performance.now(). */
  endsAt: number
  /** Multiplies the periods of the clients: 2 halves the load, and 0 lets each client send its requests without a pause. */
  paceFactor: number
}

type Shared = Pick<LoadContext, 'client' | 'history' | 'historyFile' | 'activity' | 'lag' | 'violations'>

/** The context at the start of a run. */
export function newContext(shared: Shared): LoadContext {
  return {
    ...shared,
    totals: {
      keyedPets: 0,
      unkeyedPets: 0,
      orders: 0,
      completions: 0,
      cancellations: 0,
      statusChanges: 0,
      importedRows: 0,
      reads: 0,
    },
    recentPets: [],
    newestPetId: 0,
    versionsRead: new Map(),
    ordersByPet: new Map(),
    recentOrders: [],
    stopping: false,
    endsAt: Number.POSITIVE_INFINITY,
    paceFactor: 1,
  }
}

/** A client of the load. Runs until `context.stopping`. */
export type Worker = (context: LoadContext, random: Random, index: number) => Promise<void>

/** Retries until the reply is final. Returns undefined if no final reply arrived within the limit. */
export async function retry(
  context: LoadContext,
  random: Random,
  attempt: () => Promise<Reply>,
  isFinal: (reply: Reply) => boolean,
): Promise<Reply | undefined> {
  const giveUpAt = performance.now() + RETRY_MAX_MS
  for (;;) {
    const reply = await attempt()
    if (isFinal(reply)) return reply
    if (performance.now() > Math.min(giveUpAt, context.endsAt)) return undefined
    await waitPolitely(reply, random)
  }
}

/**
 * Waits until a period of random length, which began at `startedAt`, is over. The mean period sets the rate of a
 * client. The rate does not depend on the latency, unless the latency is longer than the period.
 */
export async function pace(
  { paceFactor }: LoadContext,
  random: Random,
  startedAt: number,
  meanPeriodMs: number,
): Promise<void> {
  const leftMs = startedAt + paceFactor * meanPeriodMs * (0.5 + random()) - performance.now()
  if (leftMs > 0) await sleep(leftMs)
}

/** Records an acknowledged pet. */
export function acknowledgePet(context: LoadContext, id: number, name: string): void {
  const { history, violations } = context
  const earlier = history.pets.get(id)
  // A server that lost the earlier pet gives its id to the next one.
  if (earlier !== undefined && earlier !== name) {
    const text = `pet ${id}, ${earlier}: its id was given to ${name}`
    violations.add({ kind: 'lost', subject: `${id}`, text })
  }
  history.pets.set(id, name)
  history.unknownPets.delete(name)
  context.historyFile.append({ pet: id, name })
  context.newestPetId = Math.max(context.newestPetId, id)
  context.activity.record('writes')
  context.lag.acknowledge(id)
}

export function offerPet(context: LoadContext, id: number): void {
  context.recentPets.push(id)
  if (context.recentPets.length > RECENT_PETS_MAX) context.recentPets.shift()
}

export function offerOrder(context: LoadContext, id: number): void {
  context.recentOrders.push(id)
  if (context.recentOrders.length > RECENT_ORDERS_MAX) context.recentOrders.shift()
}
