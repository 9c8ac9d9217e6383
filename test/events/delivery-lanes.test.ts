// The order of messages, the position that is saved, the health of a receiver and the times of retries, without a
// database.
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { VARIABLES } from '../../src/config/config.ts'
import {
  type Health,
  hasRoom,
  initialHealth,
  isDown,
  recordFailure,
  recordSuccess,
} from '../../src/events/delivery/health.ts'
import {
  addToLane,
  finishFirst,
  hasDue,
  initialLanes,
  type Lanes,
  retryFirst,
  takeDue,
  wake,
} from '../../src/events/delivery/lanes.ts'
import { eventMessage, type Message } from '../../src/events/delivery/message.ts'
import {
  addBack,
  addEvent,
  initialUnsaved,
  recordDone,
  storeRetry,
  takeChanges,
} from '../../src/events/delivery/progress.ts'
import { openSchedule } from '../../src/events/delivery/schedule.ts'
import type { EventRow } from '../../src/events/feed/queries.ts'

const event = (number: number, petId: number): Message =>
  eventMessage(
    { number: BigInt(number), petId: BigInt(petId), type: 'pet.created', at: new Date(0) } as EventRow,
    'e',
  )

function take(lanes: Lanes, now: number, requestedOnly: boolean): Message | undefined {
  wake(lanes, now)
  return takeDue(lanes, now, requestedOnly)
}

test('messages of a pet leave in the order of the feed, whatever fails; and the position never skips one', () => {
  const steps = fc.array(fc.constantFrom('add', 'succeed', 'fail', 'wait', 'save', 'fail to save'), {
    maxLength: 300,
  })
  fc.assert(
    fc.property(steps, fc.infiniteStream(fc.nat({ max: 1_000 })), (actions, random) => {
      const choose = (max: number) => (random.next().value as number) % max
      const lanes = initialLanes()
      const unsaved = initialUnsaved()
      const delivered: Message[] = []
      const inFlight: Message[] = []
      const added: Message[] = []
      let stored = new Set<bigint>()
      let position = 0n
      let now = 0
      const takeAll = () => {
        wake(lanes, now)
        while (inFlight.length < 3 && hasDue(lanes, false))
          inFlight.push(takeDue(lanes, now, false) as Message)
      }
      const settleOne = (fails: boolean) => {
        const [message] = inFlight.splice(choose(Math.max(1, inFlight.length)), 1)
        if (message === undefined) return
        if (fails) {
          message.dueAt = now + 1 + choose(50)
          storeRetry(unsaved, message)
          retryFirst(lanes, message)
        } else {
          delivered.push(message)
          finishFirst(lanes, message, now)
          recordDone(unsaved, message)
        }
      }
      const save = (fails: boolean) => {
        const read = BigInt(added.length)
        const { progress, changes } = takeChanges(unsaved, lanes, { epoch: 'e', number: read }, now)
        if (fails) return addBack(unsaved, changes)
        stored = new Set([...stored, ...progress.retries.map(({ number }) => number as bigint)])
        for (const number of progress.deletedNumbers) stored.delete(number)
        position = progress.position.number
        // After a crash, a process sends exactly the events again that are not delivered.
        for (const message of added) {
          const number = message.number as bigint
          const isLoaded = number > position && !progress.done.includes(number)
          expect(isLoaded || stored.has(number)).toBe(!delivered.includes(message))
        }
      }
      for (const action of actions) {
        if (action === 'add') {
          const message = event(added.length + 1, choose(4))
          added.push(message)
          addEvent(unsaved, message)
          addToLane(lanes, message, now)
        } else if (action === 'wait') now += choose(2_000)
        else if (action === 'save' || action === 'fail to save') save(action !== 'save')
        else settleOne(action === 'fail')
        takeAll()
      }
      for (const petId of [0n, 1n, 2n, 3n]) {
        const ofPet = (messages: Message[]) => messages.filter((message) => message.petId === petId)
        expect(ofPet(delivered)).toEqual(ofPet(added).slice(0, ofPet(delivered).length))
      }
    }),
    { numRuns: 500 },
  )
})

test('each save has the events that are done after one in flight', () => {
  const lanes = initialLanes()
  const unsaved = initialUnsaved()
  const [first, second] = [event(1, 1), event(2, 2)]
  for (const message of [first, second]) {
    addEvent(unsaved, message)
    addToLane(lanes, message, 0)
    take(lanes, 0, false)
  }
  finishFirst(lanes, second, 0)
  recordDone(unsaved, second)
  const save = () => takeChanges(unsaved, lanes, { epoch: 'e', number: 2n }, 0).progress
  for (const { position, done } of [save(), save()])
    expect({ number: position.number, done }).toEqual({ number: 0n, done: [2n] })
})

