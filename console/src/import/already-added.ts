// Looks whether the pets of a file are in the list already: another browser or another person can have imported it, which this
// browser does not know.
import type { Petstore } from '@petstore/client'
import { isAccepted, type PetFile, type PetRow } from './pet-rows.ts'

/** The max of the service for a page. */
const FOUND_MAX = 100

/** True if the first, the middle and the last pet of the file are in the list, with their names and categories. */
export async function areAdded(store: Petstore, { rows }: PetFile, signal: AbortSignal): Promise<boolean> {
  const accepted = rows.filter(isAccepted)
  const positions = new Set([0, Math.floor(accepted.length / 2), accepted.length - 1])
  const samples = accepted.filter((_, position) => positions.has(position))
  const found = await Promise.all(samples.map((row) => isAdded(store, row, signal)))
  return found.length > 0 && found.every(Boolean)
}

async function isAdded(store: Petstore, { pet }: PetRow, signal: AbortSignal): Promise<boolean> {
  const { items } = await store.pets.list({ name: pet.name, limit: FOUND_MAX }, { signal }).page()
  return items.some(({ name, categoryId }) => name === pet.name && categoryId === pet.categoryId)
}
