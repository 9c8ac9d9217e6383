// The state machine of the delivery to a webhook, without a clock, a database and HTTP: each transition by itself. The test
// delivery-histories.test.ts combines them at random.
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import type { Effect, EndpointState, Trigger } from '../../src/events/delivery/endpoint-state.ts'
import { isDown } from '../../src/events/delivery/health.ts'
import { wake } from '../../src/events/delivery/lanes.ts'
import type { LeasedWebhook } from '../../src/events/delivery/lease-queries.ts'
import type { Message } from '../../src/events/delivery/message.ts'
import type { AttemptOutcome } from '../../src/events/delivery/outcome.ts'
import type { RetryRow } from '../../src/events/delivery/queries.ts'
import { openSchedule } from '../../src/events/delivery/schedule.ts'
import { apply, canSend, initialState } from '../../src/events/delivery/transitions.ts'
import type { EventRow } from '../../src/events/feed/queries.ts'

const EPOCH = '0123456789ab'
const DAY_MS = 24 * 3_600_000

const WEBHOOK: LeasedWebhook = {
  id: 1n,
  url: 'https://shop.example/',
  types: ['pet.created'],
  version: 1n,
  restarts: 3n,
  epoch: EPOCH,
  number: 0n,
  done: [],
  failingSeconds: null,
  secrets: [],
}

const REQUEST: RetryRow = {
  id: 9n,
  kind: 'test',
  epoch: null,
  number: null,
  petId: null,
  type: 'webhook.test',
  occurredAt: new Date(0),
  attempts: 0,
  dueInSeconds: 0,
}
const RETRY: RetryRow = { ...REQUEST, id: 1n, kind: 'event', number: 1n, petId: 1n, type: 'pet.created' }

const event = (number: number, petId = number) =>
  ({ number: BigInt(number), petId: BigInt(petId), type: 'pet.created', at: new Date(0) }) as EventRow
/** The numbers from 1, each of another pet. */
const events = (count: number) => Array.from({ length: count }, (_, index) => event(index + 1))
const at = (number: number) => ({ epoch: EPOCH, number: BigInt(number) })
const status = (code: number): AttemptOutcome => ({ kind: 'response', status: code, durationMs: 5 })

const openMachine = (changes: Partial<LeasedWebhook> = {}, rows: RetryRow[] = []) =>
  openMachineAt(initialState({ ...WEBHOOK, ...changes }, rows, 0), 0)

/** Runs no effect: each method causes a trigger, and returns the effects. */
function openMachineAt(state: EndpointState, now: number) {
  const moment = { now, hasLease: true, schedule: openSchedule([5, 300], () => 0) }
  let causedAt = now
  const cause = (trigger: Trigger) => {
    causedAt = moment.now
    return apply(state, trigger, { ...moment })
  }
  /** Sends all that is due. If time has passed, a trigger has come meanwhile. */
  const send = () => {
    const sent: Message[] = []
    if (moment.now > causedAt) wake(state.lanes, moment.now)
    while (canSend(state, moment))
      for (const effect of cause({ kind: 'slot_taken' }))
        if (effect.kind === 'send') sent.push(effect.message)
    return sent
  }
  return {
    state,
    moment,
    cause,
    send,
    tick: (newest = 1_000, messagesMax = 100_000) => cause({ kind: 'tick', newest: at(newest), messagesMax }),
    read: (page: EventRow[]) =>
      cause({ kind: 'page_read', page: { rows: page, upTo: page.at(-1)?.number ?? state.readUpTo.number } }),
    end: (message: Message | undefined, outcome: AttemptOutcome = status(204)) =>
      cause({ kind: 'attempt_ended', message: message as Message, outcome }),
  }
}

const kindsOf = (effects: Effect[]) => effects.map(({ kind }) => kind)
function progressIn(effects: Effect[]) {
  const [save, second] = effects.filter((effect) => effect.kind === 'save')
  expect(second).toBeUndefined()
  return save?.progress
}

