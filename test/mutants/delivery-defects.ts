// Defects in the delivery of webhooks: one or more for each transition of its state machine, its lanes and its leases. Most
// of them would lose events, send them twice or out of order, or stop a webhook. operators.ts generates those that only change a
// condition or an operator of transitions, lanes, health and schedule.
import type { Defect } from './defect.ts'

const LANES = 'test/events/delivery-lanes.test.ts'
const TRANSITIONS = 'test/events/delivery-transitions.test.ts'
const HISTORIES = 'test/events/delivery-histories.test.ts'
const ENDPOINT = 'test/events/delivery-endpoint.test.ts'
const DELIVERY = 'test/events/delivery.test.ts'
const PROCESSES = 'test/events/delivery.process.test.ts'
const MEMORY = 'test/events/delivery-memory.test.ts'

/** Changes to one file, with their name, and the test that must detect them. */
const inFile =
  (file: string) =>
  (name: string, find: string, replace: string, test: string, title?: string): Defect => ({
    name,
    file,
    find,
    replace,
    test,
    ...(title !== undefined && { title }),
  })

const transition = inFile('src/events/delivery/transitions.ts')
const endpoint = inFile('src/events/delivery/endpoint.ts')
const leases = inFile('src/events/delivery/leases.ts')
const lease = inFile('src/events/delivery/lease-queries.ts')
const lanes = inFile('src/events/delivery/lanes.ts')
const query = inFile('src/events/delivery/queries.ts')
const progress = inFile('src/events/delivery/progress.ts')
const eventCache = inFile('src/events/delivery/event-cache.ts')
const slots = inFile('src/events/delivery/total-slots.ts')

const READING: Defect[] = [
  transition(
    'a webhook reads nothing after a failed read',
    `state.isReading = false\n      state.readAgainAt`,
    'state.readAgainAt',
    TRANSITIONS,
  ),
  transition(
    'the position does not wait for the events of a page',
    '    addEvent(unsaved, message)\n',
    '',
    HISTORIES,
  ),
  transition(
    'a new epoch is only a new position',
    'close(state, { newEpoch: position })',
    'state.readUpTo = position',
    TRANSITIONS,
  ),
  transition(
    'a webhook never reads on after the retention has deleted events',
    '    state.readUpTo = position\n',
    '',
    TRANSITIONS,
  ),
]

const SENDING: Defect[] = [
  transition('messages in flight are not counted', '  state.inFlight += 1\n', '', TRANSITIONS),
  transition(
    'an attempt that has ended counts as in flight',
    'state.inFlight -= 1\n      return settle',
    'return settle',
    TRANSITIONS,
  ),
  transition(
    'an attempt without its event counts as in flight',
    'state.inFlight -= 1\n      return sendLater',
    'return sendLater',
    TRANSITIONS,
  ),
  transition(
    'an event that could not be read is never sent',
    '  retryFirst(lanes, message)\n  return []',
    '  return []',
    TRANSITIONS,
  ),
  transition(
    'an event that could not be read is sent again at once',
    '  message.dueAt = now + READ_AGAIN_AFTER_MS\n',
    '',
    TRANSITIONS,
  ),
  transition(
    'attempts are not counted',
    '  message.attempts += 1\n  const verdict',
    '  const verdict',
    TRANSITIONS,
  ),
  transition(
    'results are not listed',
    '  recordResult(unsaved, toResult(message, outcome, verdict))\n',
    '',
    HISTORIES,
  ),
  transition('a failed event has no row', '    storeRetry(unsaved, message)\n', '', TRANSITIONS),
  transition(
    'a failed message is never retried',
    '    retryFirst(lanes, message)\n  } else',
    '  } else',
    TRANSITIONS,
  ),
  transition(
    'the lag grows although everything is delivered',
    '  unfinished.delete(message)\n',
    '',
    TRANSITIONS,
  ),
  transition('a delivered message blocks its pet', '  finishFirst(lanes, message, now)\n', '', TRANSITIONS),
  transition(
    'the row of a delivered message stays',
    'now)\n  recordDone(unsaved, message)\n',
    'now)\n',
    HISTORIES,
  ),
  transition('a receiver that works again counts as failing', '    recordSuccess(health)\n', '', TRANSITIONS),
]

const REQUESTS: Defect[] = [
  transition(
    'new secrets are not taken over',
    '{ ...state.webhook, secrets, version }',
    '{ ...state.webhook, version }',
    TRANSITIONS,
  ),
  transition(
    'the version is not taken over',
    '{ ...state.webhook, secrets, version }',
    '{ ...state.webhook, secrets }',
    TRANSITIONS,
  ),
  transition(
    'requested messages are not taken over',
    `version }\n  for (const row of rows) addRetry(state, row, now)\n`,
    'version }\n',
    TRANSITIONS,
  ),
  transition(
    'a redelivery is sent although the webhook no longer gets its type',
    `row.kind === 'test' || webhook`,
    `row.kind !== 'event' || webhook`,
    DELIVERY,
    'a redelivery that waits is skipped',
  ),
  transition(
    'a skipped redelivery stays',
    '  recordDone(unsaved, message)\n  // Callers',
    '  // Callers',
    TRANSITIONS,
  ),
  transition(
    'a skipped redelivery has no result',
    `  recordResult(unsaved, toResult(message, NOT_SUBSCRIBED, 'skipped'))\n`,
    '',
    TRANSITIONS,
  ),
  transition(
    'an event is sent again although its redelivery has arrived',
    '    finishRedelivered(state, message, now)\n',
    '',
    TRANSITIONS,
  ),
  transition(
    'a redelivery ends an event in flight',
    `first?.state === 'waiting' && first.epoch === epoch`,
    'first?.epoch === epoch',
    TRANSITIONS,
  ),
  lanes(
    'a message that is done and was due takes another one with it',
    '!lanes.sleeping.delete(message)) removeDue(lanes, message)',
    'lanes.sleeping.delete(message)) {}',
    LANES,
  ),
  query(
    'a redelivery after a new epoch has another id',
    `case when kind = 'redelivery' then `,
    `case when kind = 'other' then `,
    PROCESSES,
    'after a new epoch, a redelivery',
  ),
  endpoint(
    'a test event is lost if it cannot be read at first',
    'refresh: async (webhook) => {\n',
    `refresh: async (webhook) => {\n      dispatch({ kind: 'refreshed', webhook, rows: [] })\n`,
    PROCESSES,
    'could not read it at first',
  ),
]

