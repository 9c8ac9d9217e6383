// How a sale was paid: a correction and a refund are probably paid in the same way.
import type { Order, Pet } from '@petstore/client'
import { useQuery } from '@tanstack/react-query'
import { entriesOfPetQuery } from '../money/queries.ts'
import type { Method } from '../money/words.ts'
import { useStore } from '../session/session.ts'

export function useSaleMethod(pet: Pet, sale: Order): Method | undefined {
  const { data: entries = [] } = useQuery(entriesOfPetQuery(useStore(), pet.id))
  return entries.find(({ orderId, kind }) => orderId === sale.id && kind === 'sale')?.method
}
