// Hostile and valid inputs for every operation of openapi.json, made from that document, sent to the running service.
import { afterAll, assert, describe, expect, test } from 'vitest'
import { auditStore } from '../../support/store-audit.ts'
import { recordFigures } from '../figures.ts'
import { SCALE } from '../seed.ts'
import { type Acknowledged, expectAcceptance, expectWholeList, type Things } from './accepting.ts'
import { type Operation, OPERATIONS } from './document.ts'
import { type NegativeInput, negativeInputs } from './negative.ts'
import { negativeEdges } from './negative-edges.ts'
import { type PositiveInput, positiveEdges, positiveInputs } from './positive.ts'
import {
  dynamicObjects,
  expectPageOrRefusal,
  foreignCursors,
  minimalRequest,
  type MethodInput,
  otherMethods,
  someCursors,
  type Tampered,
  tamperedCursors,
  tooLarge,
  usesAfterFree,
} from './rules.ts'
import { counts, expectAll, expectRandom, expectRejection, type Group, isBusyCode, record } from './runner.ts'
import { openServiceFixture, type ServiceFixture, snapshot } from './fixture.ts'

const NEGATIVE_INPUTS = 100_000 * SCALE
const POSITIVE_INPUTS = 20_000 * SCALE
const TAMPERED_CURSORS = Math.ceil(2_000 * SCALE)
const USES_AFTER_FREE = Math.ceil(20 * SCALE)

const fixture = await openServiceFixture()
const done: Acknowledged = new Map()
const each = OPERATIONS.map((operation) => [operation.id, operation] as const)

afterAll(() => {
  counts.operations = OPERATIONS.length
  recordFigures('inputs', counts)
})

function rejecting(what: string): Group<NegativeInput> {
  return { what, kindOf: ({ kind }) => kind, work: expectRejection }
}

/** A request that was refused has left everything as it was. */
async function leavingNothing(work: () => Promise<void>): Promise<void> {
  const before = await snapshot(fixture.databaseUrl)
  try {
    await work()
  } finally {
    const after = await snapshot(fixture.databaseUrl)
    counts['tables changed by refused requests'] += Object.keys(before).filter(
      (table) => before[table] !== after[table],
    ).length
    expect(after, 'a refused request changed the database').toEqual(before)
  }
}

/** An operation with more ways to be asked gets more of the inputs. */
function shareOf({ body, query, pathParameter }: Operation): number {
  return 1 + (pathParameter === undefined ? 0 : 2) + (body ? 6 : 0) + Object.keys(query).length
}
const sharesOfAll = OPERATIONS.reduce((sum, operation) => sum + shareOf(operation), 0)

describe('what is invalid is refused with the exact code and leaves nothing behind', () => {
  test.each(each)('%s', async (id, operation) => {
    await leavingNothing(async () => {
      const edges = negativeEdges(operation, fixture)
      counts['of these at an edge'] += edges.length
      await expectAll(rejecting(id), fixture.connections, edges)
      const volume = Math.ceil((NEGATIVE_INPUTS * shareOf(operation)) / sharesOfAll)
      await expectRandom(rejecting(id), fixture.connections, negativeInputs(operation, fixture), volume)
    })
  })

  test('a method that an address does not answer is 405 with exactly the others in Allow', async () => {
    const group: Group<MethodInput> = {
      what: 'other methods',
      kindOf: ({ kind }) => kind,
      work: async (input, via) => {
        await expectRejection(input, via)
        assert.equal(via.last?.response?.headers.get('allow'), input.allow)
      },
    }
    await leavingNothing(() => expectAll(group, fixture.connections, otherMethods(fixture)))
  })

  test('an id with more behind it names nothing, or what its address says', () =>
    leavingNothing(() =>
      expectAll(rejecting('invalid dynamic object'), fixture.connections, dynamicObjects(fixture)),
    ))

  test('a body of one byte more than 1 MiB is 413', () =>
    leavingNothing(() => expectAll(rejecting('large bodies'), fixture.connections, tooLarge(fixture))))
})

describe('what is valid is accepted, and read back as it was sent', () => {
  test.each(each)('%s', async (id, operation) => {
    const group: Group<PositiveInput> = {
      what: id,
      kindOf: ({ kind }) => kind,
      work: (input, via) => expectAcceptance(input, via, fixture, done),
    }
    const edges = positiveEdges(operation)
    counts['of these at an edge'] += edges.length
    await expectAll(group, fixture.connections, edges)
    const volume = Math.ceil(POSITIVE_INPUTS / OPERATIONS.length)
    await expectRandom(group, fixture.connections, positiveInputs(operation), volume)
  })

  test('every list has all that was acknowledged and nothing that is gone, and the store agrees with itself', async () => {
    assert.isAbove(done.size, 0)
    const group: Group<[Operation, Things]> = {
      what: 'whole lists',
      kindOf: ([list]) => list.id,
      work: ([list, things], via) => expectWholeList(list, things, via, fixture),
    }
    await expectAll(group, fixture.connections, [...done])
    expect(await auditStore(fixture.databaseUrl)).toEqual([])
  })
})

describe('what belongs together', () => {
  test('what was removed is gone for every operation that names it', async () => {
    const via = record(fixture.connections[0] as ServiceFixture['connections'][number])
    for (const remover of OPERATIONS.filter(({ method }) => method === 'DELETE')) {
      for (let round = 0; round < USES_AFTER_FREE; round += 1) {
        const uses = await usesAfterFree(remover, fixture, via)
        await expectAll(rejecting('use after free'), fixture.connections, uses)
      }
    }
  })

  test('a cursor fits only the list and the filters that it was made with', async () => {
    const via = record(fixture.connections[0] as ServiceFixture['connections'][number])
    await expectAll(rejecting('foreign cursors'), fixture.connections, await foreignCursors(fixture, via))
  })

  test('a cursor that was tampered with leads to a page or is refused', async () => {
    const cursors = await someCursors(
      fixture,
      record(fixture.connections[0] as ServiceFixture['connections'][number]),
    )
    const group: Group<Tampered> = {
      what: 'tampered cursors',
      kindOf: ({ operation }) => operation.id,
      work: (input, via) => expectPageOrRefusal(input, via, fixture),
    }
    await expectRandom(group, fixture.connections, tamperedCursors(cursors), TAMPERED_CURSORS)
  })

  test('an Idempotency-Key is that of its API key alone, and of its first values', async () => {
    const via = record(fixture.connections[0] as ServiceFixture['connections'][number])
    for (const operation of OPERATIONS.filter(({ headers }) => 'idempotency-key' in headers)) {
      const own = minimalRequest(operation, fixture)
      own.headers.push(['Idempotency-Key', `shared ${operation.id}`])
      const first = await via.send(own)
      const others = await via.send({ ...own, authorization: [`Bearer ${fixture.otherKey}`] })
      // Somebody else's request is a request of its own: made anew, or refused for what it asks.
      assert.notEqual(others.text, first.text)
      assert.isNull(others.headers.get('idempotency-replayed'))
    }
  })

  test('the service has logged no failure, and as much was tried as promised', () => {
    const lines = fixture
      .log()
      .split('\n')
      .filter((line) => line !== '')
    const failures = lines.filter((line) => !isBusyCode((JSON.parse(line) as { code?: unknown }).code))
    expect(failures).toEqual([])
    expect(counts['negative inputs']).toBeGreaterThanOrEqual(NEGATIVE_INPUTS)
    expect(counts['positive inputs']).toBeGreaterThanOrEqual(POSITIVE_INPUTS)
  })
})
