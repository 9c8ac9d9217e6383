// Compares a restored database with the journal of the clients.
import { importedName } from '../load/history.ts'
import type { OrderRow, PetRow } from '../parts/store-rows.ts'
import type { Violation } from '../parts/violations.ts'
import { type Change, expectationOf, type Journal, type Moment } from './journal.ts'

export interface RestoredRows {
  pets: PetRow[]
  orders: OrderRow[]
}

export interface Comparison {
  /** Changes that must be in the database, because they were acknowledged before the moment. */
  required: number
  /** Changes that must not be there, because they were sent after it, or rejected. */
  excluded: number
  /** Changes that were in flight. */
  possible: number
  violations: Violation[]
}

/** Compares every pet and every order. The moment is where the restore stopped. */
export function compareWithJournal(journal: Journal, rows: RestoredRows, moment: Moment): Comparison {
  const comparison: Comparison = { required: 0, excluded: 0, possible: 0, violations: [] }
  const petsByName = Map.groupBy(rows.pets, ({ name }) => name)
  const check = checkerOf(comparison, moment)
  for (const [name, change] of journal.pets) {
    const found = petsByName.get(name) ?? []
    check(change, found.length, `pet ${name}`)
    const [row] = found
    if (row !== undefined && (change.id ?? row.id) !== row.id)
      wrong(comparison, `pet ${name}`, `has id ${row.id}`)
  }
  checkOrders(journal, rows, check, comparison)
  checkImports(journal, petsByName, check)
  checkStatuses(journal, rows, check, comparison)
  checkUnknown(journal, rows, comparison)
  return comparison
}

/** Returns whether a change that must or must not be there is as expected. `what` describes it if `subject` does not. */
type Check = (change: Change, found: number, subject: string, what?: string) => boolean

function checkerOf(comparison: Comparison, moment: Moment): Check {
  const names = { present: 'required', absent: 'excluded', possible: 'possible' } as const
  return (change, found, subject, what = subject) => {
    const expectation = expectationOf(change, moment)
    comparison[names[expectation]] += 1
    if (expectation === 'present' && found === 0) {
      const text = `${what} was acknowledged before the moment, and is missing`
      comparison.violations.push({ kind: 'restoredTooLittle', subject, text })
    } else if (expectation === 'absent' && found > 0) {
      const text = `${what} was sent after the moment or rejected, and exists`
      comparison.violations.push({ kind: 'restoredTooMuch', subject, text })
    } else {
      if (found > 1) wrong(comparison, subject, `exists ${found} times`)
      return true
    }
    return false
  }
}

function wrong({ violations }: Comparison, subject: string, problem: string): void {
  violations.push({ kind: 'restoredWrong', subject, text: `${subject} ${problem}` })
}

function checkOrders(journal: Journal, { orders }: RestoredRows, check: Check, comparison: Comparison): void {
  const byNote = Map.groupBy(orders, ({ note }) => note)
  for (const [note, change] of journal.orders) {
    const found = byNote.get(note) ?? []
    check(change, found.length, `order ${note}`)
    const [row] = found
    if (row === undefined) continue
    if (row.petId !== change.petId || (change.id ?? row.id) !== row.id) {
      wrong(comparison, `order ${note}`, `is order ${row.id} for pet ${row.petId}`)
    }
    const end = journal.orderEnds.get(row.id)
    if (end !== undefined) check(end, row.status === end.status ? 1 : 0, `${end.status} order ${row.id}`)
    if (row.status !== 'open' && row.status !== end?.status) {
      wrong(comparison, `order ${row.id}`, `is ${row.status}`)
    }
  }
}

function checkImports(journal: Journal, petsByName: Map<string, PetRow[]>, check: Check): void {
  for (const [name, change] of journal.imports) {
    for (let row = 0; row < change.rows; row += 1) {
      const subject = importedName(name, row)
      check(change, petsByName.get(subject)?.length ?? 0, `imported pet ${subject}`)
    }
  }
}

/** Each pet has the status and the version of its changes. Orders change a pet once when placed, and once when ended. */
function checkStatuses(
  journal: Journal,
  { pets, orders }: RestoredRows,
  check: Check,
  comparison: Comparison,
): void {
  const ordersByPet = Map.groupBy(orders, ({ petId }) => petId)
  for (const { id, status, version } of pets) {
    const changes = journal.statuses.get(id)
    const subject = `pet ${id}`
    if (changes === undefined) {
      const ofPet = ordersByPet.get(id) ?? []
      const expected = 1 + ofPet.length + ofPet.filter((order) => order.status !== 'open').length
      if (version !== expected || status !== statusAfter(ofPet)) {
        wrong(comparison, subject, `is ${status} at version ${version}, with ${ofPet.length} orders`)
      }
      continue
    }
    for (const change of changes) {
      const what = `${subject}, now at version ${version}: its change to ${change.status}, version ${change.version},`
      const isExpected = check(change, version >= change.version ? 1 : 0, subject, what)
      if (isExpected && version === change.version && status !== change.status) {
        wrong(comparison, subject, `is ${status} at version ${version}`)
      }
    }
  }
}

function statusAfter(orders: readonly OrderRow[]): string {
  if (orders.some(({ status }) => status === 'completed')) return 'sold'
  return orders.some(({ status }) => status === 'open') ? 'pending' : 'available'
}

/** Rows that no client sent. */
function checkUnknown(journal: Journal, { pets, orders }: RestoredRows, comparison: Comparison): void {
  const imported = new Set(
    [...journal.imports].flatMap(([name, { rows }]) =>
      Array.from({ length: rows }, (_, row) => importedName(name, row)),
    ),
  )
  for (const { id, name } of pets) {
    if (!journal.pets.has(name) && !imported.has(name))
      wrong(comparison, `pet ${id}`, `${name} was never sent`)
  }
  for (const { id, note } of orders) {
    if (!journal.orders.has(note)) wrong(comparison, `order ${id}`, `${note} was never sent`)
  }
}
