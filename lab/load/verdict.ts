// Compares the history of the clients with the rows of the primary. Pure functions.
import type { Mirror } from '../parts/mirror.ts'
import type { OrderRow, PetRow } from '../parts/store-rows.ts'
import type { Violation } from '../parts/violations.ts'
import { type History, importedName } from './history.ts'

type VerdictPet = Omit<PetRow, 'categoryId'>

export type Counts = Record<string, number>

/** The tables of the primary, and the inventory as the service returns it. */
export interface Tables {
  pets: readonly VerdictPet[]
  orders: readonly OrderRow[]
  inventory: Counts
}

export function findViolations(history: History, tables: Tables): Violation[] {
  const petsById = new Map(tables.pets.map((row) => [row.id, row]))
  const timesByName = new Map<string, number>()
  for (const { name } of tables.pets) timesByName.set(name, (timesByName.get(name) ?? 0) + 1)
  return [
    ...checkPets(history, petsById, timesByName),
    ...checkOrders(history, tables.orders, petsById),
    ...checkSales(history, tables.orders),
    ...checkStatuses(history, petsById),
    ...checkImports(history, timesByName),
    ...checkInventory(tables),
  ]
}

type PetsById = ReadonlyMap<number, VerdictPet>

/** Lost, changed, duplicated, and created although the service reported the opposite. */
export function checkPets(
  history: History,
  petsById: PetsById,
  timesByName: ReadonlyMap<string, number>,
): Violation[] {
  const found: Violation[] = []
  for (const [id, name] of history.pets) {
    const row = petsById.get(id)
    if (row === undefined) found.push({ kind: 'lost', subject: `${id}`, text: `pet ${id}, ${name}` })
    else if (row.name !== name) {
      found.push({ kind: 'changed', subject: `${id}`, text: `pet ${id}: ${name} is now ${row.name}` })
    }
  }
  for (const [name, times] of timesByName) {
    // checkImports checks the rows of imported files.
    if (times < 2 || !name.startsWith(history.prefix) || isImported(history, name)) continue
    found.push({ kind: 'duplicated', subject: name, text: `${name} exists ${times} times` })
  }
  for (const name of history.rejectedPets) {
    if (timesByName.has(name)) found.push({ kind: 'presentAlthoughRejected', subject: name, text: name })
  }
  return found
}

function isImported({ imports }: History, name: string): boolean {
  return imports.some((file) => name.startsWith(`${file.name}-`))
}

const ORDER_STATUSES = {
  placed: ['open'],
  completing: ['open', 'completed'],
  completed: ['completed'],
  cancelling: ['open', 'cancelled'],
  cancelled: ['cancelled'],
} as const

/** Acknowledged orders that are missing or in a status that no client requested; orders that were not acknowledged. */
export function checkOrders(history: History, rows: readonly OrderRow[], petsById: PetsById): Violation[] {
  const found: Violation[] = []
  const undone = (id: number, text: string) =>
    found.push({ kind: 'orderUndone', subject: `${id}`, text: `order ${id} ${text}` })
  const byId = new Map(rows.map((row) => [row.id, row]))
  for (const [id, { petId, state }] of history.orders) {
    const row = byId.get(id)
    const allowed: readonly string[] = ORDER_STATUSES[state]
    if (row === undefined) undone(id, `for pet ${petId} is missing`)
    else if (row.petId !== petId) undone(id, `was for pet ${petId} and is now for pet ${row.petId}`)
    else if (!allowed.includes(row.status)) undone(id, `was ${state} and is now ${row.status}`)
    else if (state === 'completed' && petsById.get(petId)?.status !== 'sold') {
      undone(id, `was completed, and pet ${petId} is ${petsById.get(petId)?.status ?? 'missing'}`)
    }
  }
  const notes = new Set<string>()
  for (const { id, note } of rows) {
    if (!note.startsWith(history.prefix)) continue
    if (notes.has(note)) found.push({ kind: 'duplicated', subject: note, text: `order ${note} exists twice` })
    notes.add(note)
    if (!history.orders.has(id) && !history.unknownOrders.has(note)) {
      found.push({ kind: 'presentAlthoughRejected', subject: note, text: `order ${id}, ${note}` })
    }
  }
  return found
}

