// Compares the mirror of the event feed with the pets and orders of the primary, while no client changes them.
// The differences are found by pure functions; the rest knows how to read the tables.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from 'pg'
import type { Lab } from '../lab.ts'
import { connect } from '../load/sampler.ts'
import type { OrderRow, PetRow } from '../verdict.ts'
import type { Violation } from '../violations.ts'
import { hashOf } from './events.ts'
import type { Follower } from './follower.ts'
import type { Mirror } from './mirror.ts'

const PAGE_ROWS = 20_000
const CONNECT_TIMEOUT_MS = 60_000
const QUIET_TIMEOUT_MS = 300_000
/** A change whose client gave up can still commit, so differences count only if they stay for this long. */
const DIFFERENCES_STAY_MS = 20_000
const RETRY_AFTER_MS = 1_000

export type ComparedPet = PetRow & { categoryId: number }
export type ComparedOrder = Omit<OrderRow, 'note'>

export interface Comparison {
  pets: number
  orders: number
  differences: Violation[]
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
  try {
    const differences: Violation[] = []
    await database.query('begin isolation level repeatable read, read only')
    let pets = 0
    for (let after = 0, isLast = false; !isLast; ) {
      const rows = await readPets(database, after)
      isLast = rows.length < PAGE_ROWS
      const last = rows.at(-1)?.id ?? after
      const until = isLast ? Math.max(last, mirror.maxPetId) : last
      differences.push(...comparePets(mirror, rows, after, until))
      pets += rows.length
      after = until
    }
    const { rows } = await database.query<ComparedOrder>(
      `select id::float8 as id, pet_id::float8 as "petId", status from orders`,
    )
    differences.push(...compareOrders(mirror, rows))
    return { pets, orders: rows.length, differences }
  } finally {
    await database.end().catch(() => {})
  }
}

async function readPets(database: Client, after: number): Promise<ComparedPet[]> {
  const { rows } = await database.query<ComparedPet>(
    `select id::float8 as id, name, category_id::float8 as "categoryId", status, version from pets
    where id > $1 order by id limit $2`,
    [after, PAGE_ROWS],
  )
  return rows
}

/** Compares the pets with ids above `after`, up to `until`. The rows are sorted by id. */
export function comparePets(
  mirror: Mirror,
  rows: readonly ComparedPet[],
  after: number,
  until: number,
): Violation[] {
  const found: Violation[] = []
  let next = 0
  for (let id = after + 1; id <= until; id += 1) {
    const row = rows[next]?.id === id ? rows[next] : undefined
    if (row !== undefined) next += 1
    const difference = comparePet(mirror, id, row)
    if (difference !== undefined) {
      found.push({ kind: 'mirror', subject: `pet ${id}`, text: `pet ${id}: ${difference}` })
    }
  }
  return found
}

function comparePet(mirror: Mirror, id: number, row: ComparedPet | undefined): string | undefined {
  const pet = mirror.pet(id)
  if (pet === undefined && row === undefined) return undefined
  if (row === undefined) return 'only in the mirror'
  if (pet === undefined) return `only in the database (${row.name})`
  if (pet.nameHash !== hashOf(row.name)) return `another name in the mirror than ${row.name}`
  if (pet.categoryId !== row.categoryId) {
    return `category ${pet.categoryId} in the mirror, ${row.categoryId} in the database`
  }
  if (pet.status !== row.status) return `${pet.status} in the mirror, ${row.status} in the database`
  // Each change of a pet increases its version by one and has one event.
  if (pet.updates + 1 === row.version) return undefined
  return `${pet.updates} pet.updated events, and version ${row.version} in the database`
}

export function compareOrders({ orders }: Mirror, rows: readonly ComparedOrder[]): Violation[] {
  const found: Violation[] = []
  const add = (id: number, text: string) =>
    found.push({ kind: 'mirror', subject: `order ${id}`, text: `order ${id}: ${text}` })
  const inDatabase = new Set<number>()
  for (const { id, petId, status } of rows) {
    inDatabase.add(id)
    const order = orders.get(id)
    if (order === undefined) add(id, `only in the database (${status})`)
    else if (order.petId !== petId || order.status !== status) {
      add(id, `${order.status}, pet ${order.petId} in the mirror; ${status}, pet ${petId} in the database`)
    }
  }
  for (const id of orders.keys()) if (!inDatabase.has(id)) add(id, 'only in the mirror')
  return found
}
