// What the console does with many pets at once: select, change, delete and sell them, and undo that.
import type { Order, Pet, PetStatus } from '@petstore/client'
import { expect, test } from 'vitest'
import { changeMany, deleteMany } from '../../console/src/selected-pets/change-many.ts'
import { extended, NO_PETS, toggled, withPets } from '../../console/src/selected-pets/selection.ts'
import { dueOf, saleLine, sellMany, totalOf } from '../../console/src/selected-pets/sell-many.ts'
import { openClientFixture } from '../support/client-fixture.ts'

const { store } = await openClientFixture()
const EURO = { code: 'EUR', decimals: 2 }
const FACTS = { orders: {}, profiles: {}, typed: {}, currency: EURO, deleted: new Set<string>() }

const add = (name: string, status: PetStatus = 'available') =>
  store.pets.create({ name, categoryId: 1, status })
/** Adds a pet for each name. A test with fewer names does not use the others. */
async function addMany(...names: string[]): Promise<[Pet, Pet, Pet]> {
  return (await Promise.all(names.map((name) => add(name)))) as Pet[] as [Pet, Pet, Pet]
}
const namesOf = (pets: Pet[]) => pets.map(({ name }) => name)

/** The pets as they are now, in the same order. Those that do not exist any more are missing. */
async function now(pets: Pet[]): Promise<Pet[]> {
  const { items } = await store.pets.list({ id: pets.map(({ id }) => id) }).page()
  return pets.flatMap(({ id }) => items.find((pet) => pet.id === id) ?? [])
}

test('a range starts at the pet that was selected last', () => {
  const pets = ['1', '2', '3', '4', '5', '6'].map(
    (id): Pet => ({ id, name: id, categoryId: '1', status: 'available' }),
  )
  const at = (index: number) => pets[index] as Pet
  const ids = (selection: ReadonlyMap<string, Pet>) => [...selection.keys()].sort().join('')
  const three = toggled(NO_PETS, at(2))
  expect(ids(extended(three, pets, 4))).toBe('345')
  expect(ids(extended(three, pets, 0))).toBe('123')
  expect(ids(extended(extended(three, pets, 4), pets, 5))).toBe('3456')
  expect(ids(extended(extended(three, pets, 1), pets, 0))).toBe('123')
  // The last pet is not in this list.
  expect(ids(extended(three, pets.slice(3), 1))).toBe('35')
  expect(ids(toggled(extended(three, pets, 4), at(3)))).toBe('35')
  expect(ids(withPets(three, pets))).toBe('123456')
})

test('changes the status of each pet that allows it, says why for the others, and undoes only that', async () => {
  const [free, held, gone] = await addMany('Free', 'Held', 'Gone')
  const sold = await add('Sold', 'sold')
  await store.orders.place({ petId: held.id })
  await store.pets.delete(gone.id)
  const { done, failed, undo } = await changeMany(store, [free, held, gone, sold], { status: 'sold' })
  expect(namesOf(done)).toEqual(['Free', 'Sold'])
  expect(failed.map(({ pet, reason }) => `${pet.name}: ${reason}`)).toEqual([
    'Held: This pet is held for a customer, so its status cannot be changed. If the hold is yours to end, choose Sell or Release.',
    'Gone: This pet does not exist, or was deleted.',
  ])
  expect(await undo()).toBe('Undone: 2 pets are as before.')
  expect((await now([free, held, sold])).map(({ status }) => status)).toEqual([
    'available',
    'pending',
    'sold',
  ])
})

test('does not undo the change of a pet that another person has changed since', async () => {
  const pets = await addMany('Ada', 'Bo')
  const { undo } = await changeMany(store, pets, { categoryId: '2' })
  await store.pets.update(pets[1].id, { categoryId: 3 })
  await expect(undo()).rejects.toMatchObject({
    title: 'Only partly undone',
    message: expect.stringMatching(/^1 pet is as before\. Not undone: Bo \(.+\)\.$/),
  })
  expect((await now(pets)).map(({ categoryId }) => categoryId)).toEqual(['1', '3'])
})

test('changes more pets than one request allows', async () => {
  const results = await store.pets.changeMany(
    Array.from({ length: 100 }, (_, index) => ({ create: { name: `Many ${index}`, categoryId: 1 } })),
  )
  const pets = [...results.flatMap(({ pet }) => pet ?? []), await add('Many 100')]
  const { done, failed } = await changeMany(store, pets, { status: 'pending' })
  expect([done.length, failed]).toEqual([101, []])
})

test('deletes pets that were never held, and the undo adds them again with their price and facts', async () => {
  const [held, free] = await addMany('Held', 'Free')
  const { id } = await store.orders.place({ petId: held.id })
  await store.orders.cancel(id)
  await store.pets.setProfile(free.id, { price: '80.00', breed: 'Whippet' })
  const { done, failed, undo } = await deleteMany(store, [held, free])
  expect(namesOf(done)).toEqual(['Free'])
  expect(failed.map(({ pet }) => pet.name)).toEqual(['Held'])
  expect(namesOf(await now([held, free]))).toEqual(['Held'])
  expect(await undo()).toBe('Undone: 1 pet is in the list again, with a new number.')
  const [again] = (await store.pets.list({ limit: 1 }).page()).items as [Pet]
  expect(again).toMatchObject({ name: 'Free', categoryId: '1', status: 'available' })
  expect(await store.pets.profile(again.id)).toMatchObject({ price: '80.00', breed: 'Whippet' })
})

