// Random histories of the delivery to a webhook: failed reads, attempts and saves, crashes, stops and the retention. The
// state machine is real. The feed, the receiver and the database are models.
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Effect, Trigger } from '../../src/events/delivery/endpoint-state.ts'
import type { LeasedWebhook } from '../../src/events/delivery/lease-queries.ts'
import { type Message, messageId } from '../../src/events/delivery/message.ts'
import type { AttemptOutcome } from '../../src/events/delivery/outcome.ts'
import type { Progress, RetryRow } from '../../src/events/delivery/queries.ts'
import { openSchedule } from '../../src/events/delivery/schedule.ts'
import { apply, canSend, initialState } from '../../src/events/delivery/transitions.ts'
import type { Position } from '../../src/events/feed/format.ts'
import type { EventRow } from '../../src/events/feed/queries.ts'

const EPOCH = '0123456789ab'
const PETS = 4
const PAGE_SIZE = 3
/** No message is given up. */
const SCHEDULE = openSchedule(Array<number>(500).fill(1), () => 0)

const WEBHOOK = {
  id: 1n,
  url: 'https://shop.example/',
  types: ['pet.created'],
  restarts: 0n,
  epoch: EPOCH,
  failingSeconds: null,
  secrets: [],
} satisfies Partial<LeasedWebhook>

/** What the tables contain. Retries have the time at which they are due instead of `dueInSeconds`. */
function openTables() {
  const retries = new Map<string, RetryRow & { dueAt: number }>()
  const results = new Set<string>()
  let position = 0n
  let done: readonly bigint[] = []
  let requests = 0
  return {
    retries,
    results,
    position: () => position,
    /** Whether a process that loads the webhook sends this event. */
    hasEvent: (number: bigint) =>
      retries.has(`event ${number}`) || (number > position && !done.includes(number)),
    request: () => {
      requests += 1
      const row: RetryRow = {
        id: BigInt(requests),
        kind: 'test',
        epoch: null,
        number: null,
        petId: null,
        type: 'webhook.test',
        occurredAt: new Date(0),
        attempts: 0,
        dueInSeconds: 0,
      }
      retries.set(`request ${row.id}`, { ...row, dueAt: 0 })
    },
    load: (now: number) => ({
      webhook: { ...WEBHOOK, version: BigInt(requests), number: position, done: [...done] } as LeasedWebhook,
      rows: [...retries.values()]
        .map((row) => ({ ...row, dueInSeconds: (row.dueAt - now) / 1_000 }))
        .toSorted((one, other) => Number((one.number ?? 0n) - (other.number ?? 0n))),
    }),
    save: (progress: Progress, now: number) => {
      position = progress.position.number
      done = progress.done
      for (const id of progress.deletedIds) retries.delete(`request ${id}`)
      for (const number of progress.deletedNumbers) retries.delete(`event ${number}`)
      for (const { id, dueInSeconds, ...row } of progress.retries) {
        const key = id === null ? `event ${row.number}` : `request ${id}`
        const kind = id === null ? 'event' : 'test'
        retries.set(key, {
          ...row,
          id: id ?? 0n,
          kind,
          epoch: null,
          dueInSeconds,
          dueAt: now + dueInSeconds * 1_000,
        })
      }
      for (const { messageId: id, attempt, outcome } of progress.results)
        results.add(`${id} ${attempt} ${outcome}`)
    },
  }
}