describe('while it runs', () => {
  test('reads the next page once, and only if there are newer events', () => {
    const { tick, read, cause, state } = openMachine({ number: 4n })
    expect(tick(4)).toEqual([])
    expect(tick(5)).toEqual([{ kind: 'read', after: at(4), types: ['pet.created'], max: 500 }])
    expect(tick(6)).toEqual([])
    read([event(6)])
    expect(state.readUpTo).toEqual(at(6))
    expect(tick(6)).toEqual([])
    const inNewEpoch = { epoch: 'ba9876543210', number: 1n }
    expect(kindsOf(cause({ kind: 'tick', newest: inNewEpoch, messagesMax: 100_000 }))).toEqual(['read'])
  })

  test('reads nothing before the newest event is known', () => {
    expect(openMachine().cause({ kind: 'tick', newest: undefined, messagesMax: 100_000 })).toEqual([])
  })

  test('reads again a second after a failed read', () => {
    const { tick, cause, moment } = openMachine()
    tick()
    cause({ kind: 'read_failed' })
    moment.now = 999
    expect(tick()).toEqual([])
    moment.now = 1_000
    expect(kindsOf(tick())).toEqual(['read'])
  })

  test('reads no further while 1,000 events are neither delivered nor stored', () => {
    const { tick, read, send, end } = openMachine()
    read(events(1_000))
    expect(tick(2_000)).toEqual([])
    end(send()[0])
    expect(kindsOf(tick(2_000))).toEqual(['read'])
  })

  test('reads no further while the events that hold back the position take 1 MiB', () => {
    const { tick, read, send, end } = openMachine()
    // With 10,000 characters, an event takes 20,512 bytes. The last one is as large as the rest of 1 MiB.
    read(events(52).map((row, index) => ({ ...row, name: 'x'.repeat(index < 51 ? 10_000 : 976) })))
    expect(tick()).toEqual([])
    end(send()[0])
    expect(tick()).toMatchObject([{ kind: 'read', max: 500 }])
  })

  test('reads no further than half of its messages, and a page for the other half', () => {
    const { tick, read, send, end } = openMachine()
    expect(tick(1_000, 20)).toMatchObject([{ kind: 'read', max: 10 }])
    read(events(10))
    expect(tick(1_000, 20)).toEqual([])
    end(send()[0])
    expect(tick(1_000, 20)).toMatchObject([{ kind: 'read', max: 10 }])
  })

  test('reads one event if it has no room, but no message', () => {
    const { tick, read } = openMachine()
    expect(tick(1_000, 0)).toMatchObject([{ kind: 'read', max: 1 }])
    read(events(1))
    expect(tick(1_000, 0)).toEqual([])
  })

  test('keeps no event: a message has its number and its size', () => {
    const { read, send } = openMachine()
    const row = { ...event(1), name: 'x'.repeat(10_000) }
    read([row])
    const [message] = send()
    expect(message).toMatchObject({ number: 1n, eventBytes: 20_512 })
    expect(Object.values(message as Message)).not.toContain(row)
  })

  test('reads no further while 10,000 messages wait for a retry', () => {
    const rows = Array.from({ length: 10_000 }, (_, index) => ({ ...RETRY, number: BigInt(index + 1) }))
    const { tick, send, end } = openMachine({}, rows)
    expect(tick(20_000)).toEqual([])
    end(send()[0])
    expect(kindsOf(tick(20_000))).toEqual(['read'])
  })

  test('sends no event that is done, or that already waits for a retry', () => {
    const redelivery = { ...RETRY, id: 5n, kind: 'redelivery', number: 3n, epoch: EPOCH } as const
    const { read, send, end, state } = openMachine({ done: [2n] }, [redelivery, { ...RETRY, id: 20n }])
    expect(state.lastRequestId).toBe(5n)
    read(events(3))
    const sent = send()
    expect(sent.map(({ kind, number }) => `${kind} ${number}`)).toEqual([
      'redelivery 3',
      'event 1',
      'event 3',
    ])
    for (const message of sent) end(message)
    expect(send()).toEqual([])
  })

  test('sends at most 16 messages at once, and the next one when one has ended', () => {
    const { read, send, end, cause } = openMachine()
    read(events(40))
    const sent = send()
    expect(sent).toHaveLength(16)
    cause({ kind: 'refreshed', webhook: WEBHOOK, rows: [REQUEST] })
    expect(send()).toEqual([])
    end(sent[3])
    expect(send()).toHaveLength(1)
  })

  test('sends nothing without the lease', () => {
    const { read, send, moment } = openMachine()
    read(events(1))
    moment.hasLease = false
    expect(send()).toEqual([])
    moment.hasLease = true
    expect(send()).toHaveLength(1)
  })

  test('sends nothing while 300 results are not saved', () => {
    const { read, send, end, cause } = openMachine()
    read(events(12))
    const settleAll = () => {
      let count = 0
      for (let sent = send(); sent.length > 0; sent = send()) {
        count += sent.length
        for (const message of sent) end(message)
      }
      return count
    }
    expect(settleAll()).toBe(12)
    read(events(400).slice(12))
    expect(settleAll()).toBe(288)
    cause({ kind: 'tick', newest: at(400), messagesMax: 100_000 })
    expect(send()).toEqual([])
  })

  test('sends the next message of a pet after the first has ended, a failed one again, and other pets meanwhile', () => {
    const { read, send, end, moment } = openMachine()
    read([event(1, 7), event(2, 7), event(3, 8)])
    const [first, other, ...more] = send()
    expect([first?.number, other?.number, more.length]).toEqual([1n, 3n, 0])
    end(first, status(500))
    expect(send()).toEqual([])
    moment.now = 4_999
    expect(send()).toEqual([])
    moment.now = 5_000
    expect(send()).toEqual([first])
    expect(first?.attempts).toBe(1)
    end(first)
    expect(send().map(({ number }) => number)).toEqual([2n])
  })

  test('waits as long as Retry-After before it sends anything', () => {
    const { read, send, end, moment } = openMachine()
    read(events(2))
    const [first] = send()
    moment.now = 100
    const failed = end(first, { kind: 'response', status: 503, retryAfterSeconds: 60, durationMs: 5 })
    expect(progressIn(failed)?.retries).toMatchObject([{ number: 1n, dueInSeconds: 60 }])
    read([event(3)])
    moment.now = 60_099
    expect(send()).toEqual([])
    moment.now = 60_100
    expect(send().map(({ number }) => number)).toEqual([3n, 1n])
  })

  test('gives a message up after the last retry', () => {
    const { read, send, end, moment, state } = openMachine()
    read([event(1, 7), event(2, 7)])
    const outcomes = [0, 5_000, 305_000].flatMap((now) => {
      moment.now = now
      return end(send()[0], status(500)).flatMap((effect) =>
        effect.kind === 'observe' ? effect.outcome : [],
      )
    })
    expect(outcomes).toEqual(['failed', 'failed', 'given_up'])
    expect(send().map(({ number }) => number)).toEqual([2n])
    expect([...state.unfinished].map(({ number }) => number)).toEqual([2n])
    const last = openMachine({}, [{ ...RETRY, attempts: 2 }])
    last.end(last.send()[0], status(500))
    expect(last.state.health.failingSince).toBe(0)
  })

  test('an event that cannot be read again, and a cancelled attempt, do not count as attempts', () => {
    const { read, send, end, cause, moment, state } = openMachine()
    read(events(1))
    const [message] = send()
    cause({ kind: 'not_sent', message: message as Message })
    expect(state.inFlight).toBe(0)
    moment.now = 999
    expect(send()).toEqual([])
    moment.now = 1_000
    expect(send()).toEqual([message])
    expect(end(message, { kind: 'failure', reason: 'aborted', durationMs: 1 })).toEqual([])
    moment.now = 2_000
    expect(send()).toEqual([message])
    expect(message?.attempts).toBe(0)
    const { results } = progressIn(end(message)) ?? {}
    expect(results).toMatchObject([{ attempt: 1, outcome: 'delivered' }])
  })

  test('an event that is no longer stored is skipped, and is not a failure of the receiver', () => {
    const { send, end, state } = openMachine({}, [RETRY])
    const effects = end(send()[0], { kind: 'failure', reason: 'not_stored', durationMs: 0 })
    expect(effects).toEqual([{ kind: 'observe', outcome: 'skipped', durationMs: 0 }])
    expect(state.health.failingSince).toBeUndefined()
  })

  test('takes over secrets, version and requested messages, which are sent although the receiver is down', () => {
    const { read, send, end, cause, state } = openMachine()
    read(events(3))
    for (const message of send()) end(message, status(500))
    expect(isDown(state.health)).toBe(true)
    const secrets = [{ secret: Buffer.from('new'), expiresAt: undefined }]
    cause({ kind: 'refreshed', webhook: { ...WEBHOOK, version: 2n, secrets }, rows: [REQUEST] })
    expect(state.webhook).toMatchObject({ version: 2n, secrets, restarts: 3n })
    expect(state.lastRequestId).toBe(9n)
    const [message] = send()
    expect(message).toMatchObject({ kind: 'test', id: 9n })
    end(message)
    expect(isDown(state.health)).toBe(false)
  })

  test('a redelivery of an event of an earlier epoch keeps its message id', () => {
    const redelivery = { ...RETRY, id: 5n, kind: 'redelivery', epoch: 'aaaaaaaaaaaa' } as const
    const { read, send, end, moment } = openMachine({}, [redelivery])
    read([event(2)])
    const [old, current] = send()
    end(old)
    moment.now = 100
    expect(progressIn(end(current))?.results).toMatchObject([
      { messageId: 'evt_aaaaaaaaaaaa-1', kind: 'redelivery' },
      { messageId: `evt_${EPOCH}-2`, kind: 'event' },
    ])
  })

  test('a redelivery that arrives ends the retries of its event, and the next event of the pet follows', () => {
    const { state, send, end, read, cause } = openMachine()
    read([event(1), event(2, 1), event(3)])
    const [first, other] = send()
    end(other)
    end(first, status(500))
    const redelivery: RetryRow = { ...RETRY, id: 2n, kind: 'redelivery', epoch: EPOCH }
    cause({ kind: 'refreshed', webhook: WEBHOOK, rows: [redelivery] })
    const [again] = send()
    expect(again).toMatchObject({ kind: 'redelivery', number: 1n })
    end(again, status(500))
    expect(state.unfinished.size).toBe(3)

    cause({ kind: 'refreshed', webhook: WEBHOOK, rows: [{ ...redelivery, id: 3n }] })
    const [last] = send()
    end(last)
    expect(first?.state).toBe('done')
    // Only the failed redelivery still waits.
    expect(send()).toMatchObject([{ kind: 'event', number: 2n }])
    expect([...state.unfinished]).toMatchObject([{ number: 2n }, { kind: 'redelivery' }])
  })

  test('a redelivery leaves its event alone while that is in flight, and an event with another position', () => {
    const { state, send, end, read, cause } = openMachine()
    read([event(1), event(2)])
    const [first, second] = send()
    end(second, status(500))
    const redeliver = (row: Partial<RetryRow>) => {
      const rows = [{ ...RETRY, kind: 'redelivery' as const, epoch: EPOCH, ...row }]
      cause({ kind: 'refreshed', webhook: WEBHOOK, rows })
      for (const message of send()) end(message)
    }
    redeliver({ id: 2n })
    redeliver({ id: 3n, number: 2n, petId: 2n, epoch: 'ba9876543210' })
    redeliver({ id: 4n, number: 9n, petId: 2n })
    expect([...state.unfinished]).toEqual([first, second])
    expect([first, second]).toMatchObject([{ state: 'in_flight' }, { state: 'waiting' }])
  })

  test('skips redeliveries and retries of types that the webhook no longer gets', () => {
    const redelivery = { ...RETRY, id: 5n, kind: 'redelivery', epoch: EPOCH, number: 2n } as const
    const rows = [REQUEST, RETRY, redelivery]
    const { send, tick, moment, state } = openMachine({ types: ['pet.deleted'] }, rows)
    expect(state.lastRequestId).toBe(9n)
    expect(send().map(({ kind }) => kind)).toEqual(['test'])
    moment.now = 100
    const { results, deletedIds, deletedNumbers } = progressIn(tick()) ?? {}
    expect([deletedIds, deletedNumbers]).toEqual([[5n], [1n]])
    expect(results).toMatchObject([{ number: 2n, attempt: 1, outcome: 'skipped', failure: 'not_subscribed' }])
  })

  test('events that the retention has deleted are skipped; those in memory are sent', () => {
    const { tick, read, send, end, cause, moment, state } = openMachine()
    read([event(1, 7), event(2, 7)])
    const [first] = send()
    tick(500)
    const moved = { position: at(300), isNewEpoch: false }
    expect(kindsOf(cause({ kind: 'page_read', page: moved }))).toEqual(['warn'])
    expect(state.phase).toBe('running')
    moment.now = 999
    expect(tick(500)).toEqual([])
    moment.now = 1_000
    expect(tick(500)).toMatchObject([{ kind: 'read', after: at(300) }])
    expect(progressIn(end(first, status(500)))).toMatchObject({
      position: at(300),
      retries: [{ number: 1n }, { number: 2n }],
    })
  })
})

