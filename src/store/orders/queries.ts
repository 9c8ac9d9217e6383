// All SQL statements on orders. A transaction locks the pet before it changes an existing order for that pet.
import type { Actor } from '../../contract/actor.ts'
import { actorFrom, actorValues } from '../../db/actor-settings.ts'
import type { PetStatus } from '../../contract/pet-status.ts'
import type { Reader, Statement, Tx, Writer } from '../../db/database.ts'
import { HOLD_MINUTES_MAX } from '../../contract/hold-limit.ts'
import { INT64_MAX } from '../../values/int64.ts'
import { withDecimals } from '../../values/money.ts'
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

/** Whether a statement waits for the locks of other transactions. The lock of a key is waited for only after a lost connection. */
export type Waiting = 'never' | 'for the pet' | 'for the key and the pet'

/** The price and the currency of a request, and the currency of the shop. */
interface GivenPrice {
  price: string | undefined
  currency: string | undefined
  shopCurrency: string
}

export interface OrderToPlace extends GivenPrice {
  petId: bigint
  actorId: bigint
  requestId: string
  holdMinutes: number
  note: string | undefined
  key: { text: string; fingerprint: Buffer } | undefined
}

/** migrations/0013_selling.sql explains the outcomes. */
export interface Placement {
  outcome:
    | 'placed'
    | 'replayed'
    | 'key_reused'
    | 'key_in_use'
    | 'other_currency'
    | 'not_found'
    | 'not_available'
    | 'undecided'
  /** The order as JSON, if it was placed now or before. */
  response: string | null
  petStatus: PetStatus | null
  /** That of the profile. */
  storedPrice: string | null
  storedCurrency: string | null
}

/** Places orders that wait for nothing, or one order that waits. */
export async function placeOrders(
  db: Writer,
  orders: readonly OrderToPlace[],
  waiting: Waiting,
): Promise<Placement[]> {
  const column = <Value>(value: (order: OrderToPlace) => Value | undefined) =>
    orders.map((order) => value(order) ?? null)
  return db.write<Placement>({
    name: 'place_orders',
    bounded: 'by unique keys',
    text: `select outcome, response, pet_status as "petStatus", stored_price as "storedPrice", stored_currency as "storedCurrency"
      from place_orders($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
    values: [
      column(({ petId }) => petId),
      column(({ actorId }) => actorId),
      column(({ requestId }) => requestId),
      column(({ holdMinutes }) => holdMinutes),
      column(({ note }) => note),
      column(({ price }) => price),
      column(({ currency }) => currency),
      column(({ shopCurrency }) => shopCurrency),
      column(({ key }) => key?.text),
      column(({ key }) => key?.fingerprint),
      waiting !== 'never',
      waiting === 'for the key and the pet',
    ],
  })
}

export interface OrderToComplete extends GivenPrice {
  orderId: bigint
  actorId: bigint
  requestId: string
  /** Whether the price has the decimal places of its currency. */
  isValid: boolean
  /** Null clears that of the order, undefined keeps it. */
  note: string | null | undefined
  method: PaymentMethod | undefined
  reason: EntryReason | undefined
}

/** migrations/0013_selling.sql explains the outcomes. */
export interface Completion {
  outcome:
    | 'completed'
    | 'ended'
    | 'not_found'
    | 'invalid_price'
    | 'other_currency'
    | 'other_deposit_currency'
    | 'undecided'
  /** The order as JSON, if it was completed now. */
  response: string | null
  /** That of the order, or of the profile. */
  storedPrice: string | null
  storedCurrency: string | null
}

/** Completes orders without waiting, or one order that waits for its pet. */
export async function completeOrders(
  db: Writer,
  orders: readonly OrderToComplete[],
  waiting: Waiting,
): Promise<Completion[]> {
  const column = <Value>(value: (order: OrderToComplete) => Value | undefined) =>
    orders.map((order) => value(order) ?? null)
  return db.write<Completion>({
    name: 'complete_orders',
    bounded: 'by unique keys',
    text: `select outcome, response, stored_price as "storedPrice", stored_currency as "storedCurrency"
      from complete_orders($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
    values: [
      column(({ orderId }) => orderId),
      column(({ actorId }) => actorId),
      column(({ requestId }) => requestId),
      column(({ price }) => price),
      column(({ currency }) => currency),
      column(({ shopCurrency }) => shopCurrency),
      column(({ isValid }) => isValid),
      orders.map(({ note }) => note !== undefined),
      column(({ note }) => note),
      column(({ method }) => method),
      column(({ reason }) => reason),
      waiting !== 'never',
    ],
  })
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
