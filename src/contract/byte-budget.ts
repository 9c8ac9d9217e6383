// Limits the bytes that a process holds at once for one purpose, such as large request bodies.

export interface ByteBudget {
  /**
   * Returns the function that gives the bytes back, once. Returns undefined if they do not fit: respond with `overloaded`.
   */
  take: (bytes: number) => (() => void) | undefined
}

/** @param onChange Called with the number of bytes that are taken. */
export function openByteBudget(maxBytes: number, onChange: (bytes: number) => void = () => {}): ByteBudget {
  let taken = 0

  function add(bytes: number): void {
    taken += bytes
    onChange(taken)
  }

  return {
    take: (bytes) => {
      if (taken + bytes > maxBytes) return undefined
      add(bytes)
      let isTaken = true
      return () => {
        if (!isTaken) return
        isTaken = false
        add(-bytes)
      }
    },
  }
}