describe('saving', () => {
  test('results are saved ten times a second, one save at a time', () => {
    const { read, send, end, tick, cause, moment } = openMachine()
    read(events(3))
    const [one, two, three] = send()
    moment.now = 99
    expect(progressIn(end(one))).toBeUndefined()
    moment.now = 100
    expect(progressIn(tick())).toMatchObject({
      restarts: 3n,
      position: at(1),
      results: [{ number: 1n }],
      failingSeconds: null,
    })
    moment.now = 500
    expect(progressIn(end(two))).toBeUndefined()
    expect(progressIn(cause({ kind: 'saved' }))).toMatchObject({ results: [{ number: 2n }] })
    expect(progressIn(end(three))).toBeUndefined()
  })

  test('the position alone is saved every five seconds, if it has changed', () => {
    const { tick, cause, moment } = openMachine()
    moment.now = 4_999
    cause({ kind: 'page_read', page: { rows: [], upTo: 7n } })
    expect(progressIn(tick(7))).toBeUndefined()
    moment.now = 5_000
    expect(progressIn(tick(7))?.position).toEqual(at(7))
    cause({ kind: 'saved' })
    moment.now = 20_000
    expect(progressIn(tick(7))).toBeUndefined()
  })

  test('a failed save is repeated with everything that it contained', () => {
    const { read, send, end, cause, moment, state } = openMachine({}, [REQUEST])
    read(events(2))
    const [request, first, second] = send()
    moment.now = 200
    const failed = progressIn(end(first, status(500)))
    expect(failed).toMatchObject({ results: [{ number: 1n }], retries: [{ number: 1n, attempts: 1 }] })
    end(request)
    end(second)
    expect(cause({ kind: 'save_failed' })).toEqual([])
    expect(state.phase).toBe('running')
    moment.now = 300
    expect(progressIn(cause({ kind: 'tick', newest: undefined, messagesMax: 100_000 }))).toMatchObject({
      position: at(2),
      results: [{ number: 1n }, { messageId: 'test_9' }, { number: 2n }],
      retries: [{ number: 1n, attempts: 1 }],
      deletedIds: [9n],
    })
  })

  test('how long the receiver fails is saved', () => {
    const { read, send, end, moment } = openMachine()
    read(events(2))
    const [one, two] = send()
    moment.now = 50
    end(one, status(500))
    moment.now = 3_050
    expect(progressIn(end(two, status(500)))?.failingSeconds).toBe(3)
  })
})

