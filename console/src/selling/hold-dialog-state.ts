// Which pet the dialog for a hold is open for. The dialog is not part of a row of a list: if another person takes the
// pet, the row may leave the list, and the dialog must stay and say so.
import type { Pet } from '@petstore/client'
import { useSyncExternalStore } from 'react'

let current: Pet | undefined
const listeners = new Set<() => void>()

export function openHoldDialog(pet: Pet): void {
  change(pet)
}

export function closeHoldDialog(): void {
  change(undefined)
}

export function useHoldDialogPet(): Pet | undefined {
  return useSyncExternalStore(subscribe, () => current)
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

function change(pet: Pet | undefined): void {
  current = pet
  for (const listener of listeners) listener()
}