const CLOSING: Defect[] = [
  transition('a webhook is not disabled after 410', '  close(state, { disable: reason })\n', '', TRANSITIONS),
  transition('a webhook that closes forgets why', '{ ...state.closing, ...closing }', 'closing', TRANSITIONS),
  transition('a webhook that closes keeps its phase', `  state.phase = 'closing'\n`, '', TRANSITIONS),
  transition(
    'a process that stops does not wait for the attempts in flight',
    `case 'stop':\n      return close(state, { isStopping: true })`,
    `case 'stop':\n      return end(state)`,
    TRANSITIONS,
  ),
  transition(
    'a process that stops ignores its timeout',
    'return close(state, { isStopping: true, isTimedOut: true })',
    'return []',
    TRANSITIONS,
  ),
  transition(
    'a webhook without a lease continues',
    `case 'abort':\n      break`,
    `case 'abort':\n      return []`,
    TRANSITIONS,
  ),
  transition(
    'attempts in flight are not cancelled at the end',
    `return [{ kind: 'end' }]`,
    'return []',
    TRANSITIONS,
  ),
  endpoint('attempts in flight continue after the end', '      aborting.abort()\n', '', ENDPOINT),
  endpoint(
    'a process that has lost its lease tries to save for ever',
    `    if (err instanceof LeaseLost) return { kind: 'abort' }\n`,
    '',
    ENDPOINT,
  ),
]

const SAVING: Defect[] = [
  transition('nothing is saved after a save', '  state.saving = undefined\n', '', TRANSITIONS),
  transition(
    'a position that is saved is saved again',
    '  if (isSaved) state.savedNumber = number\n  else addBack',
    '  if (!isSaved) addBack',
    TRANSITIONS,
  ),
  transition(
    'a failed save loses its results and retries',
    '  else addBack(state.unsaved, changes)\n',
    '',
    ENDPOINT,
  ),
  progress(
    'events of an earlier epoch wait for a retry in the new one',
    'newEpoch === undefined ? retries.filter(({ id }) => id === null) : []',
    'retries.filter(({ id }) => id === null)',
    ENDPOINT,
  ),
  progress(
    'a new epoch keeps the rows of earlier events',
    '    if (newEpoch !== undefined) await deleteWebhookEventRetries(tx, webhookId)\n',
    '',
    ENDPOINT,
  ),
  query('a new epoch is not saved', 'newEpoch ?? position', 'position', ENDPOINT),
]

const LEASES: Defect[] = [
  leases(
    'a process that gets its lease back continues with its old state',
    'await renewWebhooks(db, deliverer, ids)',
    'await claimWebhooks(db, deliverer, ids)',
    PROCESSES,
    'gets its lease back',
  ),
  leases(
    'a webhook with a new URL is also delivered to the former one',
    '    current?.abort()\n',
    '',
    DELIVERY,
    'after a change of the URL',
  ),
  lease(
    'a process takes the lease of another one',
    'and (deliverer = $1 or coalesce(leased_until <= now(), true))',
    'and $1::uuid is not null',
    PROCESSES,
    'without the lease',
  ),
  lease(
    'a process renews the lease of another one',
    'and deliverer = $1 order by id for no key update',
    'and $1::uuid is not null order by id for no key update',
    PROCESSES,
    'gets its lease back',
  ),
]

const IN_LANES: Defect[] = [
  lanes(
    'messages of a lane are sent at once',
    '    lane.push(message)\n',
    '    lane.push(message)\n    addFirst(lanes, message, now)\n',
    LANES,
  ),
  lanes('a lane ends with its first message', '  else addFirst(lanes, next, now)\n', '', TRANSITIONS),
  lanes(
    'a retry never wakes',
    '  lanes.nextWakeAt = Math.min(lanes.nextWakeAt, message.dueAt)\n}',
    '}',
    TRANSITIONS,
  ),
  transition('no message wakes', '  wake(state.lanes, conditions.now)\n', '', HISTORIES),
]

const IN_MEMORY: Defect[] = [
  eventCache('all events that were read stay in memory', 'if (bytes > maxBytes) removeOldest()', '', MEMORY),
  eventCache(
    'an event that was sent stays in memory',
    'if (entry.readers <= 0) remove(position.number, entry)',
    '',
    MEMORY,
  ),
  eventCache('an event of an earlier epoch is sent', 'position.epoch === epoch ?', 'epoch ?', MEMORY),
  slots(
    'the bytes in flight are not limited',
    ' || (taken > 0 && bytes + ATTEMPT_BYTES > maxBytes)',
    '',
    MEMORY,
  ),
]

export const DELIVERY_DEFECTS: readonly Defect[] = [
  ...READING,
  ...SENDING,
  ...REQUESTS,
  ...CLOSING,
  ...SAVING,
  ...LEASES,
  ...IN_LANES,
  ...IN_MEMORY,
]
