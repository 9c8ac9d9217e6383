// Deterministic pseudo-random numbers from a seed (mulberry32).

export interface Random {
  /** At least 0 and less than 1. */
  fraction: () => number
  /** At least 0 and less than the limit. */
  below: (limit: number) => number
  /** True with this probability. */
  chance: (probability: number) => boolean
  pick: <Item>(items: readonly Item[]) => Item
  shuffle: <Item>(items: readonly Item[]) => Item[]
}

export function seeded(seed: number): Random {
  let state = seed >>> 0
  const fraction = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (limit: number) => Math.floor(fraction() * limit)
  return {
    fraction,
    below,
    chance: (probability) => fraction() < probability,
    pick: (items) => items[below(items.length)] as (typeof items)[number],
    shuffle: (items) => {
      const shuffled = [...items]
      for (let end = shuffled.length - 1; end > 0; end -= 1) {
        const other = below(end + 1)
        ;[shuffled[end], shuffled[other]] = [shuffled[other] as never, shuffled[end] as never]
      }
      return shuffled
    },
  }
}
