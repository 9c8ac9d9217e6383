// With a million events, every statement of the feed reads few rows and pages: with rare types among frequent ones, gaps,
// deleted rows that vacuum cannot remove, with and without planner statistics, and with custom and generic plans. The same holds
// for webhooks with many attempts.
import { Client } from 'pg'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import type { Statement, Tx } from '../../src/db/database.ts'
import { deleteOldEvents, findEvents, findFeedState, numberEvents } from '../../src/events/feed/queries.ts'
import { EVENT_TYPES, type EventType, PET_EVENT_TYPES } from '../../src/events/feed/schema.ts'
import { findWebhookDeliveriesBefore, findWebhooksBefore } from '../../src/events/webhooks/queries.ts'
import { createTestDatabase } from '../support/database.ts'
import { asSuperuser } from '../support/roles.ts'

/** Each outbox row has one event, which is the worst case. */
const EVENTS = 1_000_000n
const PURGED = 200_000n
const LIMIT = 100
const RETENTION_SECONDS = 30 * 24 * 3_600
const MODES = ['force_generic_plan', 'force_custom_plan', 'auto']

const databaseUrl = asSuperuser(await createTestDatabase())
const client = new Client(databaseUrl)
await client.connect()
afterAll(() => client.end())

/** `order.placed` are the oldest 200,000 events and 5 later ones, `pet.deleted` 20 events, `order.expired` none. */
async function load(): Promise<void> {
  await client.query(`alter table outbox set (autovacuum_enabled = off);
    alter table event_numbers set (autovacuum_enabled = off)`)
  await client.query(
    `insert into outbox (at, type, count, pet_ids, category_ids, statuses, names, changed, actor_ids, request_ids)
      select now() - make_interval(secs => case when n <= $2 then 3000000 else 0 end),
        case when n <= $2 or n % 200000 = 7 then 'order.placed' when n % 50000 = 3 then 'pet.deleted'
          when n % 2 = 0 then 'pet.created' else 'pet.updated' end::event_type,
        1, array[n], array[1], array['sold'::pet_status], array['Pet'], array[4], array[1], array['x']
      from generate_series(1, $1::bigint) as n`,
    [EVENTS, PURGED],
  )
  await client.query(
    `insert into event_numbers (first_number, outbox_id, type, count, scanned_to, gaps, gaps_end_at)
      select id + 1, id, type, 1, id, '{}', '0' from outbox order by id`,
  )
}

interface Plan {
  'Actual Rows': number
  'Actual Loops': number
  'Rows Removed by Filter'?: number
  'Rows Removed by Index Recheck'?: number
  'Shared Hit Blocks': number
  'Shared Read Blocks': number
  'Relation Name'?: string
  Plans?: Plan[]
}

/** Rows that the scans of tables read, whether kept or filtered out. */
function rowsRead(plan: Plan): number {
  const isScan = plan['Relation Name'] !== undefined
  const removed = (plan['Rows Removed by Filter'] ?? 0) + (plan['Rows Removed by Index Recheck'] ?? 0)
  const own = isScan ? (plan['Actual Rows'] + removed) * plan['Actual Loops'] : 0
  return (plan.Plans ?? []).reduce((total, child) => total + rowsRead(child), own)
}

function literal(value: unknown): string {
  const text = Array.isArray(value) ? `{${value.join(',')}}` : String(value)
  return value === null ? 'null' : client.escapeLiteral(text)
}

/** The rows and 8 KiB pages that a statement reads. Its changes are rolled back. */
async function cost(
  query: (db: Tx) => Promise<unknown>,
): Promise<{ rows: number; pages: number; plan: string }> {
  let sent: Statement | undefined
  const capture = async (statement: Statement) => {
    sent = statement
    // A row that all functions can convert.
    return [{ number: null }]
  }
  await query({
    read: capture,
    write: capture,
    inTransaction: true,
    isAfterLostConnection: false,
  } as unknown as Tx)
  const { text, values } = sent as Statement
  await client.query(`begin; prepare explained as ${text}`)
  const { rows } = await client.query(
    `explain (analyze, buffers, format json) execute explained${values.length === 0 ? '' : `(${values.map(literal).join(', ')})`}`,
  )
  await client.query('rollback; deallocate explained')
  const [{ Plan: plan }] = rows[0]['QUERY PLAN'] as [{ Plan: Plan }]
  const pages = plan['Shared Hit Blocks'] + plan['Shared Read Blocks']
  return {
    rows: rowsRead(plan),
    pages,
    plan: `${sent?.name} ${values.join(' ')}\n${JSON.stringify(plan, null, 1)}`,
  }
}

interface Bounds {
  state: string
  rows: number
  pages: number
}

async function check(query: (db: Tx) => Promise<unknown>, { state, rows, pages }: Bounds): Promise<void> {
  for (const mode of MODES) {
    await client.query(`set plan_cache_mode = ${mode}`)
    const found = await cost(query)
    expect(found.rows, `${state}, ${mode}: rows of ${found.plan}`).toBeLessThanOrEqual(rows)
    expect(found.pages, `${state}, ${mode}: pages of ${found.plan}`).toBeLessThanOrEqual(pages)
  }
}

const WANTED: (readonly EventType[])[] = [
  EVENT_TYPES,
  PET_EVENT_TYPES,
  ['pet.created'],
  ['pet.deleted'],
  ['order.placed'],
  ['order.expired'],
  [],
]

