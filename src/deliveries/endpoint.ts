// Delivers to one webhook: reads its events, sends them with bounded concurrency, and saves the progress.
// The process must have the lease of the webhook; deliverer.ts takes and renews it.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Db } from '../db/database.ts'
import type { Position } from '../events/format.ts'
import type { Log } from '../telemetry/log.ts'
import type { DeliveryOutcome, DisabledReason } from '../webhooks/schema.ts'
import {
  attempt,
  type AttemptOutcome,
  type AttemptServices,
  isAborted,
  isGone,
  retryAfterMs,
  toResult,
  verdictOf,
} from './attempt.ts'
import type { FeedWindow } from './feed-window.ts'
import { trackHealth } from './health.ts'
import { openLanes } from './lanes.ts'
import type { LeasedWebhook } from './lease-queries.ts'
import { eventMessage, type Message, retryMessage } from './message.ts'
import { saveProgress, trackProgress } from './progress.ts'
import { deleteEventRetries, findRetries, LeaseLost, type RetryRow } from './queries.ts'
import { DISABLED_AFTER_MS, type Schedule } from './schedule.ts'
import type { TotalSlots } from './total-slots.ts'

/** Max attempts in flight per webhook. */
export const IN_FLIGHT_MAX = 16
/** Max events in memory that are neither delivered nor stored as a retry. */
const HELD_MAX = 1_000
/** Max messages that wait for a retry, with later events of the same pets. At this number, no further event is read. */
const RETRIES_MAX = 10_000
/** The limit is checked before a page is read, so more messages than RETRIES_MAX may be stored. */
const RETRIES_LOADED_MAX = 2 * RETRIES_MAX
/** Max results that are not saved yet: so many messages are sent again if the process is killed. */
const UNSAVED_MAX = 300
const SAVED_EVERY_MS = 100
/** The position of a webhook without deliveries is saved less often. */
const POSITION_SAVED_EVERY_MS = 5_000
const READ_AGAIN_AFTER_MS = 1_000
/** Max time that attempts in flight get to end when the process stops. */
const STOPPED_WITHIN_MS = 8_000

export interface EndpointServices extends AttemptServices {
  db: Db
  /** Identifies this process. */
  deliverer: string
  feed: FeedWindow
  slots: TotalSlots
  schedule: Schedule
  /** Whether the lease is valid, with time to spare. */
  hasLease: () => boolean
  observe: (outcome: DeliveryOutcome, durationMs: number) => void
  log: Log
}

export interface Endpoint {
  /** Reads, sends and saves what is due. Called several times a second; returns at once. */
  advance: () => void
  /** Takes over the secrets and the requested messages of the webhook. */
  refresh: (webhook: LeasedWebhook) => Promise<void>
  restarts: bigint
  version: () => bigint
  /** True if the delivery must start again from the state in the database. */
  isOver: () => boolean
  /** Seconds since the oldest event that is not delivered; 0 if there is none. */
  lagSeconds: () => number
  isFailing: () => boolean
  /** Waits for the attempts in flight, and saves the progress. */
  stop: () => Promise<void>
  /** Ends at once, without saving. */
  abort: () => void
}

