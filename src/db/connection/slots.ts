// Limits how many attempts use a connection at once. Every attempt takes a slot before it takes a connection, so no
// attempt waits in the queue of the pool. Writes cannot take every slot, so reads continue while all writes wait for a
// standby.
import { AppError } from '../../contract/errors.ts'

/** Max number of requests that wait for a connection. Further requests are rejected with 503 `overloaded`. */
export const POOL_QUEUE_MAX = 1_000

export type WorkKind = 'read' | 'write'

export interface SlotLimits {
  size: number
  /** Max number of attempts that wait for a slot. Further attempts are rejected. Default: POOL_QUEUE_MAX. */
  waitingMax?: number
  /** Max time that an attempt waits for a slot. */
  waitMs: number
}

export interface Slot {
  leave: () => void
  /** Marks the slot of a write whose response did not arrive in time. The slot stays taken until `leave` is called. */
  markUnacknowledged: () => void
}

export interface Slots {
  take: (kind: WorkKind) => Promise<Slot>
  waiting: () => number
  unacknowledged: () => number
}

interface Waiter {
  arrival: number
  resolve: (slot: Slot) => void
  reject: (error: AppError) => void
  timer: NodeJS.Timeout
}

/**
 * Max number of slots that writes can take. The others are reserved for reads: a quarter of all slots, at least one. A
 * pool with a single slot reserves none.
 */
export function writeSlots(size: number): number {
  return Math.max(1, size - Math.ceil(size / 4))
}

export function openSlots({ size, waitingMax = POOL_QUEUE_MAX, waitMs }: SlotLimits): Slots {
  const writesMax = writeSlots(size)
  const waiters: Record<WorkKind, Waiter[]> = { read: [], write: [] }
  let taken = 0
  let writes = 0
  let unacknowledged = 0
  let arrivals = 0

  const hasRoom = (kind: WorkKind) => taken < size && (kind === 'read' || writes < writesMax)
  const waiting = () => waiters.read.length + waiters.write.length

  function open(kind: WorkKind): Slot {
    let isUnacknowledged = false
    taken += 1
    if (kind === 'write') writes += 1
    return {
      leave: () => {
        taken -= 1
        if (kind === 'write') writes -= 1
        if (isUnacknowledged) unacknowledged -= 1
        admitNext()
      },
      markUnacknowledged: () => {
        isUnacknowledged = true
        unacknowledged += 1
        if (unacknowledged >= writesMax) rejectAll(waiters.write.splice(0))
      },
    }
  }

  function admitNext(): void {
    const candidates = (['read', 'write'] as const).filter(
      (kind) => waiters[kind].length > 0 && hasRoom(kind),
    )
    const kind = candidates.sort((one, other) => arrivalOf(one) - arrivalOf(other))[0]
    const next = kind && waiters[kind].shift()
    if (kind === undefined || next === undefined) return
    clearTimeout(next.timer)
    next.resolve(open(kind))
  }

  const arrivalOf = (kind: WorkKind) => waiters[kind][0]?.arrival ?? 0

  function wait(kind: WorkKind): Promise<Slot> {
    const { promise, resolve, reject } = Promise.withResolvers<Slot>()
    // All timeouts are equal, so the first waiter in the queue is the first to time out.
    const timer = setTimeout(() => {
      waiters[kind].shift()
      reject(new AppError('overloaded'))
    }, waitMs)
    arrivals += 1
    waiters[kind].push({ arrival: arrivals, resolve, reject, timer })
    return promise
  }

  return {
    take: async (kind) => {
      if (hasRoom(kind)) return open(kind)
      // Every write slot has a write without a response: no write can commit. Reject at once to keep the queue free.
      if (kind === 'write' && unacknowledged >= writesMax) throw new AppError('unavailable')
      if (waiting() >= waitingMax) throw new AppError('overloaded')
      return wait(kind)
    },
    waiting,
    unacknowledged: () => unacknowledged,
  }
}

function rejectAll(waiters: Waiter[]): void {
  for (const { reject, timer } of waiters) {
    clearTimeout(timer)
    reject(new AppError('unavailable'))
  }
}
