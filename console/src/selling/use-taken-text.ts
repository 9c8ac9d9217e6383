// Who has taken an available pet while its dialog is open.
import type { Pet } from '@petstore/client'
import { useQuery } from '@tanstack/react-query'
import { petQuery } from '../pets/queries.ts'
import { useStore } from '../session/session.ts'
import { conflictText } from './conflict-text.ts'
import { useOpenOrder } from './queries.ts'

export function useTakenText(pet: Pet): string | undefined {
  const { data: current } = useQuery(petQuery(useStore(), pet.id))
  const { order } = useOpenOrder(current ?? pet)
  if (current === undefined || current?.status === 'available') return undefined
  return conflictText(current?.status, order, Date.now())
}
