// SQL statements of the till: changes of the ledger, its lists and sums, and closings.
import type { Actor } from '../../contract/actor.ts'
import type { Reader, Statement, Tx } from '../../db/database.ts'
import { toAmount, toUnits, withDecimals } from '../../values/money.ts'
import { ENTRY_COLUMNS } from '../ledger/queries.ts'
import type { Entry, EntryKind, PaymentMethod } from '../ledger/schema.ts'
import type { Closing, Grouping } from './schema.ts'

export interface NewCashEntry {
  currency: string
  paid: string
  note: string
}

export async function insertCashEntry(
  tx: Tx,
  { currency, paid, note }: NewCashEntry,
  { actorId, requestId }: Actor,
): Promise<bigint> {
  const [row] = await tx.write<{ id: bigint }>({
    name: 'insert_cash_entry',
    bounded: 'by the given rows',
    text: `insert into entries (actor_id, request_id, at, day, kind, method, currency, paid, sales, pets, note)
      select $1, $2, moment.at, moment.day, 'cash', 'cash', $3, $4, 0, 0, $5 from till_moment() as moment
      returning id`,
    values: [actorId ?? null, requestId, currency, paid, note],
  })
  return (row as { id: bigint }).id
}

/** Inserts the opposite of an entry, for its day. */
export async function insertVoid(tx: Tx, entryId: bigint, { actorId, requestId }: Actor): Promise<bigint> {
  const [row] = await tx.write<{ id: bigint }>({
    name: 'insert_void',
    bounded: 'by unique keys',
    text: `insert into entries (${ENTRY_COLUMNS}, voids)
      select order_id, pet_id, category_id, seller_id, $2, $3, moment.at, voided.day, 'void', method, currency, -paid, -sales,
        -pets, null, voided.id
      from entries as voided cross join till_moment() as moment
      where voided.id = $1
      returning id`,
    values: [entryId, actorId ?? null, requestId],
  })
  return (row as { id: bigint }).id
}

/** The money of an order, in smallest units of its currency. */
export interface OrderMoney {
  currency: string
  paid: bigint
  sales: bigint
  /** 1 while the pet is sold by this order. */
  pets: number
  /** Of the sale, otherwise of the deposit. */
  method: PaymentMethod | undefined
  categoryId: bigint | undefined
  sellerId: bigint | undefined
  lastEntryId: bigint
}

interface OrderMoneyRow {
  currency: string
  paid: string
  sales: string
  pets: number
  method: PaymentMethod | null
  categoryId: bigint | null
  sellerId: bigint | null
  lastEntryId: bigint
}

/** Undefined if the order has no entry. The transaction has locked the pet. */
export async function findOrderMoney(
  tx: Tx,
  order: { id: bigint; petId: bigint },
): Promise<OrderMoney | undefined> {
  const [row] = await tx.read<OrderMoneyRow>({
    name: 'find_order_money',
    bounded: 'by one pet or webhook',
    text: `select balance.currency, balance.paid::text, balance.sales::text, balance.pets::int, first.method,
        first.category_id as "categoryId", first.seller_id as "sellerId", last.id as "lastEntryId"
      from order_balance($1, $2) as balance
      cross join lateral (
        select method, category_id, seller_id from entries where pet_id = $1 and order_id = $2
        order by kind = 'sale' desc, id limit 1
      ) as first
      cross join lateral (
        select id from entries where pet_id = $1 and order_id = $2 order by id desc limit 1
      ) as last`,
    values: [order.petId, order.id],
  })
  if (row === undefined) return undefined
  const { currency, paid, sales, method, categoryId, sellerId } = row
  return {
    ...row,
    paid: toUnits(paid, currency),
    sales: toUnits(sales, currency),
    method: method ?? undefined,
    categoryId: categoryId ?? undefined,
    sellerId: sellerId ?? undefined,
  }
}

type EntryRow = { [Field in keyof Required<Entry>]: Exclude<Entry[Field], undefined> | null }

const COLUMNS = `entries.id, entries.order_id as "orderId", entries.pet_id as "petId", entries.kind, to_char(entries.day, 'YYYY-MM-DD') as day,
  entries.at, entries.paid::text, entries.sales::text, entries.pets, entries.currency, entries.method, entries.category_id as "categoryId",
  seller.name as seller, actor.name as actor, entries.reason, entries.note, entries.voids as "voidedEntryId"`
const FROM = `entries left join actors as seller on seller.id = entries.seller_id
  left join actors as actor on actor.id = entries.actor_id`

