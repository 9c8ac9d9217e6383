// Formats counts for human-readable text: "1 row", "2 rows", "10,000 rows".

export function count(value: number): string {
  return value.toLocaleString('en')
}

/** Formats a count and its noun. `noun` is singular; an s is appended unless the count is 1. */
export function countOf(value: number, noun: string): string {
  return `${count(value)} ${noun}${value === 1 ? '' : 's'}`
}
