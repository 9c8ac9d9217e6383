// The pets that a person has selected in the list. It stays while the filters change and while another page is shown, so that
// pets that one search does not find together can be sold together.
import type { Pet } from '@petstore/client'

/** By id, in the order in which they were selected. */
export type Selection = ReadonlyMap<string, Pet>

export const NO_PETS: Selection = new Map()

export function toggled(selection: Selection, pet: Pet): Selection {
  return selection.has(pet.id) ? without(selection, [pet.id]) : withPets(selection, [pet])
}

/** Selects all pets between the last one that was selected and this one. */
export function extended(selection: Selection, pets: Pet[], toIndex: number): Selection {
  const last = [...selection.keys()].at(-1)
  const from = pets.findIndex(({ id }) => id === last)
  if (from === -1) return withPets(selection, pets.slice(toIndex, toIndex + 1))
  const between = pets.slice(Math.min(from, toIndex), Math.max(from, toIndex) + 1)
  // The pet that was chosen is the next start of a range.
  return withPets(selection, from > toIndex ? between.toReversed() : between)
}

/** A pet that was selected before becomes the last one. */
export function withPets(selection: Selection, pets: Pet[]): Selection {
  const ids = pets.map(({ id }) => id)
  return new Map([...without(selection, ids), ...pets.map((pet) => [pet.id, pet] as const)])
}

export function without(selection: Selection, ids: string[]): Selection {
  const removed = new Set(ids)
  return new Map([...selection].filter(([id]) => !removed.has(id)))
}