describe('a new epoch', () => {
  const begun = {
    kind: 'page_read',
    page: { position: { epoch: 'b', number: 50n }, isNewEpoch: true },
  } as const

  test('waits for the attempts in flight, sends nothing more, and ends with the save of the new position', () => {
    const { tick, read, send, end, cause, moment, state } = openMachine()
    read(events(20))
    const [first, ...others] = send()
    moment.now = 1_000
    expect(kindsOf(cause(begun))).toEqual(['warn'])
    expect(state.phase).toBe('closing')
    end(first)
    expect(send()).toEqual([])
    expect(tick()).toEqual([])
    cause({ kind: 'saved' })
    moment.now = 2_000
    for (const message of others.slice(1)) expect(progressIn(end(message))?.newEpoch).toBeUndefined()
    cause({ kind: 'saved' })
    moment.now = 3_000
    expect(progressIn(end(others[0]))).toMatchObject({ newEpoch: { epoch: 'b', number: 50n } })
    expect(cause({ kind: 'saved' })).toEqual([{ kind: 'end' }])
    expect(state.phase).toBe('over')
  })

  test('a failed last save is repeated with its results', () => {
    const { read, send, end, cause, tick, moment, state } = openMachine()
    read(events(1))
    const [message] = send()
    cause(begun)
    moment.now = 100
    expect(progressIn(end(message, status(500)))?.newEpoch).toEqual(begun.page.position)
    expect(cause({ kind: 'save_failed' })).toEqual([])
    expect(state.phase).toBe('closing')
    moment.now = 200
    const again = progressIn(tick())
    expect(again).toMatchObject({ newEpoch: begun.page.position, results: [{ number: 1n }] })
  })

  test('waits for the save in flight', () => {
    const { read, send, end, cause, moment } = openMachine()
    read(events(1))
    moment.now = 100
    expect(progressIn(end(send()[0]))).toBeDefined()
    moment.now = 1_000
    expect(progressIn(cause(begun))).toBeUndefined()
    expect(progressIn(cause({ kind: 'saved' }))?.newEpoch).toEqual(begun.page.position)
  })
})

