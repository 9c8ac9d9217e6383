// Commands on the till. Its clock stands still, except for a command that sets it.
import * as fc from 'fast-check'
import { callBoth, type Call, requireSame, type Sender, type Session, setTillClock } from '../fixture.ts'
import {
  closeDay,
  correctOrder,
  dayFromToday,
  getTotals,
  type Grouping,
  recordCash,
  refundOrder,
  settleDeposit,
  type TotalsRange,
  voidEntry,
} from '../reference/till.ts'
import { withNames } from '../reference/store.ts'
import * as some from './choices.ts'
import { type Command, command, pick, pickOrder } from './choices.ts'

const payment = { currency: some.currency, method: some.method, reason: some.reason }

function post(
  operation: string,
  path: string,
  body: Record<string, unknown> | undefined,
  key?: string,
): Call {
  return {
    operation,
    scope: ['settleDeposit', 'voidEntry'].includes(operation) ? 'orders:write' : 'till:write',
    method: 'POST',
    path: `/store/${path}`,
    ...(body !== undefined && { body }),
    headers: { 'idempotency-key': key },
  }
}

const correct = command(
  { choice: some.choice, change: fc.record({ price: some.amount, ...payment }) },
  async (session, sender, { choice, change }) => {
    const id = pickOrder(session, choice)
    await callBoth(session, sender, post('correctOrder', `orders/${id}/correct`, change), (caller) =>
      correctOrder(session.store, caller, id, change),
    )
  },
)

const refund = command(
  {
    choice: some.choice,
    refund: fc.record({ amount: some.amount, takeBack: fc.boolean(), ...payment }),
    key: some.requiredKey,
  },
  async (session, sender, { choice, refund: wanted, key }) => {
    const id = pickOrder(session, choice)
    await callBoth(session, sender, post('refundOrder', `orders/${id}/refund`, wanted, key), (caller, seen) =>
      refundOrder(session.store, caller, id, wanted, key, seen),
    )
  },
)

const settle = command(
  { choice: some.choice, settlement: fc.record({ refund: some.amount, ...payment }), key: some.requiredKey },
  async (session, sender, { choice, settlement, key }) => {
    const id = pickOrder(session, choice)
    const call = post('settleDeposit', `orders/${id}/settle-deposit`, settlement, key)
    await callBoth(session, sender, call, (caller, seen) =>
      settleDeposit(session.store, caller, id, settlement, key, seen),
    )
  },
)

const undo = command({ choice: some.choice }, async (session, sender, { choice }) => {
  const ids = session.store.entries.map(({ id }) => id as number)
  const id = pick(ids, choice)
  await callBoth(session, sender, post('voidEntry', `entries/${id}/void`, undefined), (caller, seen) =>
    voidEntry(session.store, caller, id, seen),
  )
})

const cash = command(
  {
    movement: fc.record({
      direction: fc.constantFrom('in' as const, 'out' as const),
      amount: some.amount,
      currency: some.currency,
      note: fc.constantFrom('change', 'stamps'),
    }),
    key: some.requiredKey,
  },
  async (session, sender, { movement, key }) => {
    await callBoth(session, sender, post('recordCash', 'cash', movement, key), (caller, seen) =>
      recordCash(session.store, caller, movement, key, seen),
    )
  },
)

const close = command(
  {
    days: fc.constantFrom(-2, -1, 0, 0, 1),
    counted: fc.constantFrom('0.00', '100.00', '129.00'),
    kept: fc.constantFrom('0.00', '100.00', '100'),
    currency: some.currency,
    note: some.optional(fc.constant('a coin on the floor')),
  },
  async (session, sender, { days, ...counts }) => {
    const closing = { ...counts, day: dayFromToday(session.store, days) }
    await callBoth(session, sender, post('closeDay', 'day-closings', closing), (caller) =>
      closeDay(session.store, caller, closing),
    )
    // A later entry has a later time.
    await setTillClock(session, session.store.till.now + 1)
  },
)

const MINUTE_MS = 60_000

const timePasses = command(
  { minutes: fc.constantFrom(10, 16, 24 * 60) },
  async (session, _sender, { minutes }) => {
    await setTillClock(session, session.store.till.now + minutes * MINUTE_MS)
  },
)

export const GROUPINGS: readonly Grouping[] = ['day', 'seller', 'category', 'method', 'kind']

/** Compares totals. Groups of equal names are in any order. */
export async function compareTotals(session: Session, sender: Sender, range: TotalsRange): Promise<void> {
  const given = Object.entries(range).filter(([, value]) => value !== undefined)
  const query = new URLSearchParams(given as [string, string][])
  const call = { operation: 'getTotals', scope: 'orders:read', method: 'GET', path: `/store/totals?${query}` }
  const { status, body } = await callBoth(session, sender, call, () => {
    const { body: _compared, ...expected } = getTotals(session.store, range)
    return expected
  })
  if (status !== 200) return
  const expected = getTotals(session.store, range).body
  requireSame('totals', sorted(body), sorted(withNames(session.store, expected)))
}

function sorted(body: unknown): unknown {
  const { groups, ...totals } = body as { groups?: object[] }
  const textOf = (group: object) =>
    Object.entries(group)
      .filter(([, value]) => value !== undefined)
      .map(String)
      .toSorted()
      .join()
  return { ...totals, groups: groups?.toSorted((a, b) => (textOf(a) < textOf(b) ? -1 : 1)) }
}

const totals = command(
  {
    from: some.optional(fc.constantFrom(-400, -1, 0, 1)),
    to: some.optional(fc.constantFrom(-1, 0, 1)),
    by: some.optional(fc.constantFrom(...GROUPINGS)),
  },
  async (session, sender, { from, to, by }) => {
    const dayOf = (days: number | undefined) =>
      days === undefined ? undefined : dayFromToday(session.store, days)
    await compareTotals(session, sender, { from: dayOf(from), to: dayOf(to), by })
  },
)

export const tillCommands: fc.WeightedArbitrary<Command>[] = [
  { arbitrary: correct, weight: 4 },
  { arbitrary: refund, weight: 5 },
  { arbitrary: settle, weight: 3 },
  { arbitrary: undo, weight: 5 },
  { arbitrary: cash, weight: 1 },
  { arbitrary: close, weight: 1 },
  { arbitrary: timePasses, weight: 1 },
  { arbitrary: totals, weight: 2 },
]
