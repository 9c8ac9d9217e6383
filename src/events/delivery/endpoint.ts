// Delivers to one webhook: runs the effects of the state machine in endpoint-state.ts, and dispatches how they ended.
// The process must have the lease of the webhook; leases.ts takes and renews it.
import type { Db } from '../../db/database.ts'
import type { Log } from '../../telemetry/log.ts'
import { textBytes } from '../feed/row-bytes.ts'
import { DELIVERY_KINDS, type DeliveryKind, type DeliveryOutcome } from '../webhooks/schema.ts'
import { attempt, type AttemptServices, bodyOf, type LoadEvent } from './attempt.ts'
import type { Effect, EndpointState, Conditions, Trigger } from './endpoint-state.ts'
import { isDown } from './health.ts'
import type { LeasedWebhook } from './lease-queries.ts'
import { ATTEMPT_BYTES } from './memory.ts'
import type { Message } from './message.ts'
import { saveProgress } from './progress.ts'
import { findWebhookRetries, LeaseLost, type Progress } from './queries.ts'
import type { Schedule } from './schedule.ts'
import type { TotalSlots } from './total-slots.ts'
import { apply, canSend, initialState, RETRIES_MAX } from './transitions.ts'
import type { WebhookFeed } from './webhook-feed.ts'

/** RETRIES_MAX is checked before a page of events is read, so the table can contain more rows than that. */
const RETRIES_LOADED_MAX = 2 * RETRIES_MAX
const REQUESTED_KINDS: readonly DeliveryKind[] = ['redelivery', 'test']
/** Max time that attempts in flight get to end when the process stops. */
const STOPPED_WITHIN_MS = 8_000

type ReadEffect = Extract<Effect, { kind: 'read' }>

export interface EndpointServices extends AttemptServices {
  db: Db
  /** Identifies this process. */
  deliverer: string
  feed: WebhookFeed
  slots: TotalSlots
  loadEvent: LoadEvent
  schedule: Schedule
  /** Whether the lease is valid, with time to spare. */
  hasLease: () => boolean
  observe: (outcome: DeliveryOutcome, durationMs: number) => void
  log: Log
}

export interface Endpoint {
  /**
   * Reads, sends and saves what is due. Called several times a second; returns at once.
   * @param messagesMax At this number of messages, no further event is read.
   */
  advance: (messagesMax: number) => void
  /** Takes over the secrets, the requested messages and the version. If it fails, `version` stays as it was. */
  refresh: (webhook: LeasedWebhook) => Promise<void>
  /** The version of the webhook that was taken over last. */
  version: () => bigint
  /** Never changes: a webhook with other `restarts` needs a new endpoint. */
  restarts: bigint
  /** True if this endpoint has ended. To continue, the webhook must be loaded again. */
  isOver: () => boolean
  /** Seconds since the oldest event that is not delivered; 0 if there is none. */
  lagSeconds: () => number
  /** Number of messages that are not done. */
  messageCount: () => number
  /** Whether attempts of several lanes have failed without a success in between. */
  isReceiverDown: () => boolean
  /** Waits for the attempts in flight, and saves the progress. */
  stop: () => Promise<void>
  /** Ends at once, without saving. */
  abort: () => void
}