async function checkReads(state: string, oldest: bigint): Promise<void> {
  for (const types of WANTED) {
    for (const after of [0n, oldest, EVENTS / 2n, EVENTS - 10n, EVENTS + 1n, 9_223_372_036_854_775_807n]) {
      // Each type reads up to `limit` numbers; only the events of the page read the outbox and two keys each.
      const rows = types.length * (LIMIT + 1) + 4 * LIMIT + 10
      // Directly after the deleted rows, the statement meets up to 1,000 of them.
      const pages = types.length * (LIMIT + 10) + 12 * LIMIT + 1_100
      await check((db) => findEvents(db, types, after, LIMIT), { state, rows, pages })
    }
  }
  await check(findFeedState, { state, rows: 10, pages: 40 })
}

const purge = (max: number, purgedTo: bigint) => (db: Tx) =>
  deleteOldEvents(db, RETENTION_SECONDS, max, purgedTo)

test('reads few rows before and after analyze', async () => {
  await load()
  for (const state of ['not analysed', 'analysed']) {
    await checkReads(state, 1n)
    await check(purge(LIMIT, 0n), { state, rows: 6 * LIMIT, pages: 40 * LIMIT })
    await client.query('analyze outbox, event_numbers, event_epochs')
  }
})

test('numbers events in runs of bounded size, also of a large transaction that commits late', async () => {
  const [gap, added] = [30_000, 30_000]
  const insert = (count: number) => `insert into outbox (type, count, pet_ids)
    select 'pet.deleted', 1, array[n] from generate_series(1, ${count}) as n`
  const late = new Client(databaseUrl)
  await late.connect()
  await late.query(`begin; ${insert(gap)}`)
  await client.query(insert(1))
  const { rows: statements } = await numberNow()
  expect(statements).toHaveLength(1)
  await client.query(insert(added))
  await late.query('commit')
  await late.end()
  const bounds = { rows: 20 * 2_000, pages: 40 * 2_000 }
  await check(numberEvents, { state: 'with a filled gap', ...bounds })
  await check(findFeedState, { state: 'with a filled gap', rows: 10, pages: 60 })
  while ((await numberNow()).rows.length > 0);
  const { rows } = await client.query(`select gaps::text, scanned_to = max.id as "isAtEnd"
    from event_numbers, (select max(id) as id from outbox) as max order by first_number desc limit 1`)
  expect(rows).toEqual([{ gaps: '{}', isAtEnd: true }])
})

async function numberNow() {
  let sent: Statement | undefined
  const capture = async (statement: Statement) => {
    sent = statement
    return []
  }
  await numberEvents({ write: capture } as unknown as Tx)
  return client.query((sent as Statement).text)
}

test('reads few pages while an old snapshot keeps deleted events from vacuum', async () => {
  const exporting = new Client(databaseUrl)
  await exporting.connect()
  onTestFinished(() => exporting.end())
  await exporting.query('begin isolation level repeatable read; select count(*) from event_epochs')
  await client.query('delete from outbox where id <= $1', [PURGED])
  await client.query('delete from event_numbers where first_number <= $1', [PURGED + 1n])
  const state = 'with deleted rows'
  await checkReads(state, PURGED + 1n)
  await check(purge(LIMIT, PURGED + 2n), { state, rows: 6 * LIMIT, pages: 40 * LIMIT })
})

/**
 * Each webhook has the max of attempts that the service keeps. Webhook 1 fails: its newest 1,000 attempts have failed, and many
 * messages wait. Of the others, one message waits.
 */
async function loadWebhooks(webhooks: number, kept: number, waiting: number): Promise<void> {
  await client.query(`alter table webhook_deliveries set (autovacuum_enabled = off);
    alter table webhook_retries set (autovacuum_enabled = off)`)
  await client.query(
    `insert into webhooks (url, types, epoch, number)
      select 'https://shop.example/', '{pet.created}', 'x', 0 from generate_series(1, $1::int)`,
    [webhooks],
  )
  await client.query(
    `insert into webhook_deliveries (webhook_id, at, message_id, kind, number, pet_id, type, occurred_at, attempt, outcome,
        duration_ms)
      select webhooks.id, now(), 'evt_x-' || n, 'event', n, n, 'pet.created', now(), 1,
        case when n > $1 - 1000 and webhooks.id = 1 then 'failed' else 'delivered' end, 1
      from generate_series(1, $1::int) as n, webhooks
      order by n`,
    [kept],
  )
  await client.query(
    `insert into webhook_retries (webhook_id, kind, number, pet_id, type, occurred_at, attempts)
      select webhooks.id, case when n % 100 = 0 then 'redelivery' else 'event' end, $2::int + 1 - n, n, 'pet.created', now(), 1
      from generate_series(1, $1::int) as n, webhooks
      where webhooks.id = 1 or n = 1`,
    [waiting, kept],
  )
}

test('reads few attempts of a webhook, also while it fails', async () => {
  const [webhooks, kept, waiting, types] = [20, 10_000, 2_000, ['pet.created']]
  await loadWebhooks(webhooks, kept, waiting)
  const list = (db: Tx) => findWebhooksBefore(db, undefined, LIMIT)
  const attemptsOf = (outcome: 'failed' | undefined) => (db: Tx) =>
    findWebhookDeliveriesBefore(db, 1n, { outcome, types }, undefined, LIMIT)
  for (const state of ['not analysed', 'analysed']) {
    // One attempt of each webhook, the failed attempts of the one that fails, and its messages that wait, which are counted.
    const rows = 3 * webhooks + 1_000 + waiting
    await check(list, { state, rows, pages: 2 * rows })
    for (const outcome of [undefined, 'failed' as const]) {
      // A rare outcome can read all attempts of the webhook. Each failed one in the page needs one row of webhook_retries.
      const rowsOfOne = kept + LIMIT + webhooks
      await check(attemptsOf(outcome), { state, rows: rowsOfOne, pages: 2 * rowsOfOne })
    }
    await client.query('analyze webhooks, webhook_deliveries, webhook_retries')
  }
})
