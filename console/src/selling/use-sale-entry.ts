// The entry of a sale: for which day it counts, and how it was paid. A correction and a refund are probably paid in the same way.
import type { Entry, Order, Pet } from '@petstore/client'
import { useQuery } from '@tanstack/react-query'
import { entriesOfPetQuery } from '../money/queries.ts'
import { useStore } from '../session/session.ts'

export function useSaleEntry(pet: Pet, sale: Order): Entry | undefined {
  const { data: entries = [] } = useQuery(entriesOfPetQuery(useStore(), pet.id))
  return entries.find(({ orderId, kind }) => orderId === sale.id && kind === 'sale')
}
