// Formats counts for human-readable text: "1 row", "2 rows", "10,000 rows".

export function count(value: number): string {
  return value.toLocaleString('en')
}

/** Takes a singular noun and appends an s unless the count is 1. */
export function countOf(value: number, noun: string): string {
  return `${count(value)} ${noun}${value === 1 ? '' : 's'}`
}
