// What the console says about webhooks and their failures, and which messages it sends again.
import type { Delivery, Webhook } from '@petstore/client'
import { expect, test } from 'vitest'
import { PetstoreError } from '../../client/src/petstore.ts'
import { OVERLAPS } from '../../console/src/api-keys/lifetimes.ts'
import { ALL_TYPES, canManage, typeLabel, typesText } from '../../console/src/webhooks/event-types.ts'
import { fieldTime, givenUpMessages, redeliverAll } from '../../console/src/webhooks/failed-messages.ts'
import { healthOf, nameOf } from '../../console/src/webhooks/health.ts'
import { explain, nextTryText, outcomeText, resultText } from '../../console/src/webhooks/result-text.ts'
import { FAILURE_REASONS, NOT_STORED, NOT_SUBSCRIBED } from '../../src/events/delivery/outcome.ts'
import { EVENT_TYPES } from '../../src/events/feed/schema.ts'
import { SECRET_OVERLAP_SECONDS_MAX, TEST_TYPE } from '../../src/events/webhooks/rules.ts'
import { DELIVERY_OUTCOMES } from '../../src/events/webhooks/schema.ts'

const webhook = (fields: Partial<Webhook> = {}): Webhook => ({
  id: '1',
  url: 'https://shop.example:8443/hook?token=1',
  types: ['pet.created'],
  enabled: true,
  position: 'x',
  waiting: 0,
  createdAt: '2026-11-18T09:00:00Z',
  ...fields,
})

const attempt = (id: number, fields: Partial<Delivery> = {}): Delivery => ({
  id: String(id),
  messageId: `evt_${id}`,
  kind: 'event',
  type: 'pet.created',
  attempt: 1,
  outcome: 'failed',
  responseStatus: 500,
  durationMs: 38,
  at: '2026-11-18T09:00:00Z',
  ...fields,
})

test('every type of event has a label, and an unknown one is shown as it is', () => {
  expect(ALL_TYPES).toEqual(EVENT_TYPES)
  expect(typeLabel('order.completed')).toBe('Pet sold')
  expect(typeLabel(TEST_TYPE)).toBe('Test event')
  expect(typeLabel('pet.fed')).toBe('pet.fed')
})

test.each([
  { types: [...EVENT_TYPES], text: 'All events' },
  { types: EVENT_TYPES.filter((type) => type.startsWith('pet.')), text: 'All events of pets' },
  { types: EVENT_TYPES.filter((type) => type.startsWith('order.')), text: 'All holds and sales' },
  { types: ['pet.created', 'order.completed'], text: 'Pet added, Pet sold' },
])('the types of a webhook are: $text', ({ types, text }) => {
  expect(typesText(types)).toBe(text)
})

test.each([
  { scopes: ['webhooks:write', 'pets:read'], types: ['pet.created'], can: true },
  { scopes: ['webhooks:write', 'pets:read'], types: ['pet.created', 'order.placed'], can: false },
  { scopes: ['webhooks:write', 'pets:read', 'orders:read'], types: ['order.placed'], can: true },
  { scopes: ['webhooks:write'], types: ['pet.created'], can: false },
  { scopes: ['webhooks:read', 'pets:read', 'orders:read'], types: ['pet.created'], can: false },
])('a key with $scopes can manage a webhook with $types: $can', ({ scopes, types, can }) => {
  expect(canManage(new Set(scopes), types)).toBe(can)
})

test('every reason of the service for a failure is explained, with what to do', () => {
  const reasons = [...FAILURE_REASONS, NOT_STORED.reason, NOT_SUBSCRIBED.reason]
  const unknown = explain({ outcome: 'failed', failure: 'unknown_reason' })
  for (const failure of reasons) {
    const { what, advice } = explain({ outcome: 'failed', failure }) ?? {}
    expect(what, failure).not.toBe(failure)
    expect(advice, failure).not.toBe(unknown?.advice)
  }
  expect(unknown?.what).toBe('unknown_reason')
})

test.each([
  [100, 'must respond with a status'],
  [301, 'redirects'],
  [400, 'rejects the message'],
  [401, 'rejects the sender'],
  [404, 'no receiver at this address'],
  [410, 'wants no more messages'],
  [422, 'rejects the message'],
  [429, 'nothing to do'],
  [500, 'has an error'],
  [503, 'is down, restarting or overloaded'],
])('a response with %i is explained', (responseStatus, advice) => {
  const explanation = explain({ outcome: 'failed', responseStatus })
  expect(explanation?.what).toBe(`Responds with ${responseStatus}`)
  expect(explanation?.advice).toContain(advice)
})

test('a delivered message needs no explanation', () => {
  expect(explain({ outcome: 'delivered', responseStatus: 204 })).toBeUndefined()
  expect(resultText(attempt(1, { outcome: 'delivered', responseStatus: 204 }))).toBe(
    'Responds with 204 after 38 ms',
  )
  expect(resultText({ outcome: 'failed', failure: 'timeout', durationMs: 15_000 })).toBe(
    'No response within 15 seconds',
  )
})

