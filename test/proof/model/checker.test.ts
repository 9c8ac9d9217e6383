// Tests the linearizability checker with known histories: it must accept exactly those that a correct service can cause.
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { findContradiction, type Operation, type Specification } from '../../support/linearizability.ts'
import { replayWith, SEED } from '../seed.ts'
import { type PetCall, type PetOperation, specificationOf } from './pet.ts'

const PET = { id: 1, name: 'Rex', categoryId: 7 }
const isLinearizable = (history: PetOperation[]) =>
  findContradiction(history, specificationOf(PET, 'buyer')) === undefined

/** An operation: its call and return time, request and response. */
function op(
  [calledAt, returnedAt]: [number, number],
  input: PetCall,
  status: number,
  body?: unknown,
  etag = 0,
): PetOperation {
  return { input, output: { status, body, etag }, calledAt, returnedAt }
}

const pet = (name: string, status = 'available') => ({ ...PET, name, status })
const rename = (when: [number, number], name: string, version: number) =>
  op(when, { call: 'update', change: { name }, ifMatch: undefined }, 200, pet(name), version)
const get = (when: [number, number], name: string, version: number, status = 'available') =>
  op(when, { call: 'get' }, 200, pet(name, status), version)
const rejected = (when: [number, number], input: PetCall, status: number, code: string) =>
  op(when, input, status, { code })
const T0 = '2026-11-15T11:30:00.000Z'
const order = (id: number, more: object = {}) => ({
  id,
  petId: 1,
  status: 'open',
  placedBy: 'buyer',
  createdAt: T0,
  expiresAt: '2026-11-15T12:30:00.000Z',
  ...more,
})
const place = (when: [number, number], id: number) => op(when, { call: 'place' }, 201, order(id))
const cancel = (when: [number, number], id: number) =>
  op(when, { call: 'cancel', orderId: id }, 200, order(id, { status: 'cancelled', closedAt: T0 }))

describe('accepts a history in which', () => {
  test.each<{ what: string; history: PetOperation[] }>([
    { what: 'nothing happens', history: [] },
    { what: 'a read after a write sees it', history: [rename([0, 1], 'Bo', 2), get([2, 3], 'Bo', 2)] },
    { what: 'a read during a write sees it', history: [rename([0, 9], 'Bo', 2), get([1, 2], 'Bo', 2)] },
    {
      what: 'a read during a write does not see it',
      history: [rename([0, 9], 'Bo', 2), get([1, 2], 'Rex', 1)],
    },
    {
      what: 'of two concurrent writes, the one called later comes first',
      history: [rename([0, 9], 'Bo', 3), rename([1, 8], 'Al', 2), get([10, 11], 'Bo', 3)],
    },
    {
      what: 'a buyer is rejected while an order is open, and another succeeds after it',
      history: [
        place([0, 1], 5),
        rejected([2, 9], { call: 'place' }, 409, 'pet_not_available'),
        cancel([3, 4], 5),
        place([5, 8], 6),
      ],
    },
    {
      what: 'of two updates with the same If-Match, one is rejected',
      history: [
        op([0, 5], { call: 'update', change: { name: 'Bo' }, ifMatch: '"1"' }, 200, pet('Bo'), 2),
        rejected(
          [1, 4],
          { call: 'update', change: { name: 'Al' }, ifMatch: '"1"' },
          412,
          'precondition_failed',
        ),
      ],
    },
    {
      what: 'a pet is deleted and not found afterwards',
      history: [
        op([0, 5], { call: 'delete', ifMatch: undefined }, 204),
        get([1, 2], 'Rex', 1),
        op([6, 7], { call: 'list' }, 200, []),
        rejected([6, 7], { call: 'place' }, 404, 'pet_not_found'),
      ],
    },
  ])('$what', ({ history }) => expect(isLinearizable(history)).toBe(true))
})

