// Compares the mirror of the event feed with the pets and orders of the primary, while no client changes them.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Lab } from '../cluster/cluster.ts'
import { compareOrders, comparePets, type Difference, type Mirror } from '../parts/mirror.ts'
import { readOrders, readPets } from '../parts/store-rows.ts'
import type { Follower } from './feed-follower.ts'
import { connect } from './sampler.ts'

const CONNECT_TIMEOUT_MS = 60_000
const QUIET_TIMEOUT_MS = 300_000
/** A change whose client gave up can still commit, so differences count only if they stay for this long. */
const DIFFERENCES_STAY_MS = 20_000
const RETRY_AFTER_MS = 1_000

export interface Comparison {
  pets: number
  orders: number
  differences: Difference[]
}

/** Returns the differences that remain once the feed is quiet. */
export async function compareWithDatabase(lab: Lab, follower: Follower): Promise<Comparison> {
  const deadline = performance.now() + DIFFERENCES_STAY_MS
  for (;;) {
    if (!(await follower.waitUntilQuiet(QUIET_TIMEOUT_MS))) throw new Error('the feed cannot be read')
    const comparison = await compareOnce(lab, follower.mirror)
    if (comparison.differences.length === 0 || performance.now() > deadline) return comparison
    await sleep(RETRY_AFTER_MS)
  }
}

async function compareOnce(lab: Lab, mirror: Mirror): Promise<Comparison> {
  const database = await connect(lab, CONNECT_TIMEOUT_MS)
  const counts = { pets: 0, orders: 0 }
  async function* counted<Row>(table: keyof typeof counts, pages: AsyncIterable<Row[]>) {
    for await (const page of pages) {
      counts[table] += page.length
      yield page
    }
  }
  try {
    await database.query('begin isolation level repeatable read, read only')
    const differences = [
      ...(await comparePets(mirror, counted('pets', readPets(database)))),
      ...(await compareOrders(mirror, counted('orders', readOrders(database)))),
    ]
    return { ...counts, differences }
  } finally {
    await database.end().catch(() => {})
  }
}
