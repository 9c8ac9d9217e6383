// Sorts categories by the number of their pets.
import type { Category, Counts } from '@petstore/client'

export function petsIn({ available, pending, sold }: Counts): number {
  return available + pending + sold
}

/** The categories with the most pets first, and those without pets last. Does not change the list. */
export function bySize(categories: Category[]): Category[] {
  return categories.toSorted((one, other) => petsIn(other.counts) - petsIn(one.counts))
}

/** Widths in percent of the parts of a bar. The bar of the largest category is 100 percent wide. */
export function barParts(counts: Counts, largest: number): Counts {
  const percent = (count: number) => (largest === 0 ? 0 : (count / largest) * 100)
  return {
    available: percent(counts.available),
    pending: percent(counts.pending),
    sold: percent(counts.sold),
  }
}

/** A share of all pets as a whole number of percent: "less than 1%" instead of "0%" if there are any. */
export function shareText(count: number, all: number): string {
  if (all === 0) return '0%'
  const percent = Math.round((count / all) * 100)
  if (percent === 0 && count > 0) return 'less than 1%'
  if (percent === 100 && count < all) return 'more than 99%'
  return `${percent}%`
}