describe('disabling', () => {
  test('410 sends nothing more, and disables the webhook when no attempt is in flight', () => {
    const { read, send, end, cause, moment, state } = openMachine()
    read(events(20))
    const [first, second, ...others] = send()
    moment.now = 100
    const effects = end(first, status(410))
    expect(effects).toContainEqual({
      kind: 'warn',
      message: 'a webhook was disabled',
      fields: { reason: 'gone' },
    })
    expect(progressIn(effects)).toMatchObject({ disable: undefined, results: [{ responseStatus: 410 }] })
    expect(kindsOf(end(second, status(410)))).toEqual(['observe'])
    cause({ kind: 'saved' })
    expect(send()).toEqual([])
    for (const message of others) end(message)
    moment.now = 1_000
    expect(progressIn(cause({ kind: 'tick', newest: at(1), messagesMax: 100_000 }))).toMatchObject({
      disable: 'gone',
    })
    expect(cause({ kind: 'saved' })).toEqual([{ kind: 'end' }])
    expect(state.phase).toBe('over')
  })

  test('three days of failures disable the webhook; a success in between does not', () => {
    const failing = openMachine({ failingSeconds: (2 * DAY_MS) / 1_000 })
    failing.read(events(3))
    const [one, two, three] = failing.send()
    failing.moment.now = DAY_MS
    expect(progressIn(failing.end(one, status(500)))).toBeDefined()
    expect(failing.state.phase).toBe('running')
    failing.moment.now = DAY_MS + 1
    failing.end(two)
    failing.end(three, status(500))
    expect(failing.state.phase).toBe('running')

    const { read, send, end, moment, state } = openMachine({ failingSeconds: (2 * DAY_MS) / 1_000 })
    read(events(1))
    const [message] = send()
    moment.now = DAY_MS + 1
    expect(progressIn(end(message, status(500)))).toMatchObject({ disable: 'failing' })
    expect(state.phase).toBe('closing')
  })
})

