// The events that the drill has read: a hash of each, by its number. Finds events that are lost or changed later.
// Takes four bytes per event, because a full run reads about 800,000. Knows nothing about HTTP.
import type { Violation } from '../violations.ts'
import { contentHash, type FeedEvent, type Position, readPosition } from './events.ts'

const INITIAL_SIZE = 1 << 16

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
export function grown(values: Uint32Array, index: number): Uint32Array<ArrayBuffer> {
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