/** A process that delivers, with the effects that it waits for. */
function openProcess(choose: (max: number) => number) {
  const tables = openTables()
  const feed: EventRow[] = []
  const firstAccepted: Message[] = []
  /** Results of this process, and of earlier ones as far as they were saved. */
  let reported = new Set<string>()
  let mayRepeat = new Set<string>()
  let purgedTo = 0n
  let now = 0
  let reading: Position | undefined
  let saving: Progress | undefined
  let inFlight: Message[] = []
  let state = initialState(tables.load(now).webhook, [], now)

  const newest = () => ({ epoch: EPOCH, number: BigInt(feed.length) })

  function cause(trigger: Trigger): void {
    const moment = { now, hasLease: true, schedule: SCHEDULE }
    for (const effect of apply(state, trigger, moment)) wait(effect)
    while (canSend(state, moment))
      for (const effect of apply(state, { kind: 'slot_taken' }, moment)) wait(effect)
  }

  function wait(effect: Effect): void {
    if (effect.kind === 'read') {
      expect(reading, 'two reads at once').toBeUndefined()
      reading = effect.after
    } else if (effect.kind === 'save') {
      expect(saving, 'two saves at once').toBeUndefined()
      saving = effect.progress
    } else if (effect.kind === 'send') {
      const { lane } = effect.message
      expect(inFlight.filter((message) => message.lane === lane)).toEqual([])
      inFlight.push(effect.message)
    }
  }

  function crash(): void {
    reported = new Set([...reported].filter((result) => tables.results.has(result)))
    mayRepeat = new Set(firstAccepted.map(messageId))
    for (const result of tables.results) {
      const [id = '', , outcome] = result.split(' ')
      if (outcome === 'delivered') mayRepeat.delete(id)
    }
    ;[reading, saving, inFlight] = [undefined, undefined, []]
    const { webhook, rows } = tables.load(now)
    state = initialState(webhook, rows, now)
  }

  function readPage(): void {
    if (reading === undefined) return
    const after = reading.number
    reading = undefined
    if (after < purgedTo) {
      const position = { epoch: EPOCH, number: purgedTo }
      return cause({ kind: 'page_read', page: { position, isNewEpoch: false } })
    }
    const rows = feed.slice(Number(after), Number(after) + PAGE_SIZE)
    cause({ kind: 'page_read', page: { rows, upTo: rows.at(-1)?.number ?? after } })
  }

  function endAttempt(code: number): void {
    const [message] = inFlight.splice(choose(inFlight.length), 1)
    if (message === undefined) return
    const isPurged = message.number !== null && message.number <= purgedTo
    const outcome: AttemptOutcome = isPurged
      ? { kind: 'failure', reason: 'not_stored', durationMs: 0 }
      : { kind: 'response', status: code, durationMs: 1 }
    const verdict = isPurged ? 'skipped' : code === 204 ? 'delivered' : 'failed'
    if (verdict === 'delivered') {
      const isRepeated = firstAccepted.some((other) => messageId(other) === messageId(message))
      if (isRepeated) expect(mayRepeat).toContain(messageId(message))
      else firstAccepted.push(message)
    }
    cause({ kind: 'attempt_ended', message, outcome })
    reported.add(`${messageId(message)} ${message.attempts} ${verdict}`)
  }

  function endSave(isCommitted: boolean, isReported: boolean): void {
    if (saving === undefined) return
    if (isCommitted) tables.save(saving, now)
    saving = undefined
    cause({ kind: isReported ? 'saved' : 'save_failed' })
    for (const { number } of feed) {
      if (number > purgedTo && !firstAccepted.some((message) => message.number === number))
        expect(tables.hasEvent(number), `event ${number} is lost`).toBe(true)
    }
    if (state.phase === 'over') crash()
  }

  const actions = {
    change: () => {
      const number = BigInt(feed.length + 1)
      feed.push({ number, petId: BigInt(choose(PETS)), type: 'pet.created', at: new Date(0) } as EventRow)
    },
    tick: () => cause({ kind: 'tick', newest: newest(), messagesMax: 100_000 }),
    read: readPage,
    failRead: () => {
      if (reading === undefined) return
      reading = undefined
      cause({ kind: 'read_failed' })
    },
    accept: () => endAttempt(204),
    reject: () => endAttempt(500),
    failAttempt: () => {
      const [message] = inFlight.splice(choose(inFlight.length), 1)
      if (message !== undefined) cause({ kind: 'not_sent', message })
    },
    save: () => endSave(true, true),
    failSave: () => endSave(false, false),
    /** The response to the commit is lost. */
    loseSave: () => endSave(true, false),
    wait: () => {
      now += choose(1_500)
    },
    request: () => {
      tables.request()
      const { webhook, rows } = tables.load(now)
      cause({
        kind: 'refreshed',
        webhook,
        rows: rows.filter(({ kind, id }) => kind === 'test' && id > state.lastRequestId),
      })
    },
    purge: () => {
      purgedTo = BigInt(Math.max(Number(purgedTo), choose(feed.length + 1)))
    },
    crash,
    stop: () => cause({ kind: 'stop' }),
  }
  const isIdle = () =>
    tables.position() === BigInt(feed.length) &&
    tables.retries.size + inFlight.length === 0 &&
    saving === undefined
  return { ...actions, isIdle, feed, tables, firstAccepted, purged: () => purgedTo, reported: () => reported }
}

type Action = Exclude<
  keyof ReturnType<typeof openProcess>,
  'isIdle' | 'feed' | 'tables' | 'firstAccepted' | 'purged' | 'reported'
>

const FREQUENCIES: [Action, number][] = [
  ['change', 5],
  ['tick', 5],
  ['read', 5],
  ['failRead', 1],
  ['accept', 5],
  ['reject', 3],
  ['failAttempt', 1],
  ['save', 4],
  ['failSave', 2],
  ['loseSave', 1],
  ['wait', 4],
  ['request', 1],
  ['purge', 1],
  ['crash', 1],
  ['stop', 1],
]
const ACTION = fc.oneof(
  ...FREQUENCIES.map(([action, weight]) => ({ arbitrary: fc.constant(action), weight })),
)
/** More than any history needs until it has delivered everything. */
const ROUNDS_MAX = 2_000

test('whatever fails, every event arrives in the order of its pet, none twice unless its result was lost, and no result is lost', () => {
  const histories = fc.array(ACTION, { maxLength: 300 })
  fc.assert(
    fc.property(histories, fc.infiniteStream(fc.nat({ max: 10_000 })), (history, random) => {
      const delivery = openProcess((max) => (random.next().value as number) % Math.max(1, max))
      for (const action of history) delivery[action]()
      for (let round = 0; round < ROUNDS_MAX && !delivery.isIdle(); round += 1)
        for (const action of ['tick', 'read', 'accept', 'save', 'wait'] as const) delivery[action]()
      expect(delivery.isIdle(), 'messages are stuck').toBe(true)
      const { feed, firstAccepted, tables } = delivery
      const numbers = new Set(firstAccepted.map(({ number }) => number))
      expect(feed.filter(({ number }) => number > delivery.purged() && !numbers.has(number))).toEqual([])
      for (let petId = 0n; petId < PETS; petId += 1n) {
        const ofPet = firstAccepted
          .filter((message) => message.petId === petId)
          .map(({ number }) => Number(number))
        expect(ofPet).toEqual(ofPet.toSorted((one, other) => one - other))
      }
      expect([...delivery.reported()].filter((result) => !tables.results.has(result))).toEqual([])
    }),
    { numRuns: 500 },
  )
})
