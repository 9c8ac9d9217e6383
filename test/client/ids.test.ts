// 64-bit ids keep every digit in requests and responses.
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { readJson, writeJson, writeQuery } from '../../client/src/ids.ts'
import { behindFaultInjector, collect, errorOf, openClientFixture } from '../support/client-fixture.ts'

const client = await openClientFixture()
const { store, api } = client
const LARGEST = '9223372036854775807'

test('the largest id keeps every digit, as a string and as a bigint', async () => {
  for (const categoryId of [LARGEST, BigInt(LARGEST)]) {
    const pet = await store.pets.create({ name: 'Far', categoryId })
    expect(pet.categoryId).toBe(LARGEST)
    const [row] = await api.sql('select category_id::text from pets where id = $1', [pet.id])
    expect(row).toEqual({ category_id: LARGEST })
  }
  expect(await collect(store.pets.list({ categoryId: LARGEST }))).toHaveLength(2)
  expect(await store.categories.put(BigInt(LARGEST), { name: 'Last' })).toMatchObject({ id: LARGEST })
})

test('finds, updates and orders a pet whose id is greater than 2^53', async () => {
  const id = '9007199254740993'
  await api.sql(`insert into pets (id, name, category_id) overriding system value values ($1, 'Far', 1)`, [
    id,
  ])
  expect(await store.pets.find(id)).toMatchObject({ id })
  expect(await store.pets.update(id, { name: 'Farther' })).toMatchObject({ id, name: 'Farther' })
  const order = await store.orders.place({ petId: id })
  expect(order.petId).toBe(id)
  expect((await collect(store.orders.list({ petId: id }))).map((one) => one.id)).toEqual([order.id])
  const moved = await store.pets.update(id, { categoryId: LARGEST })
  expect(moved.categoryId).toBe(LARGEST)
  const [last] = (await store.pets.history(id).page()).items
  expect(last).toMatchObject({ from: { categoryId: '1' }, to: { categoryId: LARGEST } })
})

test('rejects a number that JavaScript has rounded, and an invalid id, before it sends anything', async () => {
  const { store: behind, injector } = await behindFaultInjector(client)
  const rounded = Number('9007199254740993')
  const calls = [
    rounded,
    1.5,
    -1,
    Number.NaN,
    1e21,
    '',
    '1.0',
    '01',
    'abc',
    '../store/inventory',
    '1?x',
    -5n,
  ].map((id) => [
    () => behind.pets.delete(id),
    () => behind.pets.find(id),
    () => behind.pets.create({ name: 'x', categoryId: id }),
    () => behind.pets.history(id).page(),
    () => behind.orders.place({ petId: id }),
  ])
  for (const call of calls.flat()) {
    expect(await errorOf(call())).toMatchObject({
      code: 'invalid_id',
      status: undefined,
      outcomeUnknown: false,
    })
  }
  expect((await errorOf(behind.pets.find(rounded))).message).toContain('a string or a bigint')
  expect(injector.seen).toEqual([])
})

test('does not change text in a name that looks like an id', async () => {
  for (const name of ['"id":1', '{"petId":"12"}', '\\"id\\":5,', 'id', '"categoryId":"7"', '\\', '"']) {
    const pet = await store.pets.create({ name, categoryId: 3 })
    expect(pet.name).toBe(name)
    expect((await store.pets.find(pet.id))?.name).toBe(name)
  }
})

test('reads any JSON as JSON.parse does, except that ids are strings of their digits', () => {
  const id = fc.bigInt({ min: 0n, max: BigInt(LARGEST) })
  // `fc.string({ unit: 'binary' })` makes the same texts, but takes five seconds to prepare.
  const text = fc
    .array(fc.integer({ min: 0, max: 0x10_ffff }), { maxLength: 10 })
    .map((codes) => String.fromCodePoint(...codes).toWellFormed())
  const part = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 3 },
      text,
      fc.double({ noNaN: true, noDefaultInfinity: true }).filter((number) => !Object.is(number, -0)),
      fc.boolean(),
      fc.constant(null),
      fc.array(tie('value'), { maxLength: 3 }),
      tie('object'),
    ),
    object: fc.dictionary(
      text.filter((name) => !/(^|")(id|\w+Id)$/.test(name) && name !== '__proto__'),
      tie('value'),
      { maxKeys: 4 },
    ),
  })).object
  fc.assert(
    fc.property(part, id, id, fc.integer({ min: 0, max: 3 }), (other, one, two, indent) => {
      const json = JSON.stringify({ id: 'ONE', other, categoryId: 'TWO' }, null, indent)
        .replace('"ONE"', String(one))
        .replace(/"TWO"(?=\s*\}$)/, String(two))
      expect(readJson(json)).toEqual({ id: String(one), other, categoryId: String(two) })
      const written = writeJson({ id: one, other, categoryId: String(two) })
      expect(written).toBe(`{"id":${one},"other":${JSON.stringify(other)},"categoryId":${two}}`)
    }),
    { numRuns: 500 },
  )
})

test('the ids of requests and messages are strings, even if they have only digits', () => {
  for (const name of ['requestId', 'messageId']) {
    for (const value of ['7', 'd003f207-941c-4409-9c37-e609032c665a']) {
      expect(writeJson({ petId: '7', [name]: value })).toBe(`{"petId":7,"${name}":"${value}"}`)
      expect(readJson(`{"${name}":"${value}"}`)).toEqual({ [name]: value })
    }
  }
})

test('a query omits undefined values and has one parameter for each item of a list', () => {
  expect(writeQuery({ id: [1, 2n, '3'], status: undefined, limit: 5, name: 'a&b' })).toBe(
    '?id=1&id=2&id=3&limit=5&name=a%26b',
  )
  expect(writeQuery({ status: undefined })).toBe('')
})
