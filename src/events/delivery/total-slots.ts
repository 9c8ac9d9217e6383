// Limits the attempts in flight of all webhooks of a process together, by their number and their bytes. A webhook that
// finds no free slot waits in a queue and gets one slot when it is the next one, so that a busy webhook cannot take the slots of the others.
import { ATTEMPT_BYTES } from './memory.ts'

export interface TotalSlots {
  /** Takes a slot with ATTEMPT_BYTES; otherwise calls `wake` once, when the caller is the next one. */
  take: (wake: () => void) => boolean
  /** The message of a slot takes `to` bytes, instead of `from`. */
  resize: (from: number, to: number) => void
  /** @param last The bytes that the slot has last. */
  release: (last: number) => void
  taken: () => number
  bytes: () => number
}

export function openTotalSlots(max: number, maxBytes: number): TotalSlots {
  let taken = 0
  let bytes = 0
  const waiting = new Set<() => void>()
  // One attempt fits even if its message is larger than the limit.
  const isFull = () => taken >= max || (taken > 0 && bytes + ATTEMPT_BYTES > maxBytes)

  function wakeNext(): void {
    // A set iterates in the order of insertion. A caller that still finds no free slot is added again, at the end.
    for (const wake of waiting) {
      if (isFull()) return
      waiting.delete(wake)
      wake()
    }
  }

  return {
    take: (wake) => {
      if (isFull()) {
        waiting.add(wake)
        return false
      }
      waiting.delete(wake)
      taken += 1
      bytes += ATTEMPT_BYTES
      return true
    },
    resize: (from, to) => {
      bytes += to - from
      if (to < from) wakeNext()
    },
    release: (last) => {
      taken -= 1
      bytes -= last
      wakeNext()
    },
    taken: () => taken,
    bytes: () => bytes,
  }
}
