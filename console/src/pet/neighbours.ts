// The pets before and after a pet in the list from which it was opened.

export interface Neighbours {
  previous: string | undefined
  next: string | undefined
}

/**
 * `lastIndex` is where the pet was in the list before it left the list, for example because it was sold. The pet that
 * took its place is then the next one.
 */
export function neighboursOf(
  petIds: readonly string[],
  petId: string,
  lastIndex: number | undefined,
): Neighbours {
  const index = petIds.indexOf(petId)
  if (index !== -1) return { previous: petIds[index - 1], next: petIds[index + 1] }
  if (lastIndex === undefined) return { previous: undefined, next: undefined }
  return { previous: petIds[lastIndex - 1], next: petIds[lastIndex] }
}