test('the prices of a sale are those of the orders and pets, unless a person types others', () => {
  const pet = (id: string, status: PetStatus): Pet => ({ id, name: id, categoryId: '1', status })
  const facts = {
    ...FACTS,
    orders: { 2: { price: '220.50', currency: 'EUR' } as Order },
    profiles: {
      1: { petId: '1', price: '250.00', currency: 'EUR' },
      2: { petId: '2', price: '250.00', currency: 'EUR' },
      3: { petId: '3', price: '10.00', currency: 'USD' },
    },
    typed: { 4: '1.2.5', 5: '99,5' },
    deleted: new Set(['8']),
  }
  const statuses: PetStatus[] = [
    'available',
    'pending',
    'available',
    'available',
    'available',
    'pending',
    'sold',
    'available',
  ]
  const lines = statuses.map((status, index) => saleLine(pet(String(index + 1), status), facts))
  expect(lines.map(({ amount }) => amount)).toEqual([
    '250.00',
    '220.50',
    '10.00',
    undefined,
    '99.50',
    undefined,
    undefined,
    undefined,
  ])
  expect(lines.map(({ fault }) => fault !== undefined)).toEqual([
    false,
    false,
    false,
    true,
    false,
    false,
    false,
    false,
  ])
  expect(lines.map(({ obstacle }) => obstacle)).toEqual([
    ...Array<undefined>(5).fill(undefined),
    'It is on hold without an order. Sell it in the list.',
    'It is sold already.',
    'It was deleted.',
  ])
  expect(totalOf(lines)).toEqual([
    { currency: 'EUR', amount: '570.00' },
    { currency: 'USD', amount: '10.00' },
  ])
  expect(totalOf([])).toEqual([])
})

test('sells each pet with an order at its price, says who has the others, and undoes all sales', async () => {
  const [free, held, taken] = await addMany('Free', 'Held', 'Taken')
  const order = await store.orders.place({ petId: held.id, note: 'Ms Okafor' })
  const line = (pet: Pet, typed: string) => saleLine(pet, { ...FACTS, typed: { [pet.id]: typed } })
  const lines = [
    line(free, '120'),
    saleLine(
      { ...held, status: 'pending' },
      { ...FACTS, orders: { [held.id]: order }, typed: { [held.id]: '80' } },
    ),
    line(taken, '50'),
  ]
  await store.orders.place({ petId: taken.id, note: 'Mr Abe' })
  const { done, failed, total, undo } = await sellMany(
    store,
    lines,
    { note: 'Ms Li', method: 'card' },
    () => {},
  )
  expect(namesOf(done)).toEqual(['Free', 'Held'])
  expect(total).toEqual([{ currency: 'EUR', amount: '200.00' }])
  expect(failed).toEqual([{ pet: taken, reason: expect.stringContaining('Mr Abe') }])
  const sales = await Promise.all(
    [free, held].map(async ({ id }) => (await store.orders.list({ petId: id }).page()).items[0]),
  )
  expect(sales).toMatchObject([
    { status: 'completed', price: '120.00', note: 'Ms Li' },
    { status: 'completed', price: '80.00', note: 'Ms Okafor' },
  ])
  expect(await undo()).toBe('Undone: 2 pets are as before.')
  expect((await now([free, held, taken])).map(({ status }) => status)).toEqual([
    'available',
    'pending',
    'pending',
  ])
  const ids = [free, held].map(({ id }) => id)
  const entries = await Promise.all(
    ids.map(async (petId) => (await store.till.entries({ petId }).page()).items),
  )
  expect(entries.map((ofPet) => ofPet.map(({ kind, paid, method }) => [kind, paid, method]))).toEqual([
    [
      ['void', '-120.00', 'card'],
      ['sale', '120.00', 'card'],
    ],
    [
      ['void', '-80.00', 'card'],
      ['sale', '80.00', 'card'],
    ],
  ])
})

test('the total due of many pets is without their deposits', () => {
  const pet: Pet = { id: '1', name: 'Held', categoryId: '1', status: 'pending' }
  const order = { id: '7', petId: '1', price: '80.00', currency: 'EUR', deposit: '20.00' } as Order
  const lines = [saleLine(pet, { ...FACTS, orders: { 1: order } })]
  expect([totalOf(lines), dueOf(lines)]).toEqual([
    [{ currency: 'EUR', amount: '80.00' }],
    [{ currency: 'EUR', amount: '60.00' }],
  ])
})

test('a pet with a sale is not made available without a decision about the money', async () => {
  const pet = await add('Sold')
  await sellMany(
    store,
    [saleLine(pet, { ...FACTS, typed: { [pet.id]: '50' } })],
    { note: '', method: 'cash' },
    () => {},
  )
  const set = await add('Set', 'sold')
  const sold: Pet[] = await now([pet, set])
  const { done, failed } = await changeMany(store, sold, { status: 'available' })
  expect(namesOf(done)).toEqual(['Set'])
  expect(failed).toEqual([{ pet: sold[0], reason: 'It was sold. Open it and choose Take back.' }])
})

test('stops at the first pet if there is no connection', async () => {
  let requests = 0
  const offline = async () => {
    requests += 1
    throw new TypeError('offline')
  }
  const { open } = await openClientFixture()
  const alone = open({ fetch: offline, deadlineMs: 0 })
  const pets = await addMany('Ada', 'Bo')
  const lines = pets.map((pet) => saleLine(pet, FACTS))
  const sold = await sellMany(alone, lines, { note: '', method: undefined }, () => {})
  expect([sold.done, namesOf(sold.failed.map(({ pet }) => pet))]).toEqual([[], ['Ada', 'Bo']])
  expect(requests).toBe(1)
  const changed = await changeMany(alone, pets, { status: 'sold' })
  expect(namesOf(changed.failed.map(({ pet }) => pet))).toEqual(['Ada', 'Bo'])
})
