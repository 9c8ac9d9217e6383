// All SQL statements on orders. A transaction locks the pet before it changes an existing order for that pet.
import type { Actor } from '../../contract/actor.ts'
import { actorFrom, actorValues } from '../../db/actor-settings.ts'
import type { Reader, Statement, Tx } from '../../db/database.ts'
import { HOLD_MINUTES_MAX } from '../../contract/hold-limit.ts'
import { INT64_MAX } from '../../values/int64.ts'
import { withDecimals } from '../../values/money.ts'
import { ENTRY_COLUMNS } from '../ledger/queries.ts'
import type { EntryReason, PaymentMethod } from '../ledger/schema.ts'
import type { Order, OrderStatus } from './schema.ts'

type OptionalField = 'note' | 'price' | 'currency' | 'closedAt' | 'netPrice' | 'deposit' | 'broughtBackAt'
/** A field without a value is null. */
type OrderRow = Omit<Order, OptionalField> & { [Field in OptionalField]: Order[Field] | null }

const COLUMNS = `orders.id, orders.pet_id as "petId", orders.status, orders.note, actors.name as "placedBy",
  orders.price::text, coalesce(orders.currency, balance.currency) as currency,
  orders.created_at as "createdAt", orders.expires_at as "expiresAt", orders.closed_at as "closedAt",
  case when balance.was_sold then balance.sales::text end as "netPrice",
  nullif(balance.paid - balance.sales, 0)::text as deposit, balance.brought_back_at as "broughtBackAt"`
const FROM = `orders join actors on actors.id = orders.placed_by
  cross join lateral order_balance(orders.pet_id, orders.id) as balance`

export interface OrderFilters {
  status?: OrderStatus | undefined
  petId?: bigint | undefined
}

/** Returns orders with an id below `beforeId`, newest first. src/store/pets/queries.ts explains the row comparisons. */
export async function findOrdersBefore(
  db: Reader,
  { status, petId }: OrderFilters,
  beforeId: bigint | undefined,
  max: number,
): Promise<Order[]> {
  const before = beforeId ?? INT64_MAX
  const statement = (): Statement => {
    if (status !== undefined && petId !== undefined) {
      return {
        name: 'find_orders_before_by_pet_and_status',
        text: `select ${COLUMNS} from ${FROM}
          where (pet_id + 0, orders.status, orders.id) < ($1, $2, $3)
            and (pet_id + 0, orders.status, orders.id) >= ($1, $2, 0)
          order by pet_id + 0 desc, orders.status desc, orders.id desc
          limit $4`,
        values: [petId, status, before, max],
      }
    }
    if (status !== undefined) {
      return {
        name: 'find_orders_before_by_status',
        text: `select ${COLUMNS} from ${FROM}
          where (orders.status, orders.id) < ($1, $2) and (orders.status, orders.id) >= ($1, 0)
          order by orders.status desc, orders.id desc
          limit $3`,
        values: [status, before, max],
      }
    }
    if (petId !== undefined) {
      return {
        name: 'find_orders_before_by_pet',
        text: `select ${COLUMNS} from ${FROM}
          where (pet_id, orders.id) < ($1, $2) and (pet_id, orders.id) >= ($1, 0)
          order by pet_id desc, orders.id desc
          limit $3`,
        values: [petId, before, max],
      }
    }
    return {
      name: 'find_orders_before',
      text: `select ${COLUMNS} from ${FROM} where orders.id < $1 order by orders.id desc limit $2`,
      values: [before, max],
    }
  }
  const rows = await db.read<OrderRow>(statement())
  return rows.map(toOrder)
}

/** The position of an order in a list that is sorted by a time. */
export interface TimePosition {
  /** Microseconds since 1970: a Date has only milliseconds. */
  atMicros: bigint
  id: bigint
}

type TimedOrder = { order: Order; position: TimePosition }

const timeOf = (micros: string) => `timestamptz 'epoch' + ${micros}::bigint * interval '1 microsecond'`
const microsOf = (column: string) => `(extract(epoch from ${column}) * 1000000)::bigint as "atMicros"`

/**
 * Returns open orders after the position, the one that expires next first. Reads one range of the index
 * orders_open_by_expiry; orders that expire in the same microsecond are sorted by id.
 */
