// The messages of one webhook that are not done, also those in flight, in lanes: messages of one pet are sent one after the
// other, in the order of the feed. A message that waits for its retry holds back only its own lane. Each requested message
// is a lane.
import type { Message } from './message.ts'

/** Only functions that transitions.ts calls change it. */
export interface Lanes {
  /** The messages of each lane. Only its first one is also in `due` or `sleeping`, unless it is in flight. */
  messages: Map<string, Message[]>
  /** In the order in which they became due. */
  due: Message[]
  /** Not due when `wake` was called last, in no order. */
  sleeping: Set<Message>
  /** When the first of them is due. Until then, `wake` need not look at all of them. */
  nextWakeAt: number
}

export const initialLanes = (): Lanes => ({
  messages: new Map(),
  due: [],
  sleeping: new Set(),
  nextWakeAt: Number.POSITIVE_INFINITY,
})

/** The first message of the lane. */
export const firstOf = ({ messages }: Readonly<Lanes>, lane: string): Message | undefined =>
  messages.get(lane)?.[0]

/** Adds a message to the end of its lane. */
export function addToLane(lanes: Lanes, message: Message, now: number): void {
  const lane = lanes.messages.get(message.lane)
  if (lane === undefined) {
    lanes.messages.set(message.lane, [message])
    addFirst(lanes, message, now)
  } else {
    lane.push(message)
  }
}

function addFirst(lanes: Lanes, message: Message, now: number): void {
  if (message.dueAt <= now) lanes.due.push(message)
  else sleep(lanes, message)
}

function sleep(lanes: Lanes, message: Message): void {
  lanes.sleeping.add(message)
  lanes.nextWakeAt = Math.min(lanes.nextWakeAt, message.dueAt)
}

/** Moves the messages that have become due from `sleeping` to `due`. */
export function wake(lanes: Lanes, now: number): void {
  const { due, sleeping } = lanes
  if (now < lanes.nextWakeAt) return
  lanes.nextWakeAt = Number.POSITIVE_INFINITY
  for (const message of sleeping) {
    if (message.dueAt <= now) {
      sleeping.delete(message)
      due.push(message)
    } else {
      lanes.nextWakeAt = Math.min(lanes.nextWakeAt, message.dueAt)
    }
  }
}

/** Whether `takeDue` would return a message. */
export const hasDue = (lanes: Readonly<Lanes>, requestedOnly: boolean): boolean =>
  findDue(lanes, requestedOnly) !== undefined

const findDue = ({ due }: Readonly<Lanes>, requestedOnly: boolean) =>
  requestedOnly ? due.find(isFreshRequest) : due[0]

/** A request that has failed waits until the receiver works, like an event. */
function isFreshRequest({ kind, attempts }: Message): boolean {
  return kind !== 'event' && attempts === 0
}

/** Takes a message that is due; it is then in flight. With `requestedOnly`, takes only requests without an attempt. */
export function takeDue(lanes: Lanes, now: number, requestedOnly: boolean): Message | undefined {
  const message = findDue(lanes, requestedOnly)
  if (message === undefined) return undefined
  removeDue(lanes, message)
  message.state = 'in_flight'
  message.sentAt = now
  return message
}

function removeDue({ due }: Lanes, message: Message): void {
  due.splice(due.indexOf(message), 1)
}

/** The message, the first of its lane, needs no further attempt: the next message of the lane follows. */
export function finishFirst(lanes: Lanes, message: Message, now: number): void {
  if (message.state === 'waiting' && !lanes.sleeping.delete(message)) removeDue(lanes, message)
  message.state = 'done'
  const lane = lanes.messages.get(message.lane)
  lane?.shift()
  const next = lane?.[0]
  if (next === undefined) lanes.messages.delete(message.lane)
  else addFirst(lanes, next, now)
}

/** The message, the first of its lane, needs another attempt, at `dueAt`. */
export function retryFirst(lanes: Lanes, message: Message): void {
  message.state = 'waiting'
  sleep(lanes, message)
}
