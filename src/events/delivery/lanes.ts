// The messages of one webhook that are not done, also those in flight, in lanes: messages of one pet are sent one after the
// other, in the order of the feed. A message that waits for its retry holds back only its own lane. Each requested message
// is a lane.
import type { Message } from './message.ts'

export interface Lanes {
  size: () => number
  /** Adds a message to the end of its lane. */
  add: (message: Message, now: number) => void
  /** The first message of the lane. */
  firstOf: (lane: string) => Message | undefined
  /** Whether `take` would return a message. */
  hasDue: (now: number, requestedOnly: boolean) => boolean
  /** Takes a message that is due; it is then in flight. With `requestedOnly`, takes only requests without an attempt. */
  take: (now: number, requestedOnly: boolean) => Message | undefined
  /** The message, the first of its lane, needs no further attempt: the next message of the lane follows. */
  finish: (message: Message, now: number) => void
  /** The message needs another attempt, at `dueAt`. */
  retry: (message: Message) => void
}

export function openLanes(): Lanes {
  const lanes = new Map<string, Message[]>()
  const firsts = openFirsts()
  let size = 0

  return {
    size: () => size,
    firstOf: (lane) => lanes.get(lane)?.[0],
    add: (message, now) => {
      size += 1
      const lane = lanes.get(message.lane)
      if (lane === undefined) {
        lanes.set(message.lane, [message])
        firsts.add(message, now)
      } else {
        lane.push(message)
      }
    },
    hasDue: (now, requestedOnly) => firsts.findDue(now, requestedOnly) >= 0,
    take: (now, requestedOnly) => {
      const message = firsts.takeAt(firsts.findDue(now, requestedOnly))
      if (message === undefined) return undefined
      message.state = 'in_flight'
      message.sentAt = now
      return message
    },
    finish: (message, now) => {
      size -= 1
      if (message.state === 'waiting') firsts.remove(message)
      message.state = 'done'
      const lane = lanes.get(message.lane)
      lane?.shift()
      const next = lane?.[0]
      if (next === undefined) lanes.delete(message.lane)
      else firsts.add(next, now)
    },
    retry: (message) => {
      message.state = 'waiting'
      firsts.sleep(message)
    },
  }
}

/** The first messages of all lanes, unless they are in flight. */
function openFirsts() {
  /** In the order in which they became due. */
  const due: Message[] = []
  /** Not due yet, in no order. */
  const sleeping = new Set<Message>()
  /** When the first of them is due. Until then, `wake` need not look at all of them. */
  let nextWakeAt = Number.POSITIVE_INFINITY

  function sleep(message: Message): void {
    sleeping.add(message)
    nextWakeAt = Math.min(nextWakeAt, message.dueAt)
  }

  /** Moves the messages that have become due from `sleeping` to `due`. */
  function wake(now: number): void {
    if (now < nextWakeAt) return
    nextWakeAt = Number.POSITIVE_INFINITY
    for (const message of sleeping) {
      if (message.dueAt <= now) {
        sleeping.delete(message)
        due.push(message)
      } else {
        nextWakeAt = Math.min(nextWakeAt, message.dueAt)
      }
    }
  }

  return {
    sleep,
    remove: (message: Message): void => {
      if (!sleeping.delete(message)) due.splice(due.indexOf(message), 1)
    },
    add: (message: Message, now: number): void => {
      if (message.dueAt <= now) due.push(message)
      else sleep(message)
    },
    /** The index of a message that is due, or -1. */
    findDue: (now: number, requestedOnly: boolean): number => {
      wake(now)
      if (requestedOnly) return due.findIndex(isFreshRequest)
      return due.length > 0 ? 0 : -1
    },
    takeAt: (index: number): Message | undefined => (index < 0 ? undefined : due.splice(index, 1)[0]),
  }
}

/** A request that has failed waits until the receiver works, like an event. */
function isFreshRequest({ kind, attempts }: Message): boolean {
  return kind !== 'event' && attempts === 0
}