test('while the receiver is down, only messages that were just requested are due', () => {
  const lanes = initialLanes()
  const request = { ...event(2, 2), kind: 'redelivery', lane: 'request 1' } as Message
  addToLane(lanes, event(1, 1), 0)
  addToLane(lanes, request, 0)
  expect(take(lanes, 0, true)).toBe(request)
  expect([take(lanes, 0, true), hasDue(lanes, false)]).toEqual([undefined, true])
  request.attempts = 1
  request.dueAt = 5
  retryFirst(lanes, request)
  expect(take(lanes, 5, true)).toBeUndefined()
  expect(take(lanes, 5, false)?.number).toBe(1n)
  expect(take(lanes, 5, false)).toBe(request)
})

test('each retry is due at its own time', () => {
  const lanes = initialLanes()
  const [one, other] = [event(1, 1), event(2, 2)]
  const loaded = { ...event(3, 3), dueAt: 20 }
  for (const message of [one, other]) {
    addToLane(lanes, message, 0)
    take(lanes, 0, false)
  }
  one.dueAt = 5
  retryFirst(lanes, one)
  other.dueAt = 10
  retryFirst(lanes, other)
  addToLane(lanes, loaded, 0)
  expect([4, 5, 9].map((now) => take(lanes, now, false))).toEqual([undefined, one, undefined])
  expect(take(lanes, 10, false)).toBe(other)
  expect([take(lanes, 19, false), take(lanes, 20, false)]).toEqual([undefined, loaded])
})

test('a message that is done while it waits, due or not, is not sent', () => {
  const lanes = initialLanes()
  const [first, second, other] = [event(1, 1), event(2, 1), event(3, 3)]
  for (const message of [first, second, other]) addToLane(lanes, message, 0)
  take(lanes, 0, false)
  first.dueAt = 5
  retryFirst(lanes, first)
  finishFirst(lanes, first, 0)
  finishFirst(lanes, other, 0)
  expect([take(lanes, 5, false), take(lanes, 5, false)]).toEqual([second, undefined])
})

describe('the health of a receiver', () => {
  const schedule = openSchedule([5, 300], () => 0)
  const fail = (health: Health, lane: string, now: number, pauseMs = 0) =>
    recordFailure(health, lane, pauseMs, now, schedule)

  test('failures of one pet do not stop the others', () => {
    const health = initialHealth(undefined)
    for (let failure = 0; failure < 10; failure += 1) fail(health, 'pet 1', 100)
    expect(isDown(health)).toBe(false)
    expect(hasRoom(health, 100, 15)).toBe(true)
    expect(health.failingSince).toBe(100)
  })

  test('failures of three pets leave one attempt at a time, after growing pauses', () => {
    const health = initialHealth(undefined)
    for (const lane of ['pet 1', 'pet 2', 'pet 3']) fail(health, lane, 0)
    expect(isDown(health)).toBe(true)
    expect(hasRoom(health, 4_999, 0)).toBe(false)
    expect(hasRoom(health, 5_000, 0)).toBe(true)
    expect(hasRoom(health, 5_000, 1)).toBe(false)
    fail(health, 'pet 1', 5_000)
    expect(hasRoom(health, 14_999, 0)).toBe(false)
    expect(hasRoom(health, 15_000, 0)).toBe(true)
    recordSuccess(health)
    expect(isDown(health)).toBe(false)
    expect(health.failingSince).toBeUndefined()
  })

  test('attempts that fail together count as one failure', () => {
    const health = initialHealth(undefined)
    for (let pet = 0; pet < 16; pet += 1) fail(health, `pet ${pet}`, pet)
    expect(hasRoom(health, 5_002, 0)).toBe(true)
  })

  test('a pause that the receiver asks for also ends a success', () => {
    const health = initialHealth(undefined)
    fail(health, 'pet 1', 0, 60_000)
    fail(health, 'pet 2', 10)
    recordSuccess(health)
    expect(hasRoom(health, 59_999, 0)).toBe(false)
    expect(hasRoom(health, 60_000, 0)).toBe(true)
  })
})

test('retries follow after 5 s, 5 min, 30 min, 2, 5, 10, 14, 20 and 24 h, then the message is given up', () => {
  const delays = VARIABLES.WEBHOOK_RETRY_SECONDS.read(undefined)
  const { retryMs } = openSchedule(delays, () => 0)
  const seconds = Array.from({ length: 10 }, (_, index) => retryMs(index + 1)).map((ms) => ms && ms / 1_000)
  expect(seconds).toEqual([5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400, undefined])
  expect(openSchedule(delays, () => 1).retryMs(1)).toBe(5_500)
  expect(openSchedule(delays, () => 0).probeMs(7)).toBe(300_000)
})
