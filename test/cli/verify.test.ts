import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { Client } from 'pg'
import { afterAll, expect, inject, test } from 'vitest'
import type { CheckResult } from '../../src/data/verify/check.ts'
import { CONSTRAINTS, INDEXES, TRIGGERS } from '../../src/data/verify/objects.ts'
import { verifyDatabase } from '../../src/data/verify/verify.ts'
import { openApiFixture } from '../support/api-fixture.ts'
import { createTestDatabase, sql } from '../support/database.ts'
import { numberAllEvents } from '../support/feed-audit.ts'
import { runInProcess } from '../support/in-process.ts'
import { asOwner, asSuperuser, asVerifier, VERIFIER } from '../support/roles.ts'

const NAMES = [
  'schema',
  'objects',
  'checksums',
  'rows',
  'settings',
  'inventory',
  'orders',
  'till',
  'history',
  'actors',
  'events',
  'webhooks',
  'sequences',
]
const REBUILD_COUNTS = readFileSync(join(import.meta.dirname, '../../deploy/rebuild-counts.sql'), 'utf8')

const api = await openApiFixture()

/** A deposit that is held, a sale with a refund, a sale taken back, a voided sale, cash, and a closed day. */
async function fillTill(): Promise<void> {
  await api.end('cancel', (await api.hold({ deposit: '20.00', method: 'cash' })).id)
  const sell = async () => {
    const { id } = await api.hold({ price: '129.00' })
    const path = `/v1/store/orders/${id}/complete`
    expect((await api.call('POST', path, { body: { method: 'cash' } })).status).toBe(200)
    return id
  }
  for (const [amount, takeBack] of [
    ['29.00', false],
    ['129.00', true],
  ] as const) {
    const path = `/store/orders/${await sell()}/refund`
    expect((await api.post(path, { amount, takeBack }, { 'idempotency-key': amount })).status).toBe(201)
  }
  const [sale] = (await api.get(`/store/entries?orderId=${await sell()}`)).body as {
    id: number
    day: string
  }[]
  expect((await api.post(`/store/entries/${sale?.id}/void`, undefined)).status).toBe(200)
  const cash = { direction: 'in', amount: '50.00', note: 'change' }
  expect((await api.post('/store/cash', cash, { 'idempotency-key': 'cash' })).status).toBe(201)
  const closing = { day: sale?.day, counted: '170.00', kept: '100.00' }
  expect((await api.post('/store/day-closings', closing)).status).toBe(201)
}

/** Pets, orders in each status, changes, deleted pets, webhooks, and events with and without a number. */
async function fillStore(): Promise<void> {
  const renamed = await api.addPet()
  const removed = await api.addPet({ categoryId: 2 })
  await api.addPet({ categoryId: 3 })
  expect((await api.patch(renamed.id, { name: 'Rex' })).status).toBe(200)
  expect((await api.remove(`/pets/${removed.id}`)).status).toBeLessThan(300)
  await api.end('complete', (await api.hold()).id)
  await api.end('cancel', (await api.hold()).id)
  await api.hold()
  await api.post('/pets', { name: 'Max', categoryId: 1 }, { 'idempotency-key': 'stored' })
  expect((await api.put('/categories/1', { name: 'Dogs' })).status).toBeLessThan(300)
  await fillTill()
  expect((await api.post('/webhooks', { url: 'https://127.0.0.1/' })).status).toBe(201)
  await numberAllEvents(api.db)
  await api.addPet()
}
await fillStore()

/** A copy of the store, to damage. The files are copied, so that no page of the copy is in PostgreSQL's memory. */
async function cloneStore(): Promise<string> {
  const server = inject('serverUrl')
  const source = new URL(api.databaseUrl).pathname.slice(1)
  const name = `test_${randomUUID().replaceAll('-', '')}`
  // A template must have no connections. The service opens new ones when it needs them.
  await sql(server, `alter database ${source} allow_connections false`)
  await sql(
    server,
    `select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = '${source}'`,
  )
  await sql(server, `create database ${name} template ${source} strategy file_copy`)
  afterAll(() => sql(server, `drop database ${name} with (force)`))
  const url = new URL(api.databaseUrl)
  url.pathname = name
  return asVerifier(url.href)
}

/** A copy that no test changes for good. */
const store = await cloneStore()

