// The rules that pets and orders share: an open order holds its pet, and a pet whose hold has expired is available.
import type { Actor } from '../../contract/actor.ts'
import type { PetStatus } from '../../contract/pet-status.ts'
import type { Tx } from '../../db/database.ts'
import { insertHistory } from '../history/queries.ts'
import type { HistoryEvent } from '../history/schema.ts'
import { expireOrder, findHold, setPetStatus } from './queries.ts'

interface HeldPet {
  id: bigint
  status: PetStatus
}

/** Frees a locked pet if its hold has expired but is not swept yet; returns whether it did. */
export async function releaseExpiredHold(tx: Tx, pet: HeldPet, requestId: string): Promise<boolean> {
  if (pet.status !== 'pending') return false
  const hold = await findHold(tx, pet.id)
  if (hold === undefined || !hold.isOver) return false
  await endExpiredHold(tx, pet, hold.orderId, requestId)
  return true
}

/** Frees a locked pet whose hold has expired. */
export async function endExpiredHold(
  tx: Tx,
  pet: HeldPet,
  orderId: bigint,
  requestId: string,
): Promise<void> {
  const actor = { actorId: undefined, requestId }
  await expireOrder(tx, orderId, actor)
  await changePetStatus(tx, pet, 'available', 'order_expired', actor)
}

/** Sets the status of a pet whose order starts or ends in the same transaction, and records the change. */
export async function changePetStatus(
  tx: Tx,
  pet: HeldPet,
  status: PetStatus,
  event: Exclude<HistoryEvent, 'created' | 'updated'>,
  actor: Actor,
): Promise<void> {
  await setPetStatus(tx, pet.id, status, actor)
  await insertHistory(tx, { petId: pet.id, event, from: { status: pet.status }, to: { status } }, actor)
}