/** Pets with two orders that are not cancelled: in the database, or acknowledged to two buyers. */
export function checkSales(history: History, rows: readonly OrderRow[]): Violation[] {
  const inTable = rows
    .filter(({ status }) => status === 'open' || status === 'completed')
    .map(({ petId }) => petId)
  const acknowledged = [...history.orders.values()]
    .filter(({ state }) => state !== 'cancelling' && state !== 'cancelled')
    .map(({ petId }) => petId)
  return [...repeated(inTable), ...repeated(acknowledged)].map((petId) => ({
    kind: 'soldTwice',
    subject: `${petId}`,
    text: `pet ${petId} has two orders that are not cancelled`,
  }))
}

function repeated(ids: readonly number[]): Set<number> {
  const seen = new Set<number>()
  const again = new Set<number>()
  for (const id of ids) (seen.has(id) ? again : seen).add(id)
  return again
}

/** Pets whose version and status are neither those of the last acknowledged change nor those of an unknown one. */
export function checkStatuses({ statuses }: History, petsById: PetsById): Violation[] {
  const found: Violation[] = []
  for (const [id, { version, status, possible }] of statuses) {
    const row = petsById.get(id)
    const isExpected = row?.version === version && row.status === status
    const isPossible = possible !== undefined && row?.version === version + 1 && row.status === possible
    if (isExpected || isPossible) continue
    const now = row === undefined ? 'missing' : `${row.status} at version ${row.version}`
    const text = `pet ${id} was ${status} at version ${version} and is now ${now}`
    found.push({ kind: 'statusUndone', subject: `${id}`, text })
  }
  return found
}

/** Rows of finished files exist exactly once; rows of other files at most once. */
export function checkImports({ imports }: History, timesByName: ReadonlyMap<string, number>): Violation[] {
  const found: Violation[] = []
  for (const { name, rows, finished } of imports) {
    for (let row = 0; row < rows; row += 1) {
      const subject = importedName(name, row)
      const times = timesByName.get(subject) ?? 0
      if (times > 1 || (finished && times === 0)) {
        found.push({ kind: 'importRow', subject, text: `${subject} exists ${times} times` })
      }
    }
  }
  return found
}

export function checkInventory({ pets, inventory }: Tables): Violation[] {
  const counted: Counts = {}
  for (const { status } of pets) counted[status] = (counted[status] ?? 0) + 1
  return [...new Set([...Object.keys(inventory), ...Object.keys(counted)])]
    .filter((status) => (inventory[status] ?? 0) !== (counted[status] ?? 0))
    .map((status) => ({
      kind: 'inventory',
      subject: status,
      text: `${status}: ${inventory[status] ?? 0} in the inventory, ${counted[status] ?? 0} pets`,
    }))
}

/** Acknowledged pets, orders and ends of orders without their event. mirror-check.ts finds all other missing events. */
export function checkEvents(history: History, mirror: Mirror): Violation[] {
  const found: Violation[] = []
  const missing = (subject: string, type: string) =>
    found.push({ kind: 'eventMissing', subject, text: `${subject} has no ${type}` })
  for (const id of history.pets.keys()) if (!mirror.wasCreated(id)) missing(`pet ${id}`, 'pet.created')
  for (const [id, { petId, state }] of history.orders) {
    const order = mirror.orders.get(id)
    const allowed: readonly string[] = ORDER_STATUSES[state]
    if (order?.petId !== petId) missing(`order ${id}`, `order.placed for pet ${petId}`)
    else if (!allowed.includes(order.status)) missing(`order ${id}`, `order.${allowed.at(-1)}`)
  }
  return found
}
