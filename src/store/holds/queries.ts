// The SQL statements on holds: open orders, and the status that they give to their pets.
import type { Actor } from '../../contract/actor.ts'
import type { PetStatus } from '../../contract/pet-status.ts'
import { actorFrom, actorValues } from '../../db/actor-settings.ts'
import type { Tx, Writer } from '../../db/database.ts'
import { historyInsert } from '../history/queries.ts'

/** A pet while this transaction holds its lock. */
export interface LockedPet {
  id: bigint
  name: string
  categoryId: bigint
  status: PetStatus
  version: number
}

const LOCKED_COLUMNS = 'id, name, category_id as "categoryId", status, version'

/**
 * Locks the pet until the transaction ends. A transaction that changes a pet and an existing order for that pet locks
 * the pet first, which prevents deadlocks.
 */
export async function lockPet(tx: Tx, id: bigint): Promise<LockedPet | undefined> {
  const [pet] = await tx.write<LockedPet>({
    name: 'lock_pet',
    bounded: 'by unique keys',
    text: `select ${LOCKED_COLUMNS} from pets where id = $1 for update`,
    values: [id],
  })
  return pet
}

/** Returns the open order for a locked pet, and whether the order has expired according to the database's clock. */
export async function findHold(
  tx: Tx,
  petId: bigint,
): Promise<{ orderId: bigint; isOver: boolean } | undefined> {
  const [row] = await tx.read<{ orderId: bigint; isOver: boolean }>({
    name: 'find_hold',
    bounded: 'by unique keys',
    // Not now(), which is the start of the transaction: the transaction may have waited for the lock since then.
    text: `select id as "orderId", expires_at <= statement_timestamp() as "isOver"
      from orders where pet_id = $1 and status = 'open'`,
    values: [petId],
  })
  return row
}

/** Whether the pet has ever had an order. */
export async function hasOrders(tx: Tx, petId: bigint): Promise<boolean> {
  const rows = await tx.read({
    name: 'has_orders',
    bounded: 'by one pet or webhook',
    text: 'select 1 from orders where pet_id = $1 limit 1',
    values: [petId],
  })
  return rows.length > 0
}

/** Sets the status of a pet whose order changes in the same transaction. */
export async function setPetStatus(tx: Tx, petId: bigint, status: PetStatus, actor: Actor): Promise<void> {
  await tx.write({
    name: 'set_pet_status',
    bounded: 'by unique keys',
    text: `update pets set status = $2, version = version + 1 from ${actorFrom(3)} where id = $1`,
    values: [petId, status, ...actorValues(actor)],
  })
}

/** Marks an overdue order for a locked pet as expired. */
export async function expireOrder(tx: Tx, id: bigint, actor: Actor): Promise<void> {
  await tx.write({
    name: 'expire_order',
    bounded: 'by unique keys',
    text: `update orders set status = 'expired', closed_at = expires_at from ${actorFrom(2)} where id = $1`,
    values: [id, ...actorValues(actor)],
  })
}

export interface Expired {
  /** The number of freed pets. */
  ended: number
  /** Milliseconds until the first open order expires; null if none is open. Orders that this sweep has expired count. */
  nextInMs: number | null
}

/**
 * Expires up to `max` overdue orders and frees their pets, in one statement. Locks the pets first, like every transaction
 * that ends an order. Skips pets that another transaction has locked: that transaction or the next sweep handles them. If
 * an order was closed after this statement took its snapshot, the update rechecks `status = 'open'` and skips the order.
 */
export async function expireOrders(db: Writer, requestId: string, max: number): Promise<Expired> {
  const [row] = await db.write<Expired>({
    name: 'expire_orders',
    bounded: 'by a narrow index',
    text: `with due as materialized (
        select pets.id
        from orders join pets on pets.id = orders.pet_id
        where orders.status = 'open' and orders.expires_at <= now()
        order by orders.expires_at
        limit $2
        for update of pets skip locked
      ), expired as (
        update orders set status = 'expired', closed_at = expires_at
        from due cross join ${actorFrom(3)}
        where orders.pet_id = due.id and orders.status = 'open' and orders.expires_at <= now()
        returning orders.pet_id
      ), freed as (
        update pets set status = 'available', version = version + 1
        from expired where pets.id = expired.pet_id and pets.status = 'pending'
        returning pets.id
      ), recorded as (
        ${historyInsert(`select id, 'order_expired', 'pending', 'available', null, $1 from freed`)}
        returning 1
      )
      select (select count(*) from recorded)::int as ended,
        extract(epoch from (select min(expires_at) from orders where status = 'open') - now())::float8 * 1000
          as "nextInMs"`,
    values: [requestId, max, ...actorValues({ actorId: undefined, requestId })],
    // Lets the database layer retry after a lost connection. Otherwise the sweep would fail with `outcome_unknown`.
    isIdempotent: true,
  })
  return row ?? { ended: 0, nextInMs: null }
}
