// Deterministic pseudo-random numbers from a seed, as the drill uses them.
import { createRandom, shuffle } from '../../lab/parts/random.ts'

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
  const fraction = createRandom(seed)
  const below = (limit: number) => Math.floor(fraction() * limit)
  return {
    fraction,
    below,
    chance: (probability) => fraction() < probability,
    pick: (items) => items[below(items.length)] as (typeof items)[number],
    shuffle: (items) => shuffle(fraction, items),
  }
}