export async function findEntry(db: Reader, id: bigint): Promise<Entry | undefined> {
  const [row] = await db.read<EntryRow>({
    name: 'find_entry',
    bounded: 'by unique keys',
    text: `select ${COLUMNS} from ${FROM} where entries.id = $1`,
    values: [id],
  })
  return row && toEntry(row)
}

/** An entry that a request wants to void. Returned after the lock of the till: its day cannot be closed before the void. */
export interface VoidableEntry {
  id: bigint
  orderId: bigint | null
  petId: bigint | null
  actorId: bigint | null
  kind: EntryKind
  pets: number
  /** Older than `max` seconds. */
  isOld: boolean
  isDayClosed: boolean
  /** The entry that voids it. */
  voidedBy: bigint | null
}

export async function findVoidableEntry(
  tx: Tx,
  id: bigint,
  secondsMax: number,
): Promise<VoidableEntry | undefined> {
  const [row] = await tx.read<VoidableEntry>({
    name: 'find_voidable_entry',
    bounded: 'by unique keys',
    text: `select entries.id, entries.order_id as "orderId", entries.pet_id as "petId", entries.actor_id as "actorId", entries.kind,
        entries.pets, till_now() - entries.at > make_interval(secs => $2) as "isOld",
        exists (select from day_closings where day_closings.day >= entries.day) as "isDayClosed",
        (select void.id from entries as void where void.voids = entries.id) as "voidedBy"
      from entries where entries.id = $1`,
    values: [id, secondsMax],
  })
  return row
}

/** Until the transaction ends, no day is closed. */
export async function lockTill(tx: Tx): Promise<void> {
  await tx.read({
    name: 'lock_till',
    bounded: 'without a table',
    text: `select pg_advisory_xact_lock_shared(hashtext('petstore till')) is null`,
    values: [],
  })
}

export interface EntryFilters {
  orderId?: bigint | undefined
  petId?: bigint | undefined
  from?: string | undefined
}

/** The position of an entry in a list. */
export interface EntryPosition {
  day: string
  id: bigint
}

/** Returns entries before the position, by day and id, newest first. src/store/pets/queries.ts explains the row comparisons. */
export async function findEntriesBefore(
  db: Reader,
  { orderId, petId, from }: EntryFilters,
  before: EntryPosition,
  max: number,
): Promise<Entry[]> {
  const values = [before.day, before.id, from ?? '-infinity', max]
  const statement: Statement =
    orderId === undefined && petId === undefined
      ? {
          name: 'find_entries_before',
          text: `select ${COLUMNS} from ${FROM}
            where (entries.day, entries.id) < ($1, $2) and entries.day >= $3
            order by entries.day desc, entries.id desc limit $4`,
          values,
        }
      : {
          name: 'find_entries_before_by_pet',
          text: `select ${COLUMNS} from ${FROM}
            where (entries.pet_id, entries.day, entries.id) < (coalesce($5, (select pet_id from orders where id = $6)), $1, $2)
              and (entries.pet_id, entries.day, entries.id) >= (coalesce($5, (select pet_id from orders where id = $6)), $3, 0)
              and entries.order_id = coalesce($6, entries.order_id)
            order by entries.pet_id desc, entries.day desc, entries.id desc limit $4`,
          values: [...values, petId ?? null, orderId ?? null],
        }
  const rows = await db.read<EntryRow>(statement)
  return rows.map(toEntry)
}

function toEntry(row: EntryRow): Entry {
  const given = Object.entries(row).filter(([, value]) => value !== null)
  const entry = Object.fromEntries(given) as unknown as Entry
  const { currency } = entry
  return { ...entry, paid: withDecimals(entry.paid, currency), sales: withDecimals(entry.sales, currency) }
}

/** Each grouping: its column, and the field of the response. */
const GROUPED: Record<Grouping, string> = {
  day: `to_char(day, 'YYYY-MM-DD') as day`,
  seller: '(select name from actors where id = seller_id) as seller',
  category: 'category_id as "categoryId"',
  method: 'method',
  kind: 'kind',
}
const GROUPED_BY: Record<Grouping, string> = {
  day: 'day',
  seller: 'seller_id',
  category: 'category_id',
  method: 'method',
  kind: 'kind',
}

/** The sums of a group of entries, with the field of its grouping. */
export interface GroupRow {
  currency: string
  pets: bigint
  sales: string
  paid: string
}

