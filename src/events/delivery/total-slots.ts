// Limits the attempts in flight of all webhooks of a process together. A webhook that finds no free slot waits in a
// queue and gets one slot in its turn, so that a busy webhook cannot take the slots of the others.

export interface TotalSlots {
  /** Takes a slot; otherwise calls `wake` once, when it is the turn of the caller. */
  take: (wake: () => void) => boolean
  release: () => void
  taken: () => number
}

export function openTotalSlots(max: number): TotalSlots {
  let taken = 0
  const waiting = new Set<() => void>()
  return {
    take: (wake) => {
      if (taken >= max) {
        waiting.add(wake)
        return false
      }
      waiting.delete(wake)
      taken += 1
      return true
    },
    release: () => {
      taken -= 1
      // A set iterates in the order of insertion.
      const [first] = waiting
      if (first === undefined) return
      waiting.delete(first)
      first()
    },
    taken: () => taken,
  }
}
