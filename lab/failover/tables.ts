// Reads the tables of the primary and the inventory of the service, after the load has stopped.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Lab } from '../cluster/cluster.ts'
import type { Client } from '../load/client.ts'
import { connect } from '../load/sampler.ts'
import { checkInventory, type Counts, type Tables } from '../load/verdict.ts'
import { allRows, readOrders, readPets } from '../parts/store-rows.ts'

const ATTEMPTS_MAX = 10
const RETRY_AFTER_MS = 2_000
const CONNECT_TIMEOUT_MS = 60_000

/** Reads everything. Retries while the inventory differs, because a write whose client gave up can still commit. */
export async function readTables(lab: Lab, client: Client): Promise<Tables> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      const tables = await readOnce(lab, client)
      if (checkInventory(tables).length === 0 || attempt >= ATTEMPTS_MAX) return tables
    } catch (error) {
      if (attempt >= ATTEMPTS_MAX) throw error
    }
    await sleep(RETRY_AFTER_MS)
  }
}

async function readOnce(lab: Lab, client: Client): Promise<Tables> {
  const database = await connect(lab, CONNECT_TIMEOUT_MS)
  try {
    const pets = await allRows(readPets(database))
    const orders = await allRows(readOrders(database))
    const reply = await client.send('getInventory', { method: 'GET', path: '/store/inventory' })
    if (reply.outcome !== 'done') throw new Error(`getInventory returned ${reply.result}`)
    return { pets, orders, inventory: reply.body as Counts }
  } finally {
    await database.end().catch(() => {})
  }
}