export async function openEndpoint(loaded: LeasedWebhook, services: EndpointServices): Promise<Endpoint> {
  const { db, feed, slots, hasLease, schedule, log } = services
  const { id: webhookId, restarts } = loaded
  const retries = await findWebhookRetries(db, webhookId, DELIVERY_KINDS, 0n, RETRIES_LOADED_MAX)
  const state = initialState(loaded, retries, performance.now())
  const aborting = new AbortController()
  const over = Promise.withResolvers<void>()
  let messagesMax = 0
  const conditions = (): Conditions => ({ now: performance.now(), hasLease: hasLease(), schedule })

  function dispatch(trigger: Trigger): void {
    for (const effect of apply(state, trigger, conditions())) run(effect)
    sendDue()
  }

  /** Starts attempts until none is due or no slot is free. When a slot is free for this webhook, `slots` calls it again. */
  function sendDue(): void {
    for (;;) {
      const at = conditions()
      if (!canSend(state, at) || !slots.take(sendDue)) return
      for (const effect of apply(state, { kind: 'slot_taken' }, at)) run(effect)
    }
  }

  const tick = () => dispatch({ kind: 'tick', newest: feed.newest(), messagesMax })

  /** Reads on at once after a page with events: large events come in small pages. */
  async function readPage(effect: ReadEffect): Promise<void> {
    const trigger = await read(webhookId, effect, services)
    dispatch(trigger)
    if (hasEvents(trigger)) tick()
  }

  /** Starts the effect. How it ends is dispatched later, never before `run` returns. */
  function run(effect: Effect): void {
    if (effect.kind === 'read') void readPage(effect)
    else if (effect.kind === 'send')
      void send(effect.message, state.webhook, services, aborting.signal).then(dispatch)
    else if (effect.kind === 'save') void save(effect.progress, services).then(dispatch)
    else if (effect.kind === 'observe') services.observe(effect.outcome, effect.durationMs)
    else if (effect.kind === 'warn') log.warn({ webhookId, ...effect.fields }, effect.message)
    else if (effect.kind === 'end') {
      aborting.abort()
      over.resolve()
    }
  }

  return {
    restarts,
    version: () => state.webhook.version,
    isOver: () => state.phase === 'over',
    advance: (max) => {
      messagesMax = max
      tick()
    },
    refresh: async (webhook) => {
      const rows = await findWebhookRetries(db, webhookId, REQUESTED_KINDS, state.lastRequestId, RETRIES_MAX)
      dispatch({ kind: 'refreshed', webhook, rows })
    },
    lagSeconds: () => lagSecondsOf(state),
    messageCount: () => state.unfinished.size,
    isReceiverDown: () => isDown(state.health),
    abort: () => dispatch({ kind: 'abort' }),
    stop: () => stopWithin(STOPPED_WITHIN_MS, dispatch, over.promise),
  }
}

function lagSecondsOf({ unfinished }: EndpointState): number {
  // Events are added in the order of the feed; only after a load, stored retries come first. Tests and redeliveries do not count.
  const oldest = unfinished.values().find(({ kind }) => kind === 'event')
  return oldest === undefined ? 0 : Math.max(0, (Date.now() - oldest.occurredAt.getTime()) / 1_000)
}

async function stopWithin(
  timeoutMs: number,
  dispatch: (trigger: Trigger) => void,
  over: Promise<void>,
): Promise<void> {
  dispatch({ kind: 'stop' })
  const timer = setTimeout(() => dispatch({ kind: 'stop_timeout' }), timeoutMs)
  await over
  clearTimeout(timer)
}

const hasEvents = (trigger: Trigger) =>
  trigger.kind === 'page_read' && 'rows' in trigger.page && trigger.page.rows.length > 0

async function read(
  webhookId: bigint,
  { after, types, max }: ReadEffect,
  { feed, log }: EndpointServices,
): Promise<Trigger> {
  try {
    return { kind: 'page_read', page: await feed.after(after, types, max) }
  } catch (err) {
    log.warn({ err, webhookId }, 'the events of a webhook could not be read')
    return { kind: 'read_failed' }
  }
}

async function send(
  message: Readonly<Message>,
  webhook: LeasedWebhook,
  services: EndpointServices,
  signal: AbortSignal,
): Promise<Trigger> {
  const { slots, loadEvent } = services
  let bytes = ATTEMPT_BYTES
  try {
    const body = await bodyOf(message, webhook, loadEvent)
    const needed = textBytes(body?.length ?? 0)
    slots.resize(bytes, needed)
    bytes = needed
    const outcome = await attempt(message, body, webhook, services, signal)
    return { kind: 'attempt_ended', message, outcome }
  } catch (err) {
    services.log.warn({ err, webhookId: webhook.id }, 'the event of a webhook could not be read')
    return { kind: 'not_sent', message }
  } finally {
    slots.release(bytes)
  }
}

async function save(progress: Progress, { db, deliverer, log }: EndpointServices): Promise<Trigger> {
  try {
    await saveProgress(db, deliverer, progress)
    return { kind: 'saved' }
  } catch (err) {
    if (err instanceof LeaseLost) return { kind: 'abort' }
    log.warn({ err, webhookId: progress.webhookId }, 'the progress of a webhook could not be saved')
    return { kind: 'save_failed' }
  }
}
