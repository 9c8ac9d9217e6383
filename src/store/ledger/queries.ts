// SQL statements that the features write their entries with. A sale is inserted by the statement that completes its order
// (orders/queries.ts). migrations/ explains the locks and the rules that triggers check.
import type { Actor } from '../../contract/actor.ts'
import type { Reader, Tx } from '../../db/database.ts'
import type { EntryKind, EntryReason, PaymentMethod } from './schema.ts'

/** What every entry has, in the order of `insert into entries`. `moment` is a row of till_moment(). */
export const ENTRY_COLUMNS =
  'order_id, pet_id, category_id, seller_id, actor_id, request_id, at, day, kind, method, currency, paid, sales, pets, reason'

/** An order's entry, with amounts as text. */
export interface NewEntry {
  orderId: bigint
  petId: bigint
  /** Default: the category of the pet. */
  categoryId: bigint | undefined
  sellerId: bigint | undefined
  kind: Exclude<EntryKind, 'cash' | 'void'>
  method: PaymentMethod | undefined
  currency: string
  paid: string
  sales: string
  pets: number
  reason: EntryReason | undefined
}

/** Inserts an entry of an order. The transaction has locked the pet. */
export async function insertEntry(tx: Tx, entry: NewEntry, { actorId, requestId }: Actor): Promise<bigint> {
  const [row] = await tx.write<{ id: bigint }>({
    name: 'insert_entry',
    bounded: 'by the given rows',
    text: `insert into entries (${ENTRY_COLUMNS})
      select $1, $2, coalesce($3, (select category_id from pets where id = $2)), $4, $5, $6, moment.at, moment.day, $7, $8, $9, $10, $11, $12, $13 from till_moment() as moment
      returning id`,
    values: [
      entry.orderId,
      entry.petId,
      entry.categoryId ?? null,
      entry.sellerId ?? null,
      actorId ?? null,
      requestId,
      entry.kind,
      entry.method ?? null,
      entry.currency,
      entry.paid,
      entry.sales,
      entry.pets,
      entry.reason ?? null,
    ],
  })
  return (row as { id: bigint }).id
}

/** Refunds all that was paid for these pets, which then must become available. */
export async function insertFullRefunds(
  tx: Tx,
  petIds: readonly bigint[],
  { actorId, requestId }: Actor,
): Promise<void> {
  await tx.write({
    name: 'insert_full_refunds',
    bounded: 'by one pet or webhook',
    text: `with sold as materialized (
        select order_id, pet_id, max(currency) as currency, sum(sales) as sales,
          (array_agg(category_id) filter (where kind = 'sale'))[1] as category_id,
          (array_agg(seller_id) filter (where kind = 'sale'))[1] as seller_id,
          (array_agg(method) filter (where kind = 'sale'))[1] as method
        from entries where pet_id = any($1::bigint[])
        group by order_id, pet_id
        having sum(pets) > 0
      )
      insert into entries (${ENTRY_COLUMNS})
      select order_id, pet_id, category_id, seller_id, $2, $3, moment.at, moment.day, 'refund', method, currency, -sales, -sales, -1, null
      from sold cross join till_moment() as moment`,
    values: [petIds, actorId ?? null, requestId],
  })
}

/** Returns those of the pets that a sale has sold, and that did not come back. */
export async function findPetsWithSale(db: Reader, petIds: readonly bigint[]): Promise<bigint[]> {
  const rows = await db.read<{ petId: bigint }>({
    name: 'find_pets_with_sale',
    bounded: 'by one pet or webhook',
    text: `select pet_id as "petId" from entries where pet_id = any($1::bigint[]) group by pet_id having sum(pets) > 0`,
    values: [petIds],
  })
  return rows.map(({ petId }) => petId)
}

/** Until the transaction ends, no entry is written and no day is closed. */
export async function lockTillAlone(tx: Tx): Promise<void> {
  await tx.read({
    name: 'lock_till_alone',
    bounded: 'without a table',
    text: `select pg_advisory_xact_lock(hashtext('petstore till')) is null`,
    values: [],
  })
}
