// The background jobs that follow changes: they run as soon as there is work. Here, they look for changes of other
// processes only once an hour, so every effect below is that of a change or a request of this process.
import { Client } from 'pg'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { SCOPES } from '../../src/contract/scopes.ts'
import { afterWrites } from '../../src/db/after-writes.ts'
import { findFeedState } from '../../src/events/feed/queries.ts'
import { openEventStreams } from '../../src/events/feed/streams.ts'
import { startBackground } from '../../src/server/background.ts'
import { followingJobs, openWakeups } from '../../src/server/jobs.ts'
import { openServiceMetrics } from '../../src/server/store-metrics/store-metrics.ts'
import { openWakeup } from '../../src/server/wakeup.ts'
import { trackHolds } from '../../src/store/holds/sweep.ts'
import { foldAllCounts } from '../../src/store/inventory/inventory.ts'
import { issueApiKey, NO_TIMEOUT_MS } from '../support/app.ts'
import { createTestDatabase, openTestDatabase } from '../support/database.ts'
import { openStream } from '../support/event-stream.ts'
import { asSuperuser } from '../support/roles.ts'
import { openTestLog } from '../support/test-log.ts'
import { until } from '../support/until.ts'
import { openApiFixtureOn } from '../support/api-fixture.ts'

const HOUR_MS = 3_600_000

const databaseUrl = await createTestDatabase()
const db = openTestDatabase(databaseUrl)
const log = openTestLog()
const wakeups = openWakeups()
const holds = trackHolds(db, log, undefined, NO_TIMEOUT_MS, {
  sweepIn: wakeups.sweep.wake,
  onEnded: wakeups.onChange,
})
const eventStreams = openEventStreams({
  db,
  max: 10,
  onCount: (open) => {
    if (open > 0) wakeups.sequence.wake()
  },
})
const api = await openApiFixtureOn(databaseUrl, afterWrites(db, wakeups.onChange), { holds, eventStreams })
/** The lock attempts of the sequencer, which has found events without a number. */
let attempts = 0
const watchedDb: typeof db = {
  ...db,
  transaction: (work) =>
    db.transaction((tx) =>
      work({
        ...tx,
        read: (statement) => {
          if (statement.name === 'try_lock_sequencer') attempts += 1
          return tx.read(statement)
        },
      }),
    ),
}
const jobs = followingJobs({
  db: watchedDb,
  holds,
  eventStreams,
  metrics: openServiceMetrics(db, log),
  wakeups,
  checkedEveryMs: HOUR_MS,
})
const background = startBackground(jobs, log)
afterAll(() => background.stop())

const hasNumbered = async () => (await findFeedState(db)).unnumberedSeconds === null

test('numbers the events of a request', async () => {
  const { head } = await findFeedState(db)
  await api.addPet()
  await until(async () => (await findFeedState(db)).head > head)
  expect(await hasNumbered()).toBe(true)
})

test('numbers the events of a request that was made while another process numbered events', async () => {
  const sequencer = new Client(asSuperuser(databaseUrl))
  await sequencer.connect()
  onTestFinished(() => sequencer.end())
  await until(hasNumbered)
  await sequencer.query(`begin; select pg_advisory_xact_lock(hashtext('petstore sequence events'))`)
  const before = attempts
  await api.addPet()
  await until(() => attempts > before)
  expect(await hasNumbered()).toBe(false)
  await sequencer.query('rollback')
  await until(hasNumbered)
})

test('folds the counts that a request has changed', async () => {
  const hasFolded = async () => (await api.sql('select from pet_count_deltas')).length === 0
  // Without deltas, a fold that an earlier change has asked for changes nothing, so the next one stays due.
  await until(async () => {
    await foldAllCounts(db)
    return hasFolded()
  })
  // A fold is due two seconds after the last one.
  await api.sql(`update pet_count_position set folded_at = now() - interval '1 hour'`)
  await api.addPet()
  await until(hasFolded)
})

test('sends the events of other processes to streams, while one is open', async () => {
  const { text: apiKey } = await issueApiKey(db, { scopes: SCOPES })
  const stream = await openStream({ origin: api.origin, apiKey, query: 'after=latest' })
  for (let count = 1; count <= 3; count += 1) {
    await api.sql(`insert into pets (name, category_id) values ('Ada', 1)`)
    await until(() => stream.events.length === count)
  }
  stream.close()
  await until(() => !eventStreams.hasOpen())
})

test('ends a hold when it expires, and numbers its events', async () => {
  const { id } = await api.hold()
  await api.sql(`update orders set expires_at = now() + interval '1 second' where id = $1`, [id])
  // This read asks for a sweep, which finds out when the hold expires. No later request asks for one.
  await api.get('/pets')
  const isExpired = `select from orders where id = $1 and status = 'expired'`
  await until(async () => (await api.sql(isExpired, [id])).length === 1)
  const expired = `select from outbox join event_numbers on outbox_id = outbox.id where outbox.type = 'order.expired'`
  await until(async () => (await api.sql(expired)).length === 1)
})

test('sweeps again soon if another transaction has locked the pet of an expired hold', async () => {
  const { id, petId } = await api.hold()
  const editor = new Client(asSuperuser(databaseUrl))
  await editor.connect()
  onTestFinished(() => editor.end())
  await editor.query('begin')
  await editor.query('select from pets where id = $1 for update', [petId])
  await api.makeOverdue(id)
  // The first call may wait for a sweep that began before the hold was overdue.
  await holds.sweep()
  await holds.sweep()
  const open = `select from orders where id = $1 and status = 'open'`
  expect(await api.sql(open, [id])).toHaveLength(1)
  await editor.query('rollback')
  await until(async () => (await api.sql(open, [id])).length === 0)
})

/** A job that only an early start runs. */
function startJob(pauseMs: number, onRun: (run: number, wake: () => void) => void = () => {}) {
  const wakeup = openWakeup(pauseMs)
  const runs: number[] = []
  const work = async () => {
    runs.push(performance.now())
    onRun(runs.length, wakeup.wake)
  }
  const { stop } = startBackground([{ name: 'test', everyMs: HOUR_MS, wakeup, work }], log)
  return { wake: wakeup.wake, runs, stop }
}

test('many requests for a run before and during a run lead to one more run', async () => {
  const { wake, runs, stop } = startJob(1, (run, wakeAgain) => {
    if (run > 1) return
    for (let count = 0; count < 100; count += 1) wakeAgain()
  })
  for (let count = 0; count < 100; count += 1) wake()
  await until(() => runs.length === 2)
  // The last run: a job that stops runs once more.
  await stop()
  expect(runs).toHaveLength(3)
})

test('the runs of a job are at least its pause apart', async () => {
  const { wake, runs, stop } = startJob(100, (run, wakeAgain) => {
    if (run < 3) wakeAgain()
  })
  wake()
  await until(() => runs.length === 3)
  for (const [index, at] of runs.slice(1).entries())
    expect(at - (runs[index] ?? 0)).toBeGreaterThanOrEqual(100)
  await stop()
})

test('the earliest of several wanted runs counts', async () => {
  const { wake, runs, stop } = startJob(1)
  wake(HOUR_MS / 2)
  wake(5)
  wake(HOUR_MS / 3)
  await until(() => runs.length === 1)
  await stop()
})