/** Sums of all entries of some days, for each currency and for each group. Reads one range of an index. */
export async function sumEntries(
  db: Reader,
  by: Grouping | undefined,
  from: string,
  to: string,
): Promise<GroupRow[]> {
  const field = by === undefined ? '' : `${GROUPED[by]}, `
  const group = by === undefined ? 'currency' : `currency, ${GROUPED_BY[by]}`
  return db.read<GroupRow>({
    name: by === undefined ? 'sum_entries' : `sum_entries_by_${by}`,
    text: `select ${field}currency, sum(pets) as pets, sum(sales)::text as sales, sum(paid)::text as paid
      from entries where day >= $1 and day <= $2 and kind <> 'cash'
      group by ${group} order by ${group}`,
    values: [from, to],
  })
}

export interface AmountRow {
  currency: string
  amount: string
}

/** The deposits that are held at the end of a day. The index has only entries of orders with a deposit. */
export async function sumDeposits(db: Reader, to: string): Promise<AmountRow[]> {
  return db.read<AmountRow>({
    name: 'sum_deposits',
    text: `select currency, sum(paid - sales)::text as amount from entries
      where day <= $1 and moves_deposit
      group by currency having sum(paid - sales) <> 0 order by currency`,
    values: [to],
  })
}

/** Cash put in minus cash taken out. */
export async function sumCash(db: Reader, from: string, to: string): Promise<AmountRow[]> {
  return db.read<AmountRow>({
    name: 'sum_cash',
    text: `select currency, sum(paid)::text as amount from entries
      where day >= $1 and day <= $2 and kind = 'cash'
      group by currency order by currency`,
    values: [from, to],
  })
}

export interface TillState {
  timeZone: string
  currency: string
  /** The day of the shop now. */
  today: string
  closedThrough: string | null
}

export async function readTillState(db: Reader): Promise<TillState> {
  const [row] = await db.read<TillState>({
    name: 'read_till_state',
    bounded: 'by a small table',
    text: `select time_zone as "timeZone", currency,
        to_char(till_now() at time zone time_zone, 'YYYY-MM-DD') as today,
        (select to_char(max(day), 'YYYY-MM-DD') from day_closings) as "closedThrough"
      from store_settings`,
    values: [],
  })
  return row as TillState
}

/** The cash that should be in the drawer at the end of a day after the last closed one. */
export async function readExpectedCash(db: Reader, day: string): Promise<string> {
  const [row] = await db.read<{ expected: string }>({
    name: 'read_expected_cash',
    bounded: 'by a narrow index',
    text: 'select expected_cash($1)::text as expected',
    values: [day],
  })
  return (row as { expected: string }).expected
}

interface ClosingRow {
  day: string
  at: Date
  closedBy: string | null
  currency: string
  expected: string
  counted: string
  kept: string
  note: string | null
}

const CLOSING_COLUMNS = `to_char(day, 'YYYY-MM-DD') as day, at, (select name from actors where id = closed_by) as "closedBy", currency,
  expected::text, counted::text, kept::text, note`

/** Returns closings before this day, newest first. */
export async function findClosingsBefore(db: Reader, beforeDay: string, max: number): Promise<Closing[]> {
  const rows = await db.read<ClosingRow>({
    name: 'find_closings_before',
    bounded: 'by a narrow index',
    text: `select ${CLOSING_COLUMNS} from day_closings where day < $1 order by day desc limit $2`,
    values: [beforeDay, max],
  })
  return rows.map(toClosing)
}

export async function findClosing(db: Reader, day: string): Promise<Closing | undefined> {
  const [row] = await db.read<ClosingRow>({
    name: 'find_closing',
    bounded: 'by unique keys',
    text: `select ${CLOSING_COLUMNS} from day_closings where day = $1`,
    values: [day],
  })
  return row && toClosing(row)
}

/** The trigger adds the time, the currency and the expected cash. */
export async function insertClosing(
  tx: Tx,
  { day, counted, kept, note }: { day: string; counted: string; kept: string; note: string | undefined },
  { actorId }: Actor,
): Promise<void> {
  await tx.write({
    name: 'insert_closing',
    bounded: 'by the given rows',
    text: 'insert into day_closings (day, closed_by, counted, kept, note) values ($1, $2, $3, $4, $5)',
    values: [day, actorId ?? null, counted, kept, note ?? null],
  })
}

function toClosing({ closedBy, note, ...row }: ClosingRow): Closing {
  const { currency } = row
  const difference = toUnits(row.counted, currency) - toUnits(row.expected, currency)
  const amountOf = (text: string) => withDecimals(text, currency)
  return {
    ...row,
    expected: amountOf(row.expected),
    counted: amountOf(row.counted),
    kept: amountOf(row.kept),
    difference: toAmount(difference, currency),
    closedBy: closedBy ?? undefined,
    note: note ?? undefined,
  }
}