function summaryOf(findings: CheckResult[]) {
  const faults = findings.filter(({ state }) => state === 'fault')
  return { findings, faults, failed: faults.map(({ check }) => check).join(' ') }
}

async function verify(DATABASE_URL: string) {
  const { code, stdout, stderr } = await runInProcess(['verify', '--json'], { DATABASE_URL })
  return { code, ...summaryOf(JSON.parse(stdout || `"${stderr}"`) as CheckResult[]) }
}

/**
 * Damages the store in a transaction, runs the checks in it, and rolls it back, so that no test needs a copy of the store
 * to damage.
 */
async function verifyWith(damage: string) {
  const client = new Client(asSuperuser(store))
  await client.connect()
  try {
    // The checks begin a transaction of this level, which changes nothing within another one.
    await client.query('begin isolation level repeatable read')
    await client.query(damage)
    // Runs the triggers that a commit would run.
    await client.query('set constraints all immediate')
    await client.query(`set role ${VERIFIER}`)
    const findings: CheckResult[] = []
    const isConsistent = await verifyDatabase(client, {
      onStart: () => {},
      onProgress: () => {},
      onFinding: (finding) => findings.push(finding),
    })
    return { isConsistent, ...summaryOf(findings) }
  } finally {
    await client.end()
  }
}

