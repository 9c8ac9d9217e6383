// Reads the order that holds a pet.
import type { Order, Petstore } from '@petstore/client'

export async function readOpenOrder(
  store: Petstore,
  petId: string,
  signal?: AbortSignal,
): Promise<Order | null> {
  const { items } = await store.orders.list({ petId, status: 'open', limit: 1 }, { signal }).page()
  return items[0] ?? null
}