test('says when a message is sent again', () => {
  const now = new Date(2026, 10, 18, 14, 28).getTime()
  const text = (minutes: number) =>
    nextTryText(attempt(1, { nextAttemptAt: new Date(now + minutes * 60_000).toISOString() }), now)
  expect(text(4)).toBe('in 4 minutes (at 14:32)')
  expect(text(90)).toBe('in 1 hour (at 15:58)')
  expect(text(10 * 60)).toBe('in 10 hours (at Thu 19 Nov, 00:28)')
  // A receiver that is down gets the message after its pause.
  expect([text(0.5), text(-3)]).toEqual(['soon', 'soon'])
  expect(nextTryText(attempt(1), now)).toBeUndefined()
})

test('every outcome of the service has a text', () => {
  for (const outcome of DELIVERY_OUTCOMES) expect(outcomeText(outcome)).not.toBe(outcome)
  expect(outcomeText('new_outcome')).toBe('new_outcome')
})

test('the state of a webhook says who has stopped it, and does not promise that an unused one works', () => {
  expect(healthOf(webhook({ lastDeliveredAt: '2026-11-18T09:00:00Z' }))).toBe('working')
  expect(healthOf(webhook())).toBe('unused')
  expect(healthOf(webhook({ failingSince: '2026-11-18T09:00:00Z' }))).toBe('failing')
  expect(healthOf(webhook({ enabled: false, disabledReason: 'caller' }))).toBe('paused')
  expect(healthOf(webhook({ enabled: false, disabledReason: 'failing' }))).toBe('stopped')
  expect(healthOf(webhook({ enabled: false, disabledReason: 'gone' }))).toBe('stopped')
})

test('a webhook without a description is named after its host, without the secrets of its URL', () => {
  expect(nameOf(webhook({ description: 'Web shop' }))).toBe('Web shop')
  expect(nameOf(webhook())).toBe('shop.example:8443')
})

test('sends again only events that have not arrived and do not wait for another attempt, oldest first', () => {
  const newestFirst = [
    attempt(9, { messageId: 'evt_a', outcome: 'delivered' }),
    attempt(8, { messageId: 'evt_b', outcome: 'given_up' }),
    attempt(7, { messageId: 'test_1', kind: 'test', type: TEST_TYPE }),
    attempt(6, { messageId: 'evt_c', outcome: 'skipped', failure: 'not_stored' }),
    attempt(5, { messageId: 'evt_d' }),
    attempt(1, { messageId: 'evt_e', nextAttemptAt: '2026-11-18T11:00:00Z' }),
    attempt(4, { messageId: 'evt_c' }),
    attempt(3, { messageId: 'evt_b' }),
    attempt(2, { messageId: 'evt_a' }),
  ]
  expect(givenUpMessages(newestFirst).map(({ id }) => id)).toEqual(['5', '8'])
})

test('waits while the service accepts no further message, and leaves out none', async () => {
  const sent: string[] = []
  const progress: number[] = []
  let pauses = 0
  const redeliver = async (id: string) => {
    if (sent.length === 2 && pauses < 3) throw new PetstoreError({ code: 'webhook_busy', message: '' })
    sent.push(id)
  }
  await redeliverAll([attempt(1), attempt(2), attempt(3)], redeliver, {
    signal: new AbortController().signal,
    onProgress: (count) => progress.push(count),
    pause: async () => {
      pauses += 1
    },
  })
  expect(sent).toEqual(['1', '2', '3'])
  expect(progress).toEqual([1, 2, 3])
  expect(pauses).toBe(3)
})

test('stops to send when the dialog is closed, and at any other error', async () => {
  const closing = new AbortController()
  const sent: string[] = []
  const options = { signal: closing.signal, onProgress: () => {}, pause: async () => {} }
  const sendAndClose = async (id: string) => {
    sent.push(id)
    closing.abort()
  }
  await redeliverAll([attempt(1), attempt(2)], sendAndClose, options)
  expect(sent).toEqual(['1'])
  const rejected = redeliverAll(
    [attempt(1)],
    () => Promise.reject(new PetstoreError({ code: 'webhook_disabled', message: '' })),
    { ...options, signal: new AbortController().signal },
  )
  await expect(rejected).rejects.toThrow(PetstoreError)
})

test('a field shows a time of the browser’s time zone, and reads the same time', () => {
  const time = new Date(2026, 10, 18, 9, 5).getTime()
  expect(fieldTime(time)).toBe('2026-11-18T09:05')
  expect(Date.parse(fieldTime(time))).toBe(time)
})

test('the service accepts every overlap of the form', () => {
  for (const { seconds } of OVERLAPS) expect(seconds).toBeLessThanOrEqual(SECRET_OVERLAP_SECONDS_MAX)
})
