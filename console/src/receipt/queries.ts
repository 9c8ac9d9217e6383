// What a receipt reads.
import type { Entry, Order, Pet, PetProfile, Petstore, Settings } from '@petstore/client'
import { queryOptions } from '@tanstack/react-query'
import { KEYS } from '../session/query-keys.ts'

export interface Receipt {
  order: Order
  entries: Entry[]
  /** Undefined if the pet was deleted in the meantime. */
  pet: Pet | undefined
  profile: PetProfile | undefined
  shop: Settings
}

export function receiptQuery(store: Petstore, orderId: string) {
  return queryOptions({
    queryKey: KEYS.receipt(orderId),
    staleTime: 0,
    queryFn: async ({ signal }): Promise<Receipt> => {
      const [order, shop, entries] = await Promise.all([
        store.orders.get(orderId, { signal }),
        store.settings.get({ signal }),
        readEntries(store, orderId, signal),
      ])
      const [pet, profiles] = await Promise.all([
        store.pets.find(order.petId, { signal }),
        store.pets.profiles({ petId: [order.petId] }, { signal }),
      ])
      return { order, shop, entries, pet, profile: profiles[0] }
    },
  })
}

async function readEntries(store: Petstore, orderId: string, signal: AbortSignal): Promise<Entry[]> {
  const entries: Entry[] = []
  for await (const entry of store.till.entries({ orderId }, { signal })) entries.push(entry)
  return entries
}