describe('stopping', () => {
  test('waits for the attempts in flight, and ends with a save at once', () => {
    const { read, send, end, tick, cause, state } = openMachine()
    read(events(20))
    const sent = send()
    expect(cause({ kind: 'stop' })).toEqual([])
    expect(send()).toEqual([])
    expect(tick()).toEqual([])
    for (const message of sent.slice(1)) expect(progressIn(end(message))).toBeUndefined()
    expect(progressIn(end(sent[0]))?.results).toHaveLength(16)
    expect(cause({ kind: 'saved' })).toEqual([{ kind: 'end' }])
    expect(state.phase).toBe('over')
  })

  test('saves at once if no attempt is in flight, and ends although that fails', () => {
    const { cause, state } = openMachine()
    expect(progressIn(cause({ kind: 'stop' }))).toBeDefined()
    expect(cause({ kind: 'save_failed' })).toEqual([{ kind: 'end' }])
    expect(state.phase).toBe('over')
  })

  test('saves a second time after a save in flight', () => {
    const { read, send, end, cause, moment } = openMachine()
    read(events(2))
    const [one, two] = send()
    moment.now = 100
    expect(progressIn(end(one))).toBeDefined()
    end(two)
    expect(cause({ kind: 'stop' })).toEqual([])
    expect(progressIn(cause({ kind: 'saved' }))?.results).toMatchObject([{ number: 2n }])
    expect(cause({ kind: 'saved' })).toEqual([{ kind: 'end' }])
  })

  test('ends without a save if the lease has ended', () => {
    const { cause, moment } = openMachine()
    moment.hasLease = false
    expect(cause({ kind: 'stop' })).toEqual([{ kind: 'end' }])
  })

  test('after the timeout, does not wait for the attempts in flight', () => {
    const { read, send, cause } = openMachine()
    read(events(1))
    send()
    cause({ kind: 'stop' })
    expect(progressIn(cause({ kind: 'stop_timeout' }))).toMatchObject({ position: at(0) })
    expect(cause({ kind: 'saved' })).toEqual([{ kind: 'end' }])
  })

  test('saves that the receiver is gone', () => {
    const { read, send, end, cause } = openMachine()
    read(events(1))
    const [message] = send()
    cause({ kind: 'stop' })
    expect(progressIn(end(message, status(410)))).toMatchObject({ disable: 'gone' })
  })
})

