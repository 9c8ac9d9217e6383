// All SQL statements on orders. A transaction locks the pet before it changes an existing order for that pet.
import type { Actor } from '../../contract/actor.ts'
import { actorFrom, actorValues } from '../../db/actor-settings.ts'
import type { Reader, Statement, Tx } from '../../db/database.ts'
import { INT64_MAX } from '../../values/int64.ts'
import type { Order, OrderStatus } from './schema.ts'

interface OrderRow extends Omit<Order, 'note' | 'closedAt'> {
  note: string | null
  closedAt: Date | null
}

const COLUMNS = `orders.id, orders.pet_id as "petId", orders.status, orders.note, api_keys.name as "placedBy",
  orders.created_at as "createdAt", orders.expires_at as "expiresAt", orders.closed_at as "closedAt"`
const FROM = 'orders join api_keys on api_keys.id = orders.placed_by'

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

/** The position of an order in the list of open orders by expiry. */
export interface ExpiryPosition {
  /** Microseconds since 1970: a Date has only milliseconds. */
  expiresAtMicros: bigint
  id: bigint
}

/**
 * Returns open orders after the position, the one that expires next first. Reads one range of the index
 * orders_open_by_expiry; orders that expire in the same microsecond are sorted by id.
 */
export async function findOpenOrdersByExpiry(
  db: Reader,
  after: ExpiryPosition | undefined,
  max: number,
): Promise<{ order: Order; position: ExpiryPosition }[]> {
  const rows = await db.read<OrderRow & { expiresAtMicros: bigint }>({
    name: 'find_open_orders_by_expiry',
    text: `select ${COLUMNS}, (extract(epoch from orders.expires_at) * 1000000)::bigint as "expiresAtMicros"
      from ${FROM}
      where orders.status = 'open'
        and (orders.expires_at, orders.id) > (timestamptz 'epoch' + $1::bigint * interval '1 microsecond', $2)
      order by orders.expires_at, orders.id
      limit $3`,
    values: [after?.expiresAtMicros ?? 0n, after?.id ?? 0n, max],
  })
  return rows.map(({ expiresAtMicros, ...row }) => ({
    order: toOrder(row),
    position: { expiresAtMicros, id: row.id },
  }))
}

export async function findOrdersByIds(db: Reader, ids: readonly bigint[]): Promise<Order[]> {
  const rows = await db.read<OrderRow>({
    name: 'find_orders_by_ids',
    text: `select ${COLUMNS} from ${FROM} where orders.id = any($1::bigint[])`,
    values: [ids],
  })
  return rows.map(toOrder)
}

export interface OrderToInsert {
  petId: bigint
  placedBy: bigint
  holdMinutes: number
  note: string | undefined
}

/**
 * Inserts an order if the pet is available; otherwise returns undefined. If another transaction has locked the pet with
 * lockPet, the statement waits for that transaction and rechecks the status. The `for key share` lock of this statement does not
 * exclude other buyers: of several concurrent inserts, the unique index orders_one_open_per_pet accepts one. The others wait until that
 * transaction commits, then fail.
 */
export async function insertOrder(tx: Tx, order: OrderToInsert): Promise<bigint | undefined> {
  const { petId, placedBy, holdMinutes, note } = order
  const [row] = await tx.write<{ id: bigint }>({
    name: 'insert_order',
    // Reads the clock after the wait for the lock, so that an order never starts before the previous one ended.
    text: `with pet as materialized (
        select id from pets where id = $1 and status = 'available' for key share
      ), hold as materialized (
        select id, clock_timestamp() as placed_at from pet
      )
      insert into orders (pet_id, placed_by, note, created_at, expires_at)
      select id, $2, $3, placed_at, placed_at + make_interval(mins => $4) from hold
      returning id`,
    values: [petId, placedBy, note ?? null, holdMinutes],
  })
  return row?.id
}

/** Completes or cancels an order for a locked pet; returns false if the order is not open or has expired. */
export async function closeOrder(
  tx: Tx,
  id: bigint,
  status: 'completed' | 'cancelled',
  actor: Actor,
): Promise<boolean> {
  const rows = await tx.write({
    name: 'close_order',
    text: `update orders set status = $2, closed_at = statement_timestamp()
      from ${actorFrom(3)}
      where id = $1 and status = 'open' and expires_at > statement_timestamp()
      returning 1`,
    values: [id, status, ...actorValues(actor)],
  })
  return rows.length > 0
}

function toOrder(row: OrderRow): Order {
  return { ...row, note: row.note ?? undefined, closedAt: row.closedAt ?? undefined }
}
