// What the picture of a person shows.

/** Such as "AA" for "Ada Admin": the first letters of the first and of the last word. */
export function initialsOf(name: string): string {
  const letters = name.match(/(?<![\p{L}\p{N}])[\p{L}\p{N}]/gu) ?? []
  return [letters[0], letters.length > 1 ? letters.at(-1) : ''].join('').toUpperCase()
}