test('takes over nothing while it closes: the process that loads the webhook next does', () => {
  const { read, send, cause, state } = openMachine()
  read(events(1))
  send()
  cause({ kind: 'stop' })
  cause({ kind: 'refreshed', webhook: { ...WEBHOOK, version: 2n }, rows: [REQUEST] })
  read([event(2)])
  expect([state.webhook.version, state.lastRequestId, state.readUpTo.number]).toEqual([1n, 0n, 1n])
})

test('ends at once without the lease, and ignores everything afterwards', () => {
  const { read, send, end, tick, cause, state, moment } = openMachine()
  read(events(2))
  const [one] = send()
  moment.now = 100
  expect(kindsOf(end(one))).toEqual(['observe', 'save'])
  expect(cause({ kind: 'abort' })).toEqual([{ kind: 'end' }])
  expect([
    cause({ kind: 'saved' }),
    cause({ kind: 'stop' }),
    cause({ kind: 'abort' }),
    tick(),
    send(),
  ]).toEqual([[], [], [], [], []])
  expect(state.phase).toBe('over')

  const unsaved = openMachine({}, [REQUEST])
  unsaved.end(unsaved.send()[0])
  unsaved.moment.now = 200
  expect(unsaved.cause({ kind: 'abort' })).toEqual([{ kind: 'end' }])
})

test('the state is plain data: a copy of it, in the middle of the work, continues like the original', () => {
  vi.useFakeTimers({ toFake: ['Date'], now: 0 })
  onTestFinished(() => void vi.useRealTimers())
  const { read, send, end, cause, moment, state } = openMachine({ done: [2n] }, [REQUEST, RETRY])
  read([...events(20), event(21, 4)])
  const [request, retry, ...others] = send()
  moment.now = 100
  expect(kindsOf(end(retry, status(500)))).toEqual(['observe', 'save'])
  end(request)
  for (const message of others.splice(0, 4)) end(message, status(500))
  cause({ kind: 'tick', newest: at(99), messagesMax: 100 })
  const copy = structuredClone({ state, others })
  expect(copy).toEqual({ state, others })
  expect([isDown(state.health), state.isReading, state.saving?.changes.results.length]).toEqual([
    true,
    true,
    1,
  ])

  const finish = (machine: ReturnType<typeof openMachineAt>, inFlight: Message[]) => {
    machine.moment.now = 200
    const failed = machine.cause({ kind: 'save_failed' })
    const page = machine.read([event(22, 4)])
    const settled = inFlight.flatMap((message) => machine.end(message))
    machine.moment.now = 6_000
    const saved = machine.cause({ kind: 'saved' })
    const sent = machine.send()
    const ended = sent.flatMap((message) => machine.end(message, status(410)))
    return [failed, page, settled, saved, sent, ended, machine.cause({ kind: 'stop_timeout' }), machine.state]
  }
  const ofCopy = finish(openMachineAt(copy.state, 100), copy.others)
  expect(copy.state).not.toEqual(state)
  expect(ofCopy).toEqual(finish(openMachineAt(state, 100), others))
  expect(kindsOf(ofCopy.slice(0, 4).flat() as Effect[])).toContain('save')
})