export async function findOpenOrdersByExpiry(
  db: Reader,
  after: TimePosition | undefined,
  max: number,
): Promise<TimedOrder[]> {
  const rows = await db.read<OrderRow & { atMicros: bigint }>({
    name: 'find_open_orders_by_expiry',
    text: `select ${COLUMNS}, ${microsOf('orders.expires_at')}
      from ${FROM}
      where orders.status = 'open' and (orders.expires_at, orders.id) > (${timeOf('$1')}, $2)
      order by orders.expires_at, orders.id
      limit $3`,
    values: [after?.atMicros ?? 0n, after?.id ?? 0n, max],
  })
  return rows.map(toTimedOrder)
}

/**
 * Returns completed orders that were closed before the position, and at `fromMicros` or later, the last one first. Reads
 * one range of the index orders_completed_by_closing.
 */
export async function findCompletedOrdersByClosing(
  db: Reader,
  fromMicros: bigint,
  before: TimePosition,
  max: number,
): Promise<TimedOrder[]> {
  const rows = await db.read<OrderRow & { atMicros: bigint }>({
    name: 'find_completed_orders_by_closing',
    text: `select ${COLUMNS}, ${microsOf('orders.closed_at')}
      from ${FROM}
      where orders.status = 'completed' and (orders.closed_at, orders.id) < (${timeOf('$1')}, $2)
        and orders.closed_at >= ${timeOf('$3')}
      order by orders.closed_at desc, orders.id desc
      limit $4`,
    values: [before.atMicros, before.id, fromMicros, max],
  })
  return rows.map(toTimedOrder)
}

export async function findOrdersByIds(db: Reader, ids: readonly bigint[]): Promise<Order[]> {
  const rows = await db.read<OrderRow>({
    name: 'find_orders_by_ids',
    bounded: 'by unique keys',
    text: `select ${COLUMNS} from ${FROM} where orders.id = any($1::bigint[])`,
    values: [ids],
  })
  return rows.map(toOrder)
}

/** The price of an order: an amount as text, in a currency. */
export interface Price {
  amount: string
  currency: string
}

export interface OrderToInsert {
  petId: bigint
  placedBy: bigint
  holdMinutes: number
  note: string | undefined
  /** Default: the price in the profile of the pet, if it has one. */
  price: Price | undefined
}

/**
 * Inserts an order if the pet is available; otherwise returns undefined. If another transaction has locked the pet with
 * lockPet, the statement waits for that transaction and rechecks the status. The `for key share` lock of this statement does not
 * exclude other buyers: of several concurrent inserts, the unique index orders_one_open_per_pet accepts one. The others wait until that
 * transaction commits, then fail.
 */
export async function insertOrder(tx: Tx, order: OrderToInsert): Promise<bigint | undefined> {
  const { petId, placedBy, holdMinutes, note, price } = order
  const [row] = await tx.write<{ id: bigint }>({
    name: 'insert_order',
    bounded: 'by the given rows',
    // Reads the clock and the profile after the wait for the lock, so that an order never starts before the previous one
    // ended, and never has a price that was replaced before it started. migrations/0003_orders.sql explains pet_price.
    text: `with pet as materialized (
        select id from pets where id = $1 and status = 'available' for key share
      ), hold as materialized (
        select id, clock_timestamp() as placed_at from pet
      )
      insert into orders (pet_id, placed_by, note, created_at, expires_at, price, currency)
      select hold.id, $2, $3, placed_at, placed_at + make_interval(mins => $4),
        coalesce($5::numeric, profile.price), coalesce($6, profile.currency)
      from hold left join lateral pet_price(hold.id) as profile on $5::numeric is null
      returning id`,
    values: [petId, placedBy, note ?? null, holdMinutes, price?.amount ?? null, price?.currency ?? null],
  })
  return row?.id
}

export interface OrderUpdate {
  /** Null clears the note, undefined keeps it. */
  note: string | null | undefined
  /** When an order that is open expires. */
  expiresAtMicros: bigint | undefined
}

