// Follows the event feed through the load balancer, and reads parts of it a second time.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Activity } from '../parts/activity.ts'
import { Mirror } from '../parts/mirror.ts'
import type { Random } from '../parts/random.ts'
import type { Violations } from '../parts/violations.ts'
import { type Client, type Reply, waitPolitely } from './client.ts'
import { EventLog, type FeedEvent, type Position, PositionCheck, readPosition } from './feed-log.ts'
import { openLag } from './feed-lag.ts'

const PAGE_EVENTS = 1_000
const POLL_MS = 100
const START = `/events?limit=${PAGE_EVENTS}`
const READ_AGAIN_TIMEOUT_MS = 300_000

interface FollowerOptions {
  client: Client
  random: Random
  activity: Activity
  violations: Violations
}

export function startFollower(options: FollowerOptions): Follower {
  const follower = new Follower(options)
  follower.start()
  return follower
}

export class Follower {
  readonly lag = openLag((petId) => this.#mirror.wasCreated(petId))
  readonly #options: FollowerOptions
  readonly #log = new EventLog()
  readonly #stopping = new AbortController()
  #running = Promise.resolve()
  #mirror = new Mirror()
  #positions = new PositionCheck()
  #first: Position | undefined
  #next = START
  #events = 0
  /** When the last page that was empty was requested. */
  #quietAt = 0

  constructor(options: FollowerOptions) {
    this.#options = options
  }

  get mirror(): Mirror {
    return this.#mirror
  }

  /** Number of events read, without those that were read again. */
  get events(): number {
    return this.#events
  }

  /** The path of the next page. */
  get next(): string {
    return this.#next
  }

  start(): void {
    this.#running = this.#follow()
    // A failed follower is a defect of the drill. `stop` throws its error.
    this.#running.catch(() => {})
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#running
  }

  /** Waits until a page that was requested after this call was empty. Returns false after the timeout. */
  async waitUntilQuiet(timeoutMs: number): Promise<boolean> {
    const since = performance.now()
    while (this.#quietAt < since) {
      if (performance.now() > since + timeoutMs) return false
      await sleep(POLL_MS)
    }
    return true
  }

  /**
   * Reads the feed again from this page up to the newest event that was read, and reports what differs. Returns the
   * number of events.
   */
  async readAgain(from = START): Promise<number> {
    const { violations } = this.#options
    const end = this.#positions.last ?? { epoch: '', number: 0 }
    const positions = new PositionCheck(from === START ? before(this.#first) : positionIn(from))
    const deadline = performance.now() + READ_AGAIN_TIMEOUT_MS
    let count = 0
    for (let path = from; (positions.last?.number ?? 0) < end.number; ) {
      const reply = await this.#readPage(path)
      if (performance.now() > deadline) throw new Error(`the feed cannot be read again: ${reply.result}`)
      if (reply.outcome !== 'done' && reply.status !== 410) continue
      const page = reply.status === 410 ? [] : (reply.body as FeedEvent[])
      for (const event of page) {
        const position = positions.next(event.position, violations.add)
        if (position !== undefined) this.#log.compare(event, position).forEach(violations.add)
      }
      count += page.length
      if (page.length === 0) {
        const last = `${end.epoch}-${end.number}`
        const text = `${last} was read, and ${path} now returns ${reply.result} without events`
        violations.add({ kind: 'eventChanged', subject: last, text })
        break
      }
      path = reply.next ?? path
    }
    return count
  }

  async #follow(): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      const requestedAt = performance.now()
      const reply = await this.#readPage(this.#next)
      if (reply.status === 410) this.#restart()
      if (reply.outcome !== 'done') continue
      const page = reply.body as FeedEvent[]
      for (const event of page) this.#receive(event)
      this.#next = reply.next ?? this.#next
      if (page.length === 0) this.#quietAt = requestedAt
      if (page.length < PAGE_EVENTS) await sleep(POLL_MS)
    }
  }

  /** Waits before it returns a failure, so that the caller can retry at once. */
  async #readPage(path: string): Promise<Reply> {
    const { client, random, violations } = this.#options
    const reply = await client.send('listEvents', { method: 'GET', path })
    if (reply.outcome !== 'done') await waitPolitely(reply, random)
    else if (reply.next === undefined) {
      const text = 'listEvents returned no Link to the next page'
      violations.add({ kind: 'undocumented', subject: path, text })
    }
    return reply
  }

  #receive(event: FeedEvent): void {
    const { activity, violations } = this.#options
    this.#events += 1
    activity.record('events')
    const position = this.#positions.next(event.position, violations.add)
    if (position === undefined) return
    this.#first ??= position
    this.#log.record(event, position).forEach(violations.add)
    const fault = this.#mirror.apply(event)
    if (fault !== undefined) {
      const text = `${event.position}, ${fault}`
      violations.add({ kind: 'eventUnexpected', subject: event.position, text })
    }
    if (event.type === 'pet.created') this.lag.see(event.petId)
  }

  /** After 410: events that were read are lost, so the position is ahead of the feed. Starts again, with a new mirror. */
  #restart(): void {
    const { last } = this.#positions
    const where = last === undefined ? 'the start' : `${last.epoch}-${last.number}`
    const text = `after ${where}: 410, without a new epoch`
    this.#options.violations.add({ kind: 'feedExpired', subject: where, text })
    this.#next = START
    this.#mirror = new Mirror()
    this.#positions = new PositionCheck()
    this.#first = undefined
    this.#events = 0
  }
}

function before(position: Position | undefined): Position | undefined {
  return position && { epoch: position.epoch, number: position.number - 1 }
}

/** The position in the path of a page. */
function positionIn(path: string): Position | undefined {
  return readPosition(new URLSearchParams(path.split('?')[1]).get('after') ?? '')
}