export async function openEndpoint(start: LeasedWebhook, services: EndpointServices): Promise<Endpoint> {
  const { db, deliverer, feed, slots, schedule, log } = services
  const { id: webhookId, restarts } = start
  const now = () => performance.now()
  const lanes = openLanes()
  const unsaved = trackProgress(lanes, start.done)
  /** Events after the position that are done, or wait in webhook_retries. They are not sent a second time. */
  const known = new Set(start.done)
  const health = trackHealth(
    schedule,
    IN_FLIGHT_MAX,
    start.failingSeconds === null ? undefined : now() - start.failingSeconds * 1_000,
  )
  /** All messages that are not done, oldest first. */
  const waiting = new Set<Message>()
  const aborting = new AbortController()
  let webhook = start
  let read: Position = { epoch: start.epoch, number: start.number }
  let saved = start.number
  let savedAt = now()
  let saving: Promise<void> | undefined
  let lastRequest = 0n
  let inFlight = 0
  let isReading = false
  let readAgainAt = 0
  let state: 'running' | 'stopping' | 'over' = 'running'
  let disable: DisabledReason | undefined

  function add(message: Message): void {
    waiting.add(message)
    lanes.add(message, now())
  }

  function addRetry(row: RetryRow): void {
    const message = retryMessage(row, now())
    if (row.kind !== 'event' && row.id > lastRequest) lastRequest = row.id
    if (row.kind === 'event' && row.number !== null) known.add(row.number)
    if (row.kind !== 'event' || webhook.types.some((type) => type === row.type)) add(message)
    // The webhook no longer gets events of this type.
    else unsaved.finish(message)
  }

  function end(): void {
    state = 'over'
    aborting.abort()
  }

  function canRead(): boolean {
    const newest = feed.newest()
    if (newest === undefined || isReading || now() < readAgainAt) return false
    const isBehind = newest.epoch !== read.epoch || newest.number > read.number
    return isBehind && unsaved.held() < HELD_MAX && lanes.size() < RETRIES_MAX
  }

  async function readMore(): Promise<void> {
    isReading = true
    try {
      const page = await feed.after(read, webhook.types)
      if ('position' in page) {
        await skipTo(page.position, page.isNewEpoch)
        return
      }
      for (const row of page.rows.filter(({ number }) => !known.delete(number))) {
        const message = eventMessage(row)
        unsaved.add(message)
        add(message)
      }
      read = { epoch: read.epoch, number: page.next }
      sendDue()
    } catch (err) {
      readAgainAt = now() + READ_AGAIN_AFTER_MS
      log.warn({ err, webhookId }, 'the events of a webhook could not be read')
    } finally {
      isReading = false
    }
  }

  /** The webhook never gets the events between: the retention has deleted them, or a new epoch has begun. */
  async function skipTo(position: Position, isNewEpoch: boolean): Promise<void> {
    log.warn(
      { webhookId, from: read, to: position, isNewEpoch },
      'a webhook skips events that are not stored',
    )
    await saving
    if (isNewEpoch) await deleteEventRetries(db, webhookId)
    const { progress } = unsaved.take(position, now())
    await saveProgress(db, deliverer, { ...leased(), ...progress, position, done: [] })
    end()
  }

  function canSend(): boolean {
    const hasRoom = inFlight < IN_FLIGHT_MAX && unsaved.results() < UNSAVED_MAX
    return state === 'running' && disable === undefined && hasRoom && services.hasLease()
  }

  function sendDue(): void {
    while (canSend()) {
      // A test event is sent even if the receiver is down.
      const requestedOnly = !health.hasRoom(now(), inFlight)
      if (!lanes.hasDue(now(), requestedOnly) || !slots.take(sendDue)) return
      void send(lanes.take(now(), requestedOnly) as Message)
    }
  }

  async function send(message: Message): Promise<void> {
    inFlight += 1
    try {
      const outcome = await attempt(message, webhook, services, aborting.signal)
      if (state !== 'over' && !isAborted(outcome)) settle(message, outcome)
    } catch (err) {
      // Does not count as an attempt.
      log.warn({ err, webhookId }, 'the event of a webhook could not be read')
      message.dueAt = now() + READ_AGAIN_AFTER_MS
      lanes.retry(message)
    } finally {
      inFlight -= 1
      slots.release()
      sendDue()
    }
  }

  function settle(message: Message, outcome: AttemptOutcome): void {
    message.attempts += 1
    message.row = undefined
    const verdict = verdictOf(message, outcome, schedule)
    services.observe(verdict, outcome.durationMs)
    unsaved.report(toResult(message, read.epoch, outcome, verdict))
    if (verdict === 'delivered') health.succeeded()
    else if (verdict !== 'skipped') noteFailure(message, outcome)
    if (verdict === 'failed') {
      message.dueAt = now() + Math.max(schedule.retryMs(message.attempts) ?? 0, retryAfterMs(outcome))
      unsaved.store(message)
      lanes.retry(message)
    } else {
      waiting.delete(message)
      lanes.finish(message, now())
      unsaved.finish(message)
    }
  }

  function noteFailure(message: Message, outcome: AttemptOutcome): void {
    health.failed(message.lane, now(), retryAfterMs(outcome))
    const failingMs = now() - (health.failingSince() ?? now())
    if (isGone(outcome)) disable = 'gone'
    else if (failingMs > DISABLED_AFTER_MS) disable = 'failing'
    if (disable !== undefined) log.warn({ webhookId, reason: disable }, 'a webhook was disabled')
  }

  function leased() {
    const since = health.failingSince()
    const failingSeconds = since === undefined ? null : (now() - since) / 1_000
    return { webhookId, restarts, failingSeconds, disable }
  }

  async function save(): Promise<void> {
    savedAt = now()
    const { progress, restore } = unsaved.take(read, now())
    try {
      await saveProgress(db, deliverer, { ...leased(), ...progress })
      saved = progress.position.number
      if (disable !== undefined) end()
    } catch (err) {
      restore()
      if (err instanceof LeaseLost) end()
      else log.warn({ err, webhookId }, 'the progress of a webhook could not be saved')
    } finally {
      saving = undefined
    }
  }

  function saveDue(): void {
    const hasChanges = unsaved.hasChanges() || disable !== undefined
    const dueAt = savedAt + (hasChanges ? SAVED_EVERY_MS : POSITION_SAVED_EVERY_MS)
    if (saving !== undefined || now() < dueAt) return
    if (hasChanges || saved !== read.number) saving = save()
  }

  const stored = await findRetries(db, webhookId, ['event', 'redelivery', 'test'], 0n, RETRIES_LOADED_MAX)
  for (const row of stored) addRetry(row)

  return {
    restarts,
    version: () => webhook.version,
    isOver: () => state === 'over',
    advance: () => {
      if (state !== 'running') return
      if (canRead()) void readMore()
      sendDue()
      saveDue()
    },
    refresh: async (changed) => {
      webhook = { ...webhook, secrets: changed.secrets, version: changed.version }
      const requested = await findRetries(db, webhookId, ['redelivery', 'test'], lastRequest, RETRIES_MAX)
      for (const row of requested) addRetry(row)
      sendDue()
    },
    lagSeconds: () => {
      const [oldest] = waiting
      return oldest === undefined ? 0 : Math.max(0, (Date.now() - oldest.occurredAt.getTime()) / 1_000)
    },
    isFailing: () => health.isDown(),
    abort: end,
    stop: async () => {
      if (state === 'running') state = 'stopping'
      const giveUpAt = now() + STOPPED_WITHIN_MS
      const isSending = () => inFlight > 0 && now() < giveUpAt
      while (isSending()) await sleep(20)
      await saving
      if (state === 'stopping' && services.hasLease()) await save()
      end()
    },
  }
}
