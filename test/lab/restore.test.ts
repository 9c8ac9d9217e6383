// What the restore drill expects in a database that was restored to a moment.
import { expect, test } from 'vitest'
import type { Reply, Request } from '../../lab/load/client.ts'
import type { OperationName } from '../../lab/load/documented.ts'
import { compareWithJournal, type RestoredRows } from '../../lab/restore/compare.ts'
import { differingTables } from '../../lab/restore/contents.ts'
import { Journal, type Moment } from '../../lab/restore/journal.ts'

const done = (id: number): Reply => ({ ...reply('done', 201), body: { id } })
const unavailable = () => reply('notDone', 503)

function reply(outcome: Reply['outcome'], status: number): Reply {
  return { status, result: `${status}`, outcome, body: {}, version: undefined, next: undefined, waitMs: 0 }
}

function send(journal: Journal, operation: OperationName, request: Request, result?: Reply): void {
  const onReply = journal.observe(operation, request)
  if (result !== undefined) onReply(result)
}

function createPet(journal: Journal, name: string, result?: Reply): void {
  send(journal, 'createPet', { method: 'POST', path: '/pets', body: { name } }, result)
}

/** A moment between what was journaled before and what follows. */
function now(): Moment {
  const wait = (from: number) => {
    while (performance.now() - from < 1);
    return performance.now()
  }
  const from = wait(performance.now())
  const until = wait(from)
  wait(until)
  return { text: '', from, until }
}

const PET = { categoryId: 1, status: 'available', version: 1 }
const pet = (id: number, name: string) => ({ ...PET, id, name })
const kindsOf = (journal: Journal, rows: Partial<RestoredRows>, moment: Moment) =>
  compareWithJournal(journal, { pets: [], orders: [], ...rows }, moment).violations.map(({ kind }) => kind)

test('requires pets acknowledged before the moment, and excludes pets sent after it', () => {
  const journal = new Journal()
  createPet(journal, 'before', done(1))
  const moment = now()
  createPet(journal, 'after', done(2))
  expect(kindsOf(journal, { pets: [pet(1, 'before')] }, moment)).toEqual([])
  expect(kindsOf(journal, {}, moment)).toEqual(['restoredTooLittle'])
  const both = { pets: [pet(1, 'before'), pet(2, 'after')] }
  expect(kindsOf(journal, both, moment)).toEqual(['restoredTooMuch'])
})

test('permits a pet that was in flight at the moment, present or not', () => {
  const journal = new Journal()
  const onReply = journal.observe('createPet', { method: 'POST', path: '/pets', body: { name: 'in flight' } })
  const moment = now()
  onReply(done(1))
  expect(kindsOf(journal, {}, moment)).toEqual([])
  expect(kindsOf(journal, { pets: [pet(1, 'in flight')] }, moment)).toEqual([])
  expect(compareWithJournal(journal, { pets: [], orders: [] }, moment)).toMatchObject({ possible: 1 })
})

test('reports rejected pets, unknown pets, duplicates and other ids', () => {
  const journal = new Journal()
  createPet(journal, 'rejected', unavailable())
  createPet(journal, 'acknowledged', done(7))
  const moment = now()
  const pets = [pet(1, 'rejected'), pet(2, 'unknown'), pet(7, 'acknowledged'), pet(8, 'acknowledged')]
  expect(kindsOf(journal, { pets }, moment)).toEqual(['restoredTooMuch', 'restoredWrong', 'restoredWrong'])
  expect(kindsOf(journal, { pets: [pet(9, 'acknowledged')] }, moment)).toEqual(['restoredWrong'])
})

test('compares the status and the version of a pet with its changes', () => {
  const journal = new Journal()
  createPet(journal, 'Rex', done(1))
  const change = (version: number, status: string) =>
    send(
      journal,
      'updatePet',
      { method: 'PATCH', path: '/pets/1', body: { status }, headers: { 'if-match': `"${version}"` } },
      reply('done', 200),
    )
  change(1, 'pending')
  const moment = now()
  change(2, 'available')
  const at = (version: number, status: string) => ({ pets: [{ ...pet(1, 'Rex'), version, status }] })
  expect(kindsOf(journal, at(2, 'pending'), moment)).toEqual([])
  expect(kindsOf(journal, at(2, 'available'), moment)).toEqual(['restoredWrong'])
  expect(kindsOf(journal, at(1, 'available'), moment)).toEqual(['restoredTooLittle'])
  expect(kindsOf(journal, at(3, 'available'), moment)).toEqual(['restoredTooMuch'])
})

test('compares orders, their ends and the versions of their pets', () => {
  const journal = new Journal()
  createPet(journal, 'Rex', done(1))
  const order: Request = { method: 'POST', path: '/store/orders', body: { petId: 1, note: 'n' } }
  send(journal, 'placeOrder', order, done(5))
  const placed = now()
  send(journal, 'completeOrder', { method: 'POST', path: '/store/orders/5/complete' }, reply('done', 200))
  const completed = now()
  const rows = (status: string, petStatus: string, version: number): RestoredRows => ({
    pets: [{ ...pet(1, 'Rex'), status: petStatus, version }],
    orders: [{ id: 5, petId: 1, status, note: 'n' }],
  })
  expect(kindsOf(journal, rows('open', 'pending', 2), placed)).toEqual([])
  expect(kindsOf(journal, rows('completed', 'sold', 3), placed)).toEqual(['restoredTooMuch'])
  expect(kindsOf(journal, rows('completed', 'sold', 3), completed)).toEqual([])
  expect(kindsOf(journal, rows('open', 'pending', 2), completed)).toEqual(['restoredTooLittle'])
  expect(kindsOf(journal, rows('completed', 'sold', 2), completed)).toEqual(['restoredWrong'])
  expect(kindsOf(journal, { pets: [pet(1, 'Rex')] }, completed)).toEqual(['restoredTooLittle'])
})

test('requires all rows of an import that finished before the moment', () => {
  const journal = new Journal()
  journal.startImport('file', 2)(true)
  const moment = now()
  expect(kindsOf(journal, { pets: [pet(1, 'file-0'), pet(2, 'file-1')] }, moment)).toEqual([])
  expect(kindsOf(journal, { pets: [pet(1, 'file-0')] }, moment)).toEqual(['restoredTooLittle'])
})

test('names the tables that differ in rows or in content', () => {
  const content = (rows: number, checksum: string) => ({ rows, checksum })
  const one = { pets: content(1, 'a'), orders: content(2, 'b'), outbox: content(3, 'c') }
  const other = { pets: content(1, 'a'), orders: content(2, 'x') }
  expect(differingTables(one, one)).toEqual([])
  expect(differingTables(one, other)).toEqual(['orders', 'outbox'])
})
