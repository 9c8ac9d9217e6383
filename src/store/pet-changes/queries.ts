// SQL statements of changePets. Each reads or changes all pets of a request, whose number is limited. pets/queries.ts inserts
// the new ones.
import type { Actor } from '../../contract/actor.ts'
import { actorFrom, actorValues } from '../../db/actor-settings.ts'
import type { Tx } from '../../db/database.ts'
import type { Pet, VersionedPet } from '../pets/schema.ts'

/**
 * Locks the pets until the transaction ends, in the order of their ids: two requests that name the same pets cannot deadlock.
 * Any other transaction locks a single pet, or skips pets that are locked.
 */
export async function lockPets(tx: Tx, ids: readonly bigint[]): Promise<VersionedPet[]> {
  return tx.write<VersionedPet>({
    name: 'lock_pets',
    text: `select id, name, category_id as "categoryId", status, version from pets
      where id = any($1::bigint[])
      order by id
      for update`,
    values: [ids],
  })
}

export interface Hold {
  petId: bigint
  orderId: bigint
  isOver: boolean
}

/** Returns the open orders for these locked pets, like findHold. */
export async function findHolds(tx: Tx, petIds: readonly bigint[]): Promise<Hold[]> {
  return tx.read<Hold>({
    name: 'find_holds',
    text: `select pet_id as "petId", id as "orderId", expires_at <= statement_timestamp() as "isOver"
      from orders where pet_id = any($1::bigint[]) and status = 'open'`,
    values: [petIds],
  })
}

/** Returns those of the locked pets that have ever had an order. The subquery ends at the first order of a pet. */
export async function findPetsWithOrders(tx: Tx, petIds: readonly bigint[]): Promise<bigint[]> {
  const rows = await tx.read<{ id: bigint }>({
    name: 'find_pets_with_orders',
    text: `select id from unnest($1::bigint[]) as input (id)
      where (select pet_id from orders where pet_id = input.id limit 1) is not null`,
    values: [petIds],
  })
  return rows.map(({ id }) => id)
}

/** Writes the name, category and status of locked pets, and increments their versions. */
export async function updatePets(tx: Tx, pets: readonly Pet[], actor: Actor): Promise<void> {
  await tx.write({
    name: 'update_pets',
    text: `update pets
      set name = input.name, category_id = input.category_id, status = input.status, version = version + 1
      from unnest($1::bigint[], $2::text[], $3::bigint[], $4::pet_status[]) as input (id, name, category_id, status)
      cross join ${actorFrom(5)}
      where pets.id = input.id and pets.id = any($1::bigint[])`,
    values: [
      pets.map(({ id }) => id),
      pets.map(({ name }) => name),
      pets.map(({ categoryId }) => categoryId),
      pets.map(({ status }) => status),
      ...actorValues(actor),
    ],
  })
}

/** Deletes locked pets and their history. Fails with a foreign key violation if one of them has orders. */
export async function deletePets(tx: Tx, ids: readonly bigint[], actor: Actor): Promise<void> {
  await tx.write({
    name: 'delete_pets',
    text: `delete from pets using ${actorFrom(2)} where id = any($1::bigint[])`,
    values: [ids, ...actorValues(actor)],
  })
}
