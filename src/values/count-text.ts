// Counts characters, and formats counts for human-readable text: "1 row", "2 rows", "10,000 rows".

export function count(value: number): string {
  return value.toLocaleString('en')
}

/** Formats a count and its noun. `noun` is singular; an s is appended unless the count is 1. */
export function countOf(value: number, noun: string): string {
  return `${count(value)} ${noun}${value === 1 ? '' : 's'}`
}

/**
 * Counts the code points of a well-formed text without allocating a list. A low surrogate is the second half of a code
 * point, so it does not count.
 */
export function countCodePoints(text: string): number {
  let total = text.length
  for (let at = 0; at < text.length; at += 1) {
    if ((text.charCodeAt(at) & 0xfc00) === 0xdc00) total -= 1
  }
  return total
}
