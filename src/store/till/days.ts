// Rules of the days of the till: entries and their totals, and closings.
import type { CallingActor } from '../../contract/actor.ts'
import { AppError, type ErrorDetail } from '../../contract/errors.ts'
import { type Page, type PagePosition, type PageRequest, toPage } from '../../contract/paging.ts'
import { readAmounts } from '../../contract/price.ts'
import type { Db, Reader, Tx } from '../../db/database.ts'
import { INT64_MAX } from '../../values/int64.ts'
import { toAmount, toUnits, withDecimals } from '../../values/money.ts'
import {
  type AmountRow,
  type EntryFilters,
  findClosing,
  findClosingsBefore,
  findEntriesBefore,
  type GroupRow,
  insertClosing,
  readExpectedCash,
  readTillState,
  sumCash,
  sumDeposits,
  sumEntries,
  type TillState,
} from './queries.ts'
import { lockTillAlone } from '../ledger/queries.ts'
import type { Entry } from '../ledger/schema.ts'
import { type Closing, type Grouping, type NewClosing, TOTAL_DAYS_MAX, type Totals } from './schema.ts'

const DAY_MS = 86_400_000
const LAST_DAY = 'infinity'

/** Lists entries by day, newest first. */
export async function listEntries(
  db: Reader,
  { to, ...filters }: EntryFilters & { to?: string | undefined },
  { after, limit }: PageRequest,
): Promise<Page<Entry>> {
  const before =
    after === undefined ? { day: to ?? LAST_DAY, id: INT64_MAX } : { day: dayOf(after), id: after.id }
  const found = await findEntriesBefore(db, filters, before, limit + 1)
  return toPage(found, limit, ({ id, day }) => ({ id, sortKey: day }))
}

export async function listClosings(db: Reader, { after, limit }: PageRequest): Promise<Page<Closing>> {
  const found = await findClosingsBefore(db, after === undefined ? LAST_DAY : dayOf(after), limit + 1)
  return toPage(found, limit, ({ day }) => ({ id: 1n, sortKey: day }))
}

/** A client can forge a cursor. */
function dayOf({ sortKey }: PagePosition): string {
  if (!isDay(sortKey)) throw new AppError('invalid_cursor')
  return sortKey
}

function isDay(text: string): boolean {
  const time = /^[0-9]{4}-[0-9]{2}-[0-9]{2}$/.test(text) ? Date.parse(text) : Number.NaN
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text)
}

export interface TotalsOptions {
  from?: string | undefined
  to?: string | undefined
  by?: Grouping | undefined
}

/** Sums of entries, and nothing else, of days of the shop. */
export async function getTotals(db: Reader, { by, ...range }: TotalsOptions): Promise<Totals> {
  const { timeZone, currency, today, closedThrough } = await readTillState(db)
  const to = range.to ?? today
  const from = range.from ?? to
  requireRange(from, to)
  const groups = await sumEntries(db, by, from, to)
  const isOpen = closedThrough === null || to > closedThrough
  const expected = isOpen ? await readExpectedCash(db, to) : undefined
  return {
    timeZone,
    today,
    from,
    to,
    closedThrough: closedThrough ?? undefined,
    totals: addGroups(groups),
    groups: by === undefined ? undefined : groups.map(toGroup),
    deposits: (await sumDeposits(db, to)).map(toSum),
    cash: (await sumCash(db, from, to)).map(toSum),
    drawer: expected === undefined ? undefined : { currency, expected: withDecimals(expected, currency) },
  }
}

function requireRange(from: string, to: string): void {
  const days = (Date.parse(to) - Date.parse(from)) / DAY_MS + 1
  if (days >= 1 && days <= TOTAL_DAYS_MAX) return
  const message =
    days < 1 ? 'to must not be before from.' : `to must be less than ${TOTAL_DAYS_MAX} days after from.`
  const detail: ErrorDetail = { field: 'to', code: 'out_of_range', message }
  throw new AppError('invalid_parameter', { details: [detail] })
}

/** The totals are the sums of the groups, so that they are equal also while entries are written. */
function addGroups(groups: readonly GroupRow[]): Totals['totals'] {
  const byCurrency = Map.groupBy(groups, ({ currency }) => currency)
  return [...byCurrency].map(([currency, rows]) => {
    const sum = (amounts: string[]) =>
      toAmount(
        amounts.reduce((total, amount) => total + toUnits(amount, currency), 0n),
        currency,
      )
    return {
      currency,
      pets: rows.reduce((total, { pets }) => total + Number(pets), 0),
      sales: sum(rows.map(({ sales }) => sales)),
      paid: sum(rows.map(({ paid }) => paid)),
    }
  })
}

function toGroup({ currency, pets, sales, paid, ...field }: GroupRow): NonNullable<Totals['groups']>[number] {
  const given = Object.fromEntries(Object.entries(field).filter(([, value]) => value !== null))
  return {
    ...given,
    currency,
    pets: Number(pets),
    sales: withDecimals(sales, currency),
    paid: withDecimals(paid, currency),
  }
}

function toSum({ currency, amount }: AmountRow): AmountRow {
  return { currency, amount: withDecimals(amount, currency) }
}

/** Closes a day and the days before. Idempotent: the same request returns the same closing. */
export async function closeDay(
  db: Db,
  { day, currency: given, ...closing }: NewClosing,
  actor: CallingActor,
): Promise<{ closing: Closing; isNew: boolean }> {
  return db.transaction(async (tx) => {
    // Before the state is read: another closing, or entries, may be in flight.
    await lockTillAlone(tx)
    const state = await readTillState(tx)
    const { counted, kept } = readAmounts(
      { counted: closing.counted, kept: closing.kept },
      given,
      state.currency,
    )
    if (kept > counted) throw invalid('kept', 'kept must not be more than counted.')
    const before = await requireClosable(tx, { day, ...closing }, state)
    if (before !== undefined) return { closing: before, isNew: false }
    await insertClosing(tx, { day, ...closing, note: closing.note }, actor)
    return { closing: (await findClosing(tx, day)) as Closing, isNew: true }
  })
}

/** Returns the closing if an equal request has closed the day. */
async function requireClosable(
  tx: Tx,
  { day, counted, kept, note }: Omit<NewClosing, 'currency'>,
  { today, closedThrough }: TillState,
): Promise<Closing | undefined> {
  if (day > today) throw invalid('day', 'day must not be in the future.')
  if (closedThrough === null || day > closedThrough) return undefined
  const before = await findClosing(tx, day)
  if (before?.counted === counted && before.kept === kept && before.note === note) return before
  throw new AppError('day_closed')
}

function invalid(field: string, message: string): AppError {
  return new AppError('invalid_body', { details: [{ field, code: 'out_of_range', message }] })
}
