// The selection of this tab. Rows of the list and the bar with the actions share it.
import type { Pet } from '@petstore/client'
import { useSyncExternalStore } from 'react'
import { extended, NO_PETS, type Selection, toggled, withPets, without } from './selection.ts'

let selection: Selection = NO_PETS
const listeners = new Set<() => void>()

export function useSelectedPets(): Selection {
  return useSyncExternalStore(subscribe, () => selection)
}

export function toggleSelected(pet: Pet): void {
  change(toggled(selection, pet))
}

/** Selects the pets of a list between the last one that was selected and this one. */
export function selectUpTo(pets: Pet[], pet: Pet): void {
  change(extended(selection, pets, pets.indexOf(pet)))
}

export function selectPets(pets: Pet[]): void {
  change(withPets(selection, pets))
}

export function unselectPets(ids: string[]): void {
  change(without(selection, ids))
}

export function clearSelection(): void {
  change(NO_PETS)
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

function change(next: Selection): void {
  selection = next
  for (const listener of listeners) listener()
}
