// Limits how many requests to one origin are in flight. The agents of Node have such a limit too, but they open connections
// for waiting requests that have already timed out.

interface Origin {
  inFlight: number
  /** In the order of their arrival. */
  waiting: Set<() => void>
}

export interface OriginLimit {
  /** Waits until fewer than the max are in flight. Returns false if `stop` is aborted first. */
  acquire(origin: string, stop: AbortSignal): Promise<boolean>
  /** Call it once for each `acquire` that returned true. */
  release(origin: string): void
}

export function limitPerOrigin(inFlightMax: number): OriginLimit {
  const origins = new Map<string, Origin>()
  return {
    acquire(name, stop) {
      const origin = origins.get(name) ?? { inFlight: 0, waiting: new Set() }
      origins.set(name, origin)
      if (origin.inFlight < inFlightMax) {
        origin.inFlight += 1
        return Promise.resolve(true)
      }
      return new Promise((resolve) => {
        const start = () => {
          stop.removeEventListener('abort', leave)
          resolve(true)
        }
        const leave = () => {
          origin.waiting.delete(start)
          resolve(false)
        }
        origin.waiting.add(start)
        stop.addEventListener('abort', leave, { once: true })
      })
    },
    release(name) {
      const origin = origins.get(name)
      if (origin === undefined) return
      const [next] = origin.waiting
      if (next !== undefined) {
        // The next request takes over, so the number in flight stays the same.
        origin.waiting.delete(next)
        next()
      } else if (origin.inFlight > 1) origin.inFlight -= 1
      else origins.delete(name)
    },
  }
}