/** Changes an order for a locked pet; returns false if it would expire in the past, or too late. */
export async function updateOrder(
  tx: Tx,
  id: bigint,
  { note, expiresAtMicros }: OrderUpdate,
  actor: Actor,
): Promise<boolean> {
  const rows = await tx.write({
    name: 'update_order',
    bounded: 'by unique keys',
    text: `update orders set note = case when $2 then $3 else note end, expires_at = coalesce(given.expires_at, orders.expires_at)
      from (select ${timeOf('$4')} as expires_at) as given cross join ${actorFrom(5)}
      where id = $1 and (given.expires_at is null or given.expires_at > statement_timestamp()
        and given.expires_at <= statement_timestamp() + make_interval(mins => ${HOLD_MINUTES_MAX}))
      returning 1`,
    values: [id, note !== undefined, note ?? null, expiresAtMicros ?? null, ...actorValues(actor)],
  })
  return rows.length > 0
}

/**
 * Writes the event of the placed order before the end of the transaction, so that it comes before the event of its deposit. The
 * transaction has locked the pet.
 */
export async function recordPlacedOrderNow(tx: Tx): Promise<void> {
  await tx.write({
    name: 'record_placed_order_now',
    bounded: 'without a table',
    text: 'set constraints record_placed immediate',
    values: [],
  })
}

/** How an order is completed. */
export interface Sale {
  price: Price | undefined
  /** Null clears that of the order, undefined keeps it. */
  note: string | null | undefined
  method: PaymentMethod | undefined
  reason: EntryReason | undefined
}

/**
 * Completes an order for a locked pet, with the sale in the ledger; returns false if the order is not open or has expired. The
 * price is the given one, otherwise that of the order, otherwise that of the profile. Each of them has a price and a currency,
 * or neither. A sale without a price counts 0. What a deposit has paid is not paid again.
 */
export async function setOrderCompleted(
  tx: Tx,
  id: bigint,
  { price, note, method, reason }: Sale,
  actor: Actor,
): Promise<boolean> {
  const rows = await tx.write({
    name: 'set_order_completed',
    bounded: 'by unique keys',
    text: `with completed as (
        update orders set status = 'completed', closed_at = statement_timestamp(), note = case when $8 then $9 else note end,
          price = coalesce($2::numeric, price, (select price from pet_price(pet_id))),
          currency = coalesce($3, currency, (select currency from pet_price(pet_id)))
        from ${actorFrom(6)}
        where id = $1 and status = 'open' and expires_at > statement_timestamp()
        returning orders.id, orders.pet_id, coalesce(orders.price, 0) as price, orders.currency
      )
      insert into entries (${ENTRY_COLUMNS})
      select completed.id, completed.pet_id, pets.category_id, nullif($6, '')::bigint, nullif($6, '')::bigint, $7, moment.at,
        moment.day, 'sale', $4, coalesce(completed.currency, balance.currency, store_settings.currency),
        completed.price - coalesce(balance.paid - balance.sales, 0), completed.price, 1, $5
      from completed
      join pets on pets.id = completed.pet_id
      cross join lateral order_balance(completed.pet_id, completed.id) as balance
      cross join store_settings
      cross join till_moment() as moment
      returning 1`,
    values: [
      id,
      price?.amount ?? null,
      price?.currency ?? null,
      method ?? null,
      reason ?? null,
      ...actorValues(actor),
      note !== undefined,
      note ?? null,
    ],
  })
  return rows.length > 0
}

/** Cancels an order for a locked pet; returns false if the order is not open or has expired. */
export async function setOrderCancelled(tx: Tx, id: bigint, actor: Actor): Promise<boolean> {
  const rows = await tx.write({
    name: 'set_order_cancelled',
    bounded: 'by unique keys',
    text: `update orders set status = 'cancelled', closed_at = statement_timestamp()
      from ${actorFrom(2)}
      where id = $1 and status = 'open' and expires_at > statement_timestamp()
      returning 1`,
    values: [id, ...actorValues(actor)],
  })
  return rows.length > 0
}

function toOrder(row: OrderRow): Order {
  const given = Object.entries(row).filter(([, value]) => value !== null)
  const order = Object.fromEntries(given) as unknown as Order
  const { netPrice, deposit, currency = '' } = order
  return {
    ...order,
    ...(netPrice !== undefined && { netPrice: withDecimals(netPrice, currency) }),
    ...(deposit !== undefined && { deposit: withDecimals(deposit, currency) }),
  }
}

function toTimedOrder({ atMicros, ...row }: OrderRow & { atMicros: bigint }): TimedOrder {
  return { order: toOrder(row), position: { atMicros, id: row.id } }
}