describe('rejects a history in which', () => {
  test.each<{ what: string; history: PetOperation[] }>([
    { what: 'a read after a write misses it', history: [rename([0, 1], 'Bo', 2), get([2, 3], 'Rex', 1)] },
    {
      what: 'a read sees a write that a later read does not',
      history: [rename([0, 9], 'Bo', 2), get([1, 2], 'Bo', 2), get([3, 4], 'Rex', 1)],
    },
    { what: 'a read before a write sees it', history: [get([0, 1], 'Bo', 2), rename([2, 3], 'Bo', 2)] },
    {
      what: 'two updates with the same If-Match both succeed',
      history: [
        op([0, 5], { call: 'update', change: { name: 'Bo' }, ifMatch: '"1"' }, 200, pet('Bo'), 2),
        op([1, 4], { call: 'update', change: { name: 'Al' }, ifMatch: '"1"' }, 200, pet('Al'), 3),
      ],
    },
    { what: 'two concurrent buyers both get the pet', history: [place([0, 9], 5), place([0, 9], 6)] },
    {
      what: 'a buyer is rejected although no order is open',
      history: [rejected([0, 1], { call: 'place' }, 409, 'pet_not_available'), place([2, 3], 5)],
    },
    {
      what: 'an order is cancelled and completed',
      history: [
        place([0, 1], 5),
        cancel([2, 9], 5),
        op([2, 9], { call: 'complete', orderId: 5 }, 200, order(5, { status: 'completed', closedAt: T0 })),
      ],
    },
    {
      what: 'an order that is completed again gets another price',
      history: [
        place([0, 1], 5),
        op(
          [2, 3],
          { call: 'complete', orderId: 5, price: '9.00' },
          200,
          order(5, { status: 'completed', closedAt: T0, price: '9.00', currency: 'EUR' }),
        ),
        op(
          [4, 5],
          { call: 'complete', orderId: 5, price: '8.00' },
          200,
          order(5, { status: 'completed', closedAt: T0, price: '8.00', currency: 'EUR' }),
        ),
      ],
    },
    {
      what: 'two writes get the same version',
      history: [rename([0, 9], 'Bo', 2), rename([0, 9], 'Al', 2)],
    },
    {
      what: 'a pet is read after its deletion',
      history: [op([0, 1], { call: 'delete', ifMatch: undefined }, 204), get([2, 3], 'Rex', 1)],
    },
    {
      what: 'a pet with an order is deleted',
      history: [place([0, 1], 5), op([2, 3], { call: 'delete', ifMatch: undefined }, 204)],
    },
    {
      what: 'a response is not documented',
      history: [rejected([0, 1], { call: 'get' }, 500, 'internal_error')],
    },
  ])('$what', ({ history }) => expect(isLinearizable(history)).toBe(false))
})

const STEPS_MAX = 100_000

type Register = Specification<number, { write?: number }, number>
const register: Register = {
  initial: 0,
  step: (state, { write }, read) => (write === undefined ? (read === state ? state : undefined) : write),
  changesNothing: ({ write }) => write === undefined,
  keyOf: String,
}
type RegisterOperation = Operation<{ write?: number }, number>

/** Tries every order that the times allow. This is slow, but simple enough to be correct. */
function isLinearizableByBruteForce(left: readonly RegisterOperation[], state = register.initial): boolean {
  if (left.length === 0) return true
  const firstReturn = Math.min(...left.map(({ returnedAt }) => returnedAt))
  return left.some((each) => {
    if (each.calledAt > firstReturn) return false
    const after = register.step(state, each.input, each.output)
    return (
      after !== undefined &&
      isLinearizableByBruteForce(
        left.filter((other) => other !== each),
        after,
      )
    )
  })
}

test('agrees with a brute-force search on 3,000 random histories of a register', () => {
  const operation: fc.Arbitrary<RegisterOperation> = fc
    .record({ at: fc.nat(8), takes: fc.integer({ min: 1, max: 5 }), write: fc.boolean(), value: fc.nat(2) })
    .map(({ at, takes, write, value }) => ({
      input: write ? { write: value } : {},
      output: value,
      calledAt: at,
      returnedAt: at + takes,
    }))
  const seen = { true: 0, false: 0 }
  const result = fc.check(
    fc.property(fc.array(operation, { maxLength: 7, size: 'max' }), (history) => {
      const expected = isLinearizableByBruteForce(history)
      seen[`${expected}`] += 1
      expect(findContradiction(history, register) === undefined).toBe(expected)
    }),
    { seed: SEED, numRuns: 3_000 },
  )
  expect(
    result.failed,
    `${JSON.stringify(result.counterexample)} ${replayWith('test/proof/model/checker.test.ts')}`,
  ).toBe(false)
  expect(Math.min(seen.true, seen.false)).toBeGreaterThan(300)
})

test('checks a long history of 16 clients in few steps, whether it is correct or not', () => {
  const versionAt = (index: number) => 1 + Math.ceil(index / 3)
  const history = Array.from({ length: 1_500 }, (_, index) => {
    const when: [number, number] = [index - 8, index + 8]
    const version = versionAt(index + 1)
    return index % 3 === 0 ? rename(when, `Pet ${version}`, version) : get(when, `Pet ${version}`, version)
  })
  const stale = get([1_000, 1_001], 'Pet 2', 2)
  // Counts steps instead of time, which would depend on the host. Without the cache, there would be millions.
  const specification = specificationOf(PET, 'buyer')
  let steps = 0
  const counted: typeof specification = {
    ...specification,
    step: (...args) => {
      steps += 1
      return specification.step(...args)
    },
  }
  expect(findContradiction(history, counted)).toBeUndefined()
  const stuck = findContradiction([...history, stale], counted)
  expect(stuck?.longest.length).toBeGreaterThan(900)
  expect(stuck?.candidates).toContain(stale)
  expect(steps).toBeLessThan(STEPS_MAX)
})
