// The events that the drill has read: a hash of each, by its number. Finds events that are lost or changed later.
// Takes four bytes per event, because a full run reads about 800,000.
import type { Violation } from '../parts/violations.ts'

const INITIAL_SIZE = 1 << 16

export interface FeedEvent {
  position: string
  type: string
  occurredAt: string
  petId: number
  pet?: { name: string; categoryId: number; status: string }
  changed?: string[]
  order?: { id: number; petId: number; status: string }
  requestId?: string
}

export interface Position {
  epoch: string
  number: number
}

/**
 * Readers of the feed treat positions as opaque. The drill looks inside, to find gaps.
 * Returns undefined if the position has another form than `<epoch>-<number>`.
 */
export function readPosition(position: string): Position | undefined {
  const [, epoch, number] = /^([0-9a-f]+)-(\d+)$/.exec(position) ?? []
  return epoch === undefined ? undefined : { epoch, number: Number(number) }
}

/** FNV-1a, 32 bits, never 0. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  }
  return hash >>> 0 || 1
}

/** Covers everything that must never change once a reader has seen the event. */
function contentHash(event: FeedEvent): number {
  const { position, type, occurredAt, petId, pet, changed, order, requestId } = event
  return hashOf(JSON.stringify([position, type, occurredAt, petId, pet, changed, order, requestId]))
}

export class EventLog {
  #hashes = new Uint32Array(INITIAL_SIZE)

  /** Remembers the event. Reports an event with another content that was read under the same number earlier. */
  record(event: FeedEvent, { number }: Position): Violation[] {
    if (number >= this.#hashes.length) this.#hashes = grown(this.#hashes, number)
    const found = this.compare(event, { number })
    this.#hashes[number] = contentHash(event)
    return found
  }

  compare(event: FeedEvent, { number }: Pick<Position, 'number'>): Violation[] {
    const earlier = this.#hashes[number] ?? 0
    if (earlier === 0 || earlier === contentHash(event)) return []
    const text = `${event.position} is now ${event.type} of pet ${event.petId}, and was another event`
    return [{ kind: 'eventChanged', subject: event.position, text }]
  }
}

/** A copy with place for this index. */
function grown(values: Uint32Array, index: number): Uint32Array<ArrayBuffer> {
  const copy = new Uint32Array(Math.max(index + 1, values.length * 2))
  copy.set(values)
  return copy
}

/** Checks the positions that one reader of the feed gets: one epoch, consecutive numbers. */
export class PositionCheck {
  #last: Position | undefined

  /** The first position must follow `after`, unless that is undefined. */
  constructor(after?: Position) {
    this.#last = after
  }

  get last(): Position | undefined {
    return this.#last
  }

  /** Returns the position, or undefined if it is malformed. */
  next(text: string, report: (violation: Violation) => void): Position | undefined {
    const last = this.#last
    const position = readPosition(text)
    if (position === undefined) {
      report({ kind: 'feedGap', subject: text, text: `position ${text} is malformed` })
      return undefined
    }
    this.#last = position
    if (last === undefined) return position
    const { epoch, number } = position
    if (epoch !== last.epoch) {
      const violation = `epoch ${last.epoch} was followed by ${epoch}, although the drill starts no epoch`
      report({ kind: 'feedExpired', subject: epoch, text: violation })
    } else if (number !== last.number + 1) {
      report({ kind: 'feedGap', subject: text, text: `${text} follows ${last.epoch}-${last.number}` })
    }
    return position
  }
}
