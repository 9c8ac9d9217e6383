// Plants each kind of violation in a small history and small tables, and checks that the verdict reports it.
import { describe, expect, test } from 'vitest'
import { emptyHistory, type History } from '../../lab/load/history.ts'
import { findViolations, type Tables } from '../../lab/load/verdict.ts'
import { collectViolations, VIOLATION_KINDS } from '../../lab/parts/violations.ts'

/** Two pets, a sale, a cancelled order, a status change and an imported file, without a violation. */
function consistent(): { history: History; tables: Tables & { pets: Row[]; orders: Order[] } } {
  const history = emptyHistory('run-')
  history.pets.set(1, 'run-k0').set(2, 'run-k1').set(3, 'run-s0')
  history.rejectedPets.add('run-u0')
  history.unknownPets.add('run-u1')
  history.orders
    .set(1, { petId: 1, state: 'completed' })
    .set(2, { petId: 2, state: 'cancelled' })
    .set(3, { petId: 2, state: 'completing' })
  history.unknownOrders.add('run-b3')
  history.statuses.set(3, { version: 4, status: 'pending', possible: undefined })
  history.imports.push({ name: 'run-i0', rows: 2, finished: true })
  const pets: Row[] = [
    { id: 1, name: 'run-k0', status: 'sold', version: 3 },
    { id: 2, name: 'run-k1', status: 'pending', version: 4 },
    { id: 3, name: 'run-s0', status: 'pending', version: 4 },
    { id: 4, name: 'run-i0-0', status: 'available', version: 1 },
    { id: 5, name: 'run-i0-1', status: 'available', version: 1 },
  ]
  const orders: Order[] = [
    { id: 1, petId: 1, status: 'completed', note: 'run-b0' },
    { id: 2, petId: 2, status: 'cancelled', note: 'run-b1' },
    { id: 3, petId: 2, status: 'open', note: 'run-b2' },
  ]
  return { history, tables: { pets, orders, inventory: { available: 2, pending: 2, sold: 1 } } }
}

type Row = Tables['pets'][number]
type Order = Tables['orders'][number]
type Planted = ReturnType<typeof consistent>

function kindsAfter(plant: (planted: Planted) => void): string[] {
  const planted = consistent()
  plant(planted)
  return [...new Set(findViolations(planted.history, planted.tables).map(({ kind }) => kind))].sort()
}

const pet = (planted: Planted, id: number) => planted.tables.pets.find((row) => row.id === id) as Row
const order = (planted: Planted, id: number) => planted.tables.orders.find((row) => row.id === id) as Order
const remove = (rows: { id: number }[], id: number) =>
  rows.splice(
    rows.findIndex((row) => row.id === id),
    1,
  )
/** Counts the pets again, so that only the planted violation is found. */
function recount({ tables }: Planted): void {
  tables.inventory = {}
  for (const { status } of tables.pets) tables.inventory[status] = (tables.inventory[status] ?? 0) + 1
}

test('reports nothing if history and tables agree', () => {
  expect(kindsAfter(() => {})).toEqual([])
})

test('accepts either result of a request whose outcome is unknown', () => {
  const kinds = kindsAfter((planted) => {
    planted.tables.pets.push({ id: 9, name: 'run-u1', status: 'available', version: 1 })
    planted.tables.orders.push({ id: 9, petId: 3, status: 'cancelled', note: 'run-b3' })
    planted.history.statuses.set(3, { version: 3, status: 'available', possible: 'pending' })
    planted.history.imports.push({ name: 'run-i1', rows: 2, finished: false })
    planted.tables.pets.push({ id: 10, name: 'run-i1-0', status: 'available', version: 1 })
    recount(planted)
  })
  expect(kinds).toEqual([])
})

describe('reports', () => {
  const planted: [title: string, kind: string, plant: (planted: Planted) => void][] = [
    [
      'an acknowledged pet that is missing',
      'lost',
      (to) => {
        to.history.pets.set(7, 'run-k7')
      },
    ],
    [
      'another name under an acknowledged id',
      'changed',
      (to) => {
        pet(to, 1).name = 'run-k9'
      },
    ],
    [
      'a pet that exists twice',
      'duplicated',
      (to) => {
        to.tables.pets.push({ id: 9, name: 'run-k0', status: 'sold', version: 1 })
        recount(to)
      },
    ],
    [
      'a pet that the service reported as not created',
      'presentAlthoughRejected',
      (to) => {
        to.tables.pets.push({ id: 9, name: 'run-u0', status: 'sold', version: 1 })
        recount(to)
      },
    ],
    [
      'an order that the service reported as not placed',
      'presentAlthoughRejected',
      (to) => {
        to.tables.orders.push({ id: 9, petId: 3, status: 'cancelled', note: 'run-b7' })
      },
    ],
    [
      'an order that exists twice',
      'duplicated',
      (to) => {
        to.history.unknownOrders.add('run-b1')
        to.tables.orders.push({ id: 9, petId: 3, status: 'cancelled', note: 'run-b1' })
      },
    ],
    [
      'a pet with two completed orders',
      'soldTwice',
      (to) => {
        to.tables.orders.push({ id: 9, petId: 1, status: 'completed', note: 'run-b3' })
      },
    ],
    [
      'a pet acknowledged to two buyers',
      'soldTwice',
      (to) => {
        to.history.orders.set(2, { petId: 2, state: 'placed' })
        order(to, 2).status = 'open'
        to.tables.orders = to.tables.orders.filter(({ id }) => id !== 3)
        to.tables.orders.push({ id: 3, petId: 2, status: 'completed', note: '' })
      },
    ],
    [
      'an acknowledged order that is missing',
      'orderUndone',
      (to) => {
        remove(to.tables.orders, 1)
      },
    ],
    [
      'a completed order that is open again',
      'orderUndone',
      (to) => {
        order(to, 1).status = 'open'
      },
    ],
    [
      'a sold pet that is available again',
      'orderUndone',
      (to) => {
        pet(to, 1).status = 'available'
        recount(to)
      },
    ],
    [
      'a status that went back',
      'statusUndone',
      (to) => {
        Object.assign(pet(to, 3), { status: 'available', version: 3 })
        recount(to)
      },
    ],
    [
      'a status with the expected value and another version',
      'statusUndone',
      (to) => {
        pet(to, 3).version = 6
      },
    ],
    [
      'an imported row that is missing',
      'importRow',
      (to) => {
        remove(to.tables.pets, 5)
        recount(to)
      },
    ],
    [
      'an imported row that exists twice',
      'importRow',
      (to) => {
        to.tables.pets.push({ id: 9, name: 'run-i0-1', status: 'available', version: 1 })
        recount(to)
      },
    ],
    [
      'an inventory that differs from the pets',
      'inventory',
      (to) => {
        to.tables.inventory['sold'] = 2
      },
    ],
  ]

  test.each(planted)('%s', (_, kind, plant) => {
    expect(kindsAfter(plant)).toEqual([kind])
  })
})

test('counts the same subject once per kind, and keeps five examples', () => {
  const said: string[] = []
  const violations = collectViolations((text) => said.push(text))
  for (const id of [1, 1, 2, 3, 4, 5, 6, 7])
    violations.add({ kind: 'lost', subject: `${id}`, text: `pet ${id}` })
  expect(violations.count()).toBe(7)
  const lost = violations.summary().find(({ kind }) => kind === 'lost')
  expect(lost).toMatchObject({ count: 7, examples: { length: 5 } })
  expect(said).toHaveLength(5)
  expect(violations.summary()).toHaveLength(Object.keys(VIOLATION_KINDS).length)
})
