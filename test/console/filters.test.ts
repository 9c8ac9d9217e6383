// The filters in the URL of the list of pets, and events that are applied to a filtered list.
import type { Page, Pet, StoreEvent } from '@petstore/client'
import { expect, test } from 'vitest'
import { applyToPages } from '../../console/src/live/list-pages.ts'
import { neighboursOf } from '../../console/src/pet/neighbours.ts'
import { chipNumberIn, readFilters, sortOf } from '../../console/src/pets/filters.ts'
import { readOn } from '../../console/src/pets/read-on.ts'

test('reads ids and searches that the router has read as numbers', () => {
  expect(readFilters({ category: 3, q: 42 })).toMatchObject({ category: '3', q: '42' })
  expect(readFilters({ category: '9223372036854775807' })).toMatchObject({ category: '9223372036854775807' })
})

test('takes 15 digits for a chip number, also in groups, and other numbers for the number of a pet', () => {
  expect(chipNumberIn('276 098 106 123 456')).toBe('276098106123456')
  expect(['12345', '9223372036854775807', '2760981061234x6', undefined].map(chipNumberIn)).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
  ])
})

test('ignores values that the page does not know', () => {
  const none = { status: undefined, category: undefined, q: undefined, sort: undefined, add: undefined }
  expect(readFilters({ status: 'lost', category: 'dogs', q: '', sort: 'price', add: 'no' })).toEqual(none)
  expect(readFilters({ category: { id: 1 }, q: ['a'] })).toEqual(none)
})

const pet = (id: string): Pet => ({ id, name: 'Rex', categoryId: '1', status: 'available' })
const updated = (changed: Pet): StoreEvent => ({
  position: '',
  occurredAt: '',
  type: 'pet.updated',
  petId: changed.id,
  pet: changed,
  changed: ['name'],
})

test('a list by id contains no other pet after an event', () => {
  const pages = [{ items: [pet('7')], nextCursor: undefined }]
  expect(applyToPages(pages, { id: ['7'] }, updated(pet('8')))).toBe(pages)
  const [page] = applyToPages(pages, { id: ['7'] }, updated({ ...pet('7'), name: 'Max' }))
  expect(page?.items.map(({ name }) => name)).toEqual(['Max'])
})

test('a changed pet keeps the time when it was added, and a new one has the time of its event', () => {
  const [createdAt, occurredAt] = ['2026-11-14T09:30:00.000Z', '2026-11-16T10:00:00.000Z']
  const pages = [{ items: [{ ...pet('7'), createdAt }], nextCursor: undefined }]
  const [changed] = applyToPages(pages, {}, updated({ ...pet('7'), name: 'Max' }))
  expect(changed?.items).toEqual([{ ...pet('7'), name: 'Max', createdAt }])
  const created: StoreEvent = { position: '', occurredAt, type: 'pet.created', petId: '8', pet: pet('8') }
  const [added] = applyToPages(pages, {}, created)
  expect(added?.items[0]).toEqual({ ...pet('8'), createdAt: occurredAt })
})

test('a search reads on after empty pages, and ends with a page that has pets or with the last one', async () => {
  const none = (nextCursor: string | undefined) => ({ items: [], nextCursor })
  const found = { items: [pet('7')], nextCursor: 'd' }
  const pages = new Map<string | undefined, Page<Pet>>([
    [undefined, none('b')],
    ['b', none('c')],
    ['c', found],
    ['d', none(undefined)],
  ])
  const read = async (cursor: string | undefined) => pages.get(cursor) ?? none(undefined)
  expect(await readOn(read, undefined)).toBe(found)
  expect(await readOn(read, 'd')).toEqual(none(undefined))
})

test('a list by word gets no pet by an event, because only the service knows the words', () => {
  const pages = [{ items: [pet('7')], nextCursor: undefined }]
  expect(applyToPages(pages, { word: 'rex' }, updated(pet('8')))).toBe(pages)
  expect(applyToPages(pages, {}, updated(pet('8')))[0]?.items).toHaveLength(2)
})

test('a search and a category are sorted newest first, and other lists as chosen', () => {
  expect(sortOf({ q: 'bi', sort: 'name' })).toBeUndefined()
  expect(sortOf({ category: '1', sort: 'name' })).toBeUndefined()
  expect(sortOf({ status: 'sold', sort: 'name' })).toBe('name')
  expect(sortOf({ status: 'sold' })).toBeUndefined()
})

test('an event adds no pet to a list that is sorted by name, because its place is not known', () => {
  const pages = [{ items: [pet('7')], nextCursor: undefined }]
  expect(applyToPages(pages, { sort: 'name' }, updated(pet('8')))).toBe(pages)
  expect(applyToPages(pages, {}, updated(pet('8')))[0]?.items.map(({ id }) => id)).toEqual(['8', '7'])
})

test.each([
  { petId: '8', lastIndex: undefined, previous: '9', next: '7' },
  { petId: '9', lastIndex: 2, previous: undefined, next: '8' },
  { petId: '7', lastIndex: undefined, previous: '8', next: undefined },
  // The pet has left the list.
  { petId: '5', lastIndex: 1, previous: '9', next: '8' },
  { petId: '5', lastIndex: 3, previous: '7', next: undefined },
  { petId: '5', lastIndex: undefined, previous: undefined, next: undefined },
])('the neighbours of pet $petId, last at $lastIndex, are $previous and $next', (row) => {
  const { petId, lastIndex, previous, next } = row
  expect(neighboursOf(['9', '8', '7'], petId, lastIndex)).toEqual({ previous, next })
})
