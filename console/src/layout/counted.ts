// A count with its noun.

/** Such as "1 pet" or "1,000 pets". */
export function counted(count: number, noun: string): string {
  return `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`
}
