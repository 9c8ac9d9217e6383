// Reads the tables of the primary and the inventory of the service, after the load has stopped.
// Knows nothing about what is expected in them.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Client as DatabaseClient } from 'pg'
import type { Lab } from './lab.ts'
import type { Client } from './load/client.ts'
import { connect } from './load/sampler.ts'
import { checkInventory, type Counts, type OrderRow, type PetRow, type Tables } from './verdict.ts'

const PAGE_ROWS = 20_000
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
    const pets = await readPages<PetRow>(
      database,
      `select id::float8 as id, name, status, version from pets where id > $1 order by id limit $2`,
    )
    const orders = await readPages<OrderRow>(
      database,
      `select id::float8 as id, pet_id::float8 as "petId", status, note from orders where id > $1 order by id limit $2`,
    )
    const reply = await client.send('getInventory', { method: 'GET', path: '/store/inventory' })
    if (reply.outcome !== 'done') throw new Error(`getInventory returned ${reply.result}`)
    return { pets, orders, inventory: reply.body as Counts }
  } finally {
    await database.end().catch(() => {})
  }
}

async function readPages<Row extends { id: number }>(database: DatabaseClient, text: string): Promise<Row[]> {
  const rows: Row[] = []
  for (;;) {
    const page = (await database.query(text, [rows.at(-1)?.id ?? 0, PAGE_ROWS])).rows as Row[]
    for (const row of page) rows.push(row)
    if (page.length < PAGE_ROWS) return rows
  }
}
