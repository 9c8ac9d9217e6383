// Valid and hostile inputs for every operation of openapi.json, generated from that document and sent to a running service.
import { afterAll, assert, describe, expect, test } from 'vitest'
import { auditStore } from '../../support/store-audit.ts'
import { auditFeed } from '../../support/feed-audit.ts'
import { recordFigures } from '../figures.ts'
import { countedLate, workInTime } from '../late.ts'
import { SCALE, SEED } from '../seed.ts'
import { type Acknowledged, expectAcceptance, expectWholeList, type Things } from './accepting.ts'
import { isOnOwnKey, type Operation, OPERATIONS } from './document.ts'
import { type NegativeInput, negativeInputs } from './negative.ts'
import { negativeEdges } from './negative-edges.ts'
import { type PositiveInput, positiveEdges, positiveInputs } from './positive.ts'
import {
  dynamicObjects,
  expectPageOrRejection,
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
import {
  counts,
  expectAll,
  expectRandom,
  expectRejection,
  type Group,
  isBusyCode,
  record,
  showLogOf,
} from './runner.ts'
import { openServiceFixture, type ServiceFixture, snapshot } from './fixture.ts'

const NEGATIVE_INPUTS = 12_000 * SCALE
const POSITIVE_INPUTS = 2_500 * SCALE
const TAMPERED_CURSORS = Math.ceil(500 * SCALE)
const USES_AFTER_FREE = Math.ceil(5 * SCALE)

const fixture = await openServiceFixture()
showLogOf(fixture.log)
const done: Acknowledged = new Map()
const each = OPERATIONS.map((operation) => [operation.id, operation] as const)

afterAll(() => {
  counts.operations = OPERATIONS.length
  const figures = { ...counts, ...countedLate() }
  console.log(`inputs, seed ${SEED}`, figures)
  recordFigures('inputs', figures)
})

function rejecting(what: string): Group<NegativeInput> {
  return { what, kindOf: ({ kind }) => kind, work: expectRejection }
}

/** Checks that rejected requests change nothing in the database. */
async function expectUnchanged(work: () => Promise<void>): Promise<void> {
  const before = await snapshot(fixture.databaseUrl)
  try {
    await work()
  } finally {
    const after = await snapshot(fixture.databaseUrl)
    counts['tables changed by rejected requests'] += Object.keys(before).filter(
      (table) => before[table] !== after[table],
    ).length
    expect(after, 'a rejected request changed the database').toEqual(before)
  }
}

/** The share of the random inputs that an operation gets: more for more parameters. */
function shareOf({ body, query, pathParameter }: Operation): number {
  return 1 + (pathParameter === undefined ? 0 : 2) + (body ? 6 : 0) + Object.keys(query).length
}
/** Their own tests test streams and exports, and test/events/delivery.test.ts redeliveries: only a delivery makes their ids. */
const isGenerated = (operation: Operation) =>
  !operation.isStream && !operation.isNested && !needsState(operation)
/** What they change must be there, such as a sale that is not refunded yet: test/proof/model and test/store/till-scenarios.test.ts. */
const needsState = ({ id, codes }: Operation) =>
  ['order_not_sold', 'amount_too_high', 'entry_final', 'day_closed'].some((code) => codes.has(code)) ||
  // A range of days that is not too long.
  id === 'getTotals'
/** A page of up to 1,000 events takes ten times as long as one of 100 items. */
const weightOf = ({ query }: Operation) => ((query['limit']?.maximum ?? 0) > 100 ? 0.1 : 1)
const weightsOfAll = OPERATIONS.filter(isGenerated).reduce((sum, operation) => sum + weightOf(operation), 0)
const sharesOfAll = OPERATIONS.reduce((sum, operation) => sum + shareOf(operation), 0)

describe('rejects invalid input with the exact code, and changes nothing:', () => {
  test.each(each)('%s', async (id, operation) => {
    await expectUnchanged(async () => {
      const edges = negativeEdges(operation, fixture)
      counts['of these, boundary values'] += edges.length
      await expectAll(rejecting(id), fixture.connections, edges)
      const volume = Math.ceil((NEGATIVE_INPUTS * shareOf(operation)) / sharesOfAll)
      await expectRandom(rejecting(id), fixture.connections, negativeInputs(operation, fixture), volume)
    })
  })

  test('unsupported methods return 405, and Allow lists exactly the supported methods', async () => {
    const group: Group<MethodInput> = {
      what: 'other methods',
      kindOf: ({ kind }) => kind,
      work: async (input, via) => {
        await expectRejection(input, via)
        assert.equal(via.last?.response?.headers.get('allow'), input.allow)
      },
    }
    await expectUnchanged(() => expectAll(group, fixture.connections, otherMethods(fixture)))
  })

  test('an id with a suffix returns the error of the resulting path', () =>
    expectUnchanged(() =>
      expectAll(rejecting('invalid dynamic object'), fixture.connections, dynamicObjects(fixture)),
    ))

  test('a body of one byte more than 1 MiB returns 413', () =>
    expectUnchanged(() => expectAll(rejecting('large bodies'), fixture.connections, tooLarge(fixture))))
})

describe('accepts valid input, and returns it as it was sent:', () => {
  test.each(each.filter(([, operation]) => isGenerated(operation)))('%s', async (id, operation) => {
    const group: Group<PositiveInput> = {
      what: id,
      kindOf: ({ kind }) => kind,
      work: (input, via) => expectAcceptance(input, via, fixture, done),
    }
    const edges = positiveEdges(operation)
    counts['of these, boundary values'] += edges.length
    await expectAll(group, fixture.connections, edges)
    const volume = Math.ceil((POSITIVE_INPUTS * weightOf(operation)) / weightsOfAll)
    await expectRandom(group, fixture.connections, positiveInputs(operation), volume)
  })

  test('every list contains all acknowledged items and no deleted one', async () => {
    assert.isAbove(done.size, 0)
    const group: Group<[Operation, Things]> = {
      what: 'whole lists',
      kindOf: ([list]) => list.id,
      work: ([list, things], via) => expectWholeList(list, things, via, fixture),
    }
    await expectAll(group, fixture.connections, [...done])
  })
})

describe('across operations,', () => {
  test('no operation finds a deleted item', async () => {
    const via = record(fixture.connections[0] as ServiceFixture['connections'][number])
    for (const remover of OPERATIONS.filter((one) => one.method === 'DELETE' && !isOnOwnKey(one))) {
      for (let round = 0; round < USES_AFTER_FREE; round += 1) {
        const uses = await usesAfterFree(remover, fixture, via)
        await expectAll(rejecting('use after free'), fixture.connections, uses)
      }
    }
  })

  test('a cursor made with another list or other filters is rejected (400)', async () => {
    const via = record(fixture.connections[0] as ServiceFixture['connections'][number])
    await expectAll(rejecting('foreign cursors'), fixture.connections, await foreignCursors(fixture, via))
  })

  test('a tampered cursor returns a page or is rejected', async () => {
    const cursors = await someCursors(
      fixture,
      record(fixture.connections[0] as ServiceFixture['connections'][number]),
    )
    const group: Group<Tampered> = {
      what: 'tampered cursors',
      kindOf: ({ operation }) => operation.id,
      work: (input, via) => expectPageOrRejection(input, via, fixture),
    }
    await expectRandom(group, fixture.connections, tamperedCursors(cursors), TAMPERED_CURSORS)
  })

  test('the response to an Idempotency-Key is not replayed for another API key', async () => {
    const via = record(fixture.connections[0] as ServiceFixture['connections'][number])
    for (const operation of OPERATIONS.filter(({ headers }) => 'idempotency-key' in headers)) {
      const own = minimalRequest(operation, fixture)
      own.headers.push(['Idempotency-Key', `shared ${operation.id}`])
      const first = await via.send(own)
      const others = await via.send({ ...own, authorization: [`Bearer ${fixture.otherKey}`] })
      // The service executes or rejects the request of another API key without regard to the first one.
      if (first.status < 400) assert.notEqual(others.text, first.text)
      assert.isNull(others.headers.get('idempotency-replayed'))
    }
  })

  test('the service logged no failure, and the intended number of inputs was sent', () => {
    const lines = fixture
      .log()
      .split('\n')
      .filter((line) => line !== '')
    const failures = lines.filter((line) => !isBusyCode((JSON.parse(line) as { code?: unknown }).code))
    expect(failures).toEqual([])
    expect(counts['negative inputs']).toBeGreaterThanOrEqual(NEGATIVE_INPUTS)
    expect(counts['positive inputs']).toBeGreaterThanOrEqual(POSITIVE_INPUTS)
  })

  test('the store is consistent', async () => {
    // While the service runs, a hold could expire during the audit.
    await fixture.stop()
    expect(await auditStore(fixture.databaseUrl)).toEqual([])
    expect(await workInTime(() => auditFeed(fixture.databaseUrl))).toEqual([])
  })
})