test('passes on a store with pets, orders, events and webhooks, and prints each check with its duration', async () => {
  const { code, findings, faults } = await verify(store)
  expect(faults).toEqual([])
  expect(code).toBe(0)
  expect(findings.map(({ check }) => check)).toEqual(NAMES)
  expect(findings.every(({ durationMs }) => durationMs >= 0)).toBe(true)
  const { code: textCode, stdout, stderr } = await runInProcess(['verify'], { DATABASE_URL: store })
  expect(textCode).toBe(0)
  expect(stdout).toMatch(/^ok {7}schema {5}up to date .* \(\d+\.\d s\)$/m)
  expect(stdout).toMatch(/read \d+ rows of \d+ tables, except .*: webhook_secrets\.secret \(/)
  expect(stderr).toContain('The database is complete and consistent.')
})

test('passes on a new database', async () => {
  expect((await verify(asVerifier(await createTestDatabase()))).faults).toEqual([])
})

const TRUNCATE = `alter table entries disable trigger entries_are_final;
  alter table day_closings disable trigger closings_are_final; truncate pets, day_closings cascade;
  alter table entries enable trigger entries_are_final; alter table day_closings enable trigger closings_are_final`

test('passes after TRUNCATE, which leaves events without a number', async () => {
  expect((await verifyWith(TRUNCATE)).faults).toEqual([])
})

const REPLICA = 'set session_replication_role = replica;'
const OPEN_PET = `(select pet_id from orders where status = 'open')`
/** An event in the middle of the feed. */
const MIDDLE = `(select first_number from event_numbers where outbox_id is not null order by first_number offset 2 limit 1)`

/** Wrong ledgers that other checks find too, or instead. */
const FAILED: Record<string, string> = {
  'a doubled void': 'objects till events',
  'an entry without its event': 'events',
}

type Damage = [what: string, failed: string, damage: string, message: string, remedy: string]
const DAMAGES: Damage[] = [
  ['a missing index', 'objects', 'drop index pets_by_status', 'pets_by_status', '--single-transaction'],
  ['a missing trigger', 'objects', 'drop trigger record_created on pets', 'record_created', 'Restore again'],
  [
    'a missing constraint',
    'objects',
    'alter table pets drop constraint pets_name_check',
    'pets_name_check',
    'Restore again',
  ],
  [
    'an invalid index',
    'objects',
    `update pg_index set indisvalid = false where indexrelid = 'pets_by_status'::regclass`,
    'pets_by_status',
    'reindex index concurrently',
  ],
  [
    'a constraint that is not validated',
    'objects',
    `alter table orders drop constraint orders_pet_id_fkey;
      alter table orders add constraint orders_pet_id_fkey foreign key (pet_id) references pets (id) not valid`,
    'orders_pet_id_fkey',
    'validate constraint',
  ],
  ['disabled triggers', 'objects', 'alter table pets disable trigger all', 'pets', 'enable trigger all'],
  [
    'a wrong count',
    'inventory',
    `update pet_counts set count = count + 1 where status = 'sold'`,
    'an inventory that differs from the number of pets (1): sold',
    'rebuild-counts.sql',
  ],
  [
    'a shop without settings',
    'settings',
    'delete from store_settings',
    'a shop without exactly one row of settings (1): store_settings',
    'Restore another backup',
  ],
  [
    'a time zone of another server',
    'settings till',
    `update store_settings set time_zone = 'Mars/Olympus'`,
    'a time zone that PostgreSQL does not know (1): Mars/Olympus',
    'change the time zone of the shop',
  ],
  [
    'a wrong count of a category',
    'inventory',
    `insert into pet_counts_by_category (category_id, status, count) values (77, 'sold', 1)`,
    'a category whose counts differ from its pets (1): 77',
    'rebuild-counts.sql',
  ],
  [
    'a missing count',
    'inventory',
    `${REPLICA} delete from pet_counts where status = 'sold'`,
    'a status without its row in pet_counts (1): sold',
    'rebuild-counts.sql',
  ],
  [
    'an order without its pet',
    'inventory orders history',
    `${REPLICA} delete from pets where id = ${OPEN_PET}`,
    'an order without its pet (1)',
    'Restore another backup',
  ],
  [
    'two open orders of a pet',
    'objects orders history',
    `drop index orders_one_open_per_pet; ${REPLICA}
      insert into orders (pet_id, placed_by, created_at, expires_at)
      select pet_id, placed_by, created_at, expires_at from orders where status = 'open'`,
    'a pet with two open orders (sold twice) (1)',
    'petstore orders cancel',
  ],
  [
    'an open order of a pet that is available',
    'orders',
    `update pets set status = 'available' where id = ${OPEN_PET}`,
    'a pet with an open order that is not pending (1)',
    'petstore orders cancel',
  ],
  [
    'a closed order without its time',
    'objects orders',
    `alter table orders drop constraint orders_check1;
      update orders set closed_at = null where status = 'completed'`,
    'an order whose status and time of closing differ (4)',
    'Restore another backup',
  ],
  [
    'a lost history entry',
    'history',
    `delete from pet_history where to_name = 'Rex'`,
    'a pet whose version is not 1 plus the number of its history entries (1)',
    'Restore another backup',
  ],
  [
    'a history entry without its pet',
    'history',
    `${REPLICA} insert into pet_history (pet_id, event, request_id) values (999, 'updated', 'x')`,
    'a history entry without its pet (1)',
    'Restore another backup',
  ],
  [
    'an order that is not in the history',
    'history',
    `update pet_history set event = 'updated' where event = 'order_completed'`,
    'a pet whose orders differ from its history (4)',
    'Restore another backup',
  ],
  ...[
    'pets set created_by',
    'pet_history set actor_id',
    'orders set placed_by',
    'idempotency_keys set actor_id',
  ].map(
    (column): Damage => [
      `a missing actor: ${column}`,
      'actors',
      `update ${column} = 7 where ctid = (select min(ctid) from ${column.split(' ')[0]})`,
      'whose actor is missing (1)',
      'Restore another backup',
    ],
  ),
  [
    'an event of a missing actor',
    'events',
    'update outbox set actor_ids[1] = 7 where id = (select min(id) from outbox)',
    'an outbox row with an actor that does not exist (1)',
    'Restore another backup',
  ],
  [
    'a lost event',
    'events',
    `delete from outbox where id = (select outbox_id from event_numbers where first_number = ${MIDDLE})`,
    'a number of an event without its outbox row (1)',
    'petstore events new-epoch',
  ],
  [
    'a lost number',
    'events',
    `delete from event_numbers where first_number = ${MIDDLE}`,
    'a gap in the numbers of events, before the number (1)',
    'petstore events new-epoch',
  ],
  [
    'an event without a number',
    'events',
    `update event_numbers set outbox_id = null, type = null where first_number = ${MIDDLE} and scanned_to is null`,
    'an outbox row that got no number (1)',
    'petstore events new-epoch',
  ],
  [
    'an array of a wrong length',
    'events',
    `update outbox set names = names || 'x'::text
      where id = (select outbox_id from event_numbers where first_number = ${MIDDLE})`,
    'a number of an event that differs from its outbox row (1)',
    'petstore events new-epoch',
  ],
  [
    'two numbers of an event',
    'events',
    `update event_numbers set outbox_id = outbox_id - 1 where first_number = ${MIDDLE}`,
    'an outbox row with two numbers (1)',
    'petstore events new-epoch',
  ],
  [
    'an epoch in the future',
    'events',
    'update event_epochs set after_number = 1000000',
    'an epoch that starts after the newest event (1)',
    'petstore events new-epoch',
  ],
  [
    'an empty feed',
    'events',
    'delete from event_numbers',
    'in the table (1): event_numbers',
    'Restore another',
  ],
  [
    'a webhook without a secret',
    'webhooks',
    'delete from webhook_secrets',
    'a webhook without a secret that does not expire (1): 1',
    'petstore webhooks rotate-secret',
  ],
  [
    'a webhook ahead of the feed',
    'webhooks',
    'update webhooks set number = 1000000',
    'a webhook whose position is after the newest event (1): 1',
    'petstore events new-epoch',
  ],
  [
    'a secret without its webhook',
    'webhooks',
    `${REPLICA} insert into webhook_secrets (webhook_id, secret) values (999, decode(repeat('00', 24), 'hex'))`,
    'a row of webhook_secrets without its webhook (1)',
    'Restore another backup',
  ],
  ...[
    [
      'a lost refund',
      `delete from entries where kind = 'refund' and pets = -1`,
      'a pet that a sale has sold and that is not sold, or that two sales have sold (1)',
    ],
    [
      'a doubled void',
      `drop index entries_by_voided;
        insert into entries (order_id, pet_id, category_id, seller_id, actor_id, at, day, kind, method, currency, paid, sales, pets,
          voids)
        select order_id, pet_id, category_id, seller_id, actor_id, at, day, kind, method, currency, paid, sales, pets, voids
        from entries where kind = 'void'`,
      'a void that is not the only opposite of its entry (2)',
    ],
    [
      'a void of another amount',
      `update entries set paid = paid + 1 where kind = 'void'`,
      'a void that is not the only opposite of its entry (1)',
    ],
    [
      'an entry on the wrong day',
      `update entries set day = day - 1 where kind = 'deposit'`,
      'an entry for another day than that of its time (1)',
    ],
    [
      'an entry in a wrong currency',
      `update entries set currency = 'USD' where kind = 'refund' and pets = 0`,
      'an entry whose currency is not that of its order (1)',
    ],
    [
      'a closing that missed an entry in flight',
      `insert into entries (at, day, kind, method, currency, paid, sales, pets, note)
        select at - interval '1 microsecond', day, 'cash', 'cash', 'EUR', 10, 0, 0, 'in flight' from day_closings`,
      'a closed day whose expected cash is not that of the ledger (1)',
    ],
    [
      'an entry of a day that was closed before',
      `update day_closings set at = (select max(at) - interval '1 microsecond' from entries)`,
      'an entry for a day that was closed before (1)',
    ],
    [
      'a lost sale',
      `delete from entries where order_id = (select min(order_id) from entries where kind = 'sale')`,
      'a completed order without a sale in the ledger, or an order with a sale that is not completed (1)',
    ],
    [
      'more money given back than was paid',
      `update entries set paid = paid - 200, sales = sales - 200 where kind = 'refund' and pets = 0`,
      'an order whose entries do not add up: to 0 or 1 pets, in one currency, without more sales than money (1)',
    ],
    [
      'an entry of another pet',
      `update entries set pet_id = 999 where kind = 'deposit'`,
      'an entry whose order is missing or is for another pet (1)',
    ],
    [
      'an entry of a missing actor',
      `update entries set seller_id = 7 where kind = 'deposit'`,
      'an entry or a closing of an actor that does not exist (1)',
    ],
    [
      'a closing of a missing actor',
      'update day_closings set closed_by = 7',
      'an entry or a closing of an actor that does not exist (1)',
    ],
    [
      'an entry without its event',
      `update outbox set entries = array[jsonb_set(entries[1], '{id}', '999')]
        where type = 'order.entry_added' and entries[1] ->> 'kind' = 'deposit'`,
      'an entry of the ledger without its event (1)',
    ],
  ].map(
    ([what = '', change = '', message = '']): Damage => [
      what,
      FAILED[what] ?? 'till',
      `${REPLICA} ${change}`,
      message,
      '',
    ],
  ),
]

test.each(DAMAGES)('reports %s', async (_what, failed, damage, message, remedy) => {
  const result = await verifyWith(damage)
  expect(result.failed).toBe(failed)
  expect(result.isConsistent).toBe(false)
  const found = result.faults.find((fault) => fault.message.includes(message))
  expect(found?.remedy, JSON.stringify(result.faults)).toContain(remedy)
})

// A rollback does not undo setval.
test.each(['pets', 'outbox'])(
  'reports that the sequence of %s is behind, and how to set it',
  async (table) => {
    const url = await cloneStore()
    await sql(url, `select setval('${table}_id_seq', 2)`)
    const { code, failed, faults } = await verify(url)
    expect(code).toBe(1)
    expect(failed).toBe('sequences')
    expect(faults[0]?.message).toMatch(`${table}_id_seq is at 2, but ${table} has the id `)
    await sql(asOwner(url), faults[0]?.remedy?.replace('As petstore_migrator, run: ', '') ?? '')
    expect((await verify(url)).faults).toEqual([])
  },
)

test('a sequence behind the events that are deleted is a fault: their ids would never get a number', async () => {
  const url = await cloneStore()
  await sql(url, `delete from outbox; select setval('outbox_id_seq', 2)`)
  expect((await verify(url)).failed).toBe('events sequences')
})

test('deploy/rebuild-counts.sql corrects wrong counts', async () => {
  const url = await cloneStore()
  await sql(
    url,
    `delete from pet_counts; delete from pet_count_deltas; update pet_counts_by_category set count = 9`,
  )
  expect((await verify(url)).failed).toBe('inventory')
  await sql(url, `set role petstore_migrator; ${REBUILD_COUNTS}`)
  expect((await verify(url)).faults).toEqual([])
})

test('a new epoch corrects a gap in the feed', async () => {
  const { faults } = await verifyWith(
    `delete from event_numbers where first_number = ${MIDDLE};
      insert into event_epochs (after_number, starts_empty)
      select max(first_number + count - 1), false from event_numbers`,
  )
  expect(faults).toEqual([])
})

test('reports the table of a damaged page, and runs the other checks', async () => {
  const url = await cloneStore()
  const [file] = await sql<{ path: string }>(
    url,
    `select current_setting('data_directory') || '/' || pg_relation_filepath('categories') as path`,
  )
  const handle = await open(file?.path ?? '', 'r+')
  await handle.write(Buffer.alloc(64, 0xff), 0, 64, 0)
  await handle.close()
  const { failed, faults, findings } = await verify(url)
  expect(failed).toBe('rows')
  expect(faults[0]?.message).toMatch(/^cannot read categories: invalid page/)
  expect(faults[0]?.remedy).toContain('Restore another backup')
  expect(findings.map(({ check }) => check)).toEqual(NAMES)
})

test.each([
  ['missing', `delete from petstore_migrations where name like '0008%'`, 'Run: petstore migrate'],
  [
    'unknown',
    `insert into petstore_migrations (name, run_on) values ('9999_next', now())`,
    'Install the version of Petstore that made the backup',
  ],
])('reports a migration that is %s, and runs no other check', async (_what, change, remedy) => {
  const { isConsistent, findings } = await verifyWith(change)
  expect(isConsistent).toBe(false)
  expect(findings).toMatchObject([
    { check: 'schema', state: 'fault', remedy: expect.stringContaining(remedy) },
  ])
})

test('says which role to use if the role cannot read everything', async () => {
  const url = new URL(store)
  url.username = 'petstore_app'
  const { failed, faults } = await verify(url.href)
  expect(failed).toBe('sequences')
  expect(faults[0]).toMatchObject({
    message: expect.stringContaining('permission denied'),
    remedy: expect.stringContaining('petstore_verify'),
  })
})

test('knows every index, constraint and trigger of the schema', async () => {
  const namesOf = async (text: string) => (await sql<{ name: string }>(store, text)).map(({ name }) => name)
  expect(
    await namesOf(
      `select relname as name from pg_class where relkind = 'i' and relnamespace = 'public'::regnamespace
        order by relname collate "C"`,
    ),
  ).toEqual(INDEXES)
  expect(
    await namesOf(
      `select conname as name from pg_constraint where contype in ('c', 'f') and connamespace = 'public'::regnamespace
        order by conname collate "C"`,
    ),
  ).toEqual(CONSTRAINTS)
  expect(
    await namesOf(`select tgname as name from pg_trigger where not tgisinternal order by tgname collate "C"`),
  ).toEqual(TRIGGERS)
})
