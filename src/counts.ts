// Numbers of things in text for people: "1 row", "2 rows", "10,000 rows".

export function count(value: number): string {
  return value.toLocaleString('en')
}

/** Takes the noun in the singular, and adds an s for any other number than one. */
export function countOf(value: number, noun: string): string {
  return `${count(value)} ${noun}${value === 1 ? '' : 's'}`
}
