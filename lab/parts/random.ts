// Random numbers that depend only on a seed, so that a run can be reproduced.

export type Random = () => number

/** Numbers from 0 to 1. The label gives each part of the drill its own sequence of numbers, independent of the others. */
export function createRandom(seed: number, label = ''): Random {
  let state = seed >>> 0
  for (const character of label) state = Math.imul(state ^ character.charCodeAt(0), 0x01000193) >>> 0
  // Mulberry32.
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

export function pick<Item>(random: Random, items: readonly Item[]): Item | undefined {
  return items[Math.floor(random() * items.length)]
}

/** A shuffled copy. */
export function shuffle<Item>(random: Random, items: readonly Item[]): Item[] {
  const shuffled = [...items]
  for (let last = shuffled.length - 1; last > 0; last -= 1) {
    const other = Math.floor(random() * (last + 1))
    const kept = shuffled[last] as Item
    shuffled[last] = shuffled[other] as Item
    shuffled[other] = kept
  }
  return shuffled
}
