// SQL statements of the demo shop. They write the past as the service would have written it, with the same triggers, and then
// set back its times: no statement of the service takes a time. Only the owner of the tables can run all of them.
import type { Actor } from '../../contract/actor.ts'
import type { ProfileFields } from '../../contract/profile-fields.ts'
import { actorFrom, actorValues } from '../../db/actor-settings.ts'
import type { Reader, Tx, Writer } from '../../db/database.ts'
import { historyInsert } from '../../store/history/queries.ts'
import { WRITTEN_COLUMNS, writtenValues } from '../../store/profiles/queries.ts'
import { ENTRY_COLUMNS } from '../../store/ledger/queries.ts'
import type { PaymentMethod } from '../../store/ledger/schema.ts'
import type { PastClosing } from './demo-past.ts'

export async function hasPets(db: Reader): Promise<boolean> {
  const rows = await db.read({
    name: 'has_pets',
    bounded: 'by a narrow index',
    text: 'select 1 from pets limit 1',
    values: [],
  })
  return rows.length > 0
}

/** Writes the first profiles of pets, with an entry in their history. */
export async function insertDemoProfiles(
  tx: Tx,
  petIds: readonly bigint[],
  profiles: readonly ProfileFields[],
  actor: Actor,
): Promise<void> {
  await tx.write({
    name: 'insert_demo_profiles',
    bounded: 'runs once',
    text: `with input as materialized (
        select pet_id, fields, columns from unnest($1::bigint[], $2::jsonb[], $3::jsonb[]) as input (pet_id, fields, columns)
        cross join ${actorFrom(4)}
      ), written as (
        insert into pet_profiles (pet_id, ${WRITTEN_COLUMNS})
        select input.pet_id, ${WRITTEN_COLUMNS} from input cross join jsonb_populate_record(null::pet_profiles, columns)
      )
      ${historyInsert(
        `select pet_id, 'updated', null, null, $4::bigint, $5, fields from input order by pet_id`,
        ', to_profile',
      )}`,
    values: [
      petIds,
      profiles.map((profile) => JSON.stringify(profile)),
      profiles.map(writtenValues),
      ...actorValues(actor),
    ],
  })
}

export interface DemoOrder {
  petId: bigint
  createdAt: Date
  expiresAt: Date
  note: string | undefined
  price: string | undefined
  currency: string
}

/** Places an order, with an entry in the history of its pet. The same actor must have made the pet pending just before. */
export async function insertDemoOrder(tx: Tx, order: DemoOrder, actor: Actor): Promise<void> {
  const { petId, createdAt, expiresAt, note, price, currency } = order
  await tx.write({
    name: 'insert_demo_order',
    bounded: 'runs once',
    text: `with recorded as (
        ${historyInsert(`values ($1::bigint, 'order_placed', 'available', 'pending', $2::bigint, $3)`)}
      )
      insert into orders (pet_id, placed_by, created_at, expires_at, note, price, currency)
      values ($1, $2, $4, $5, $6, $7::numeric, $8)`,
    values: [
      petId,
      actor.actorId,
      actor.requestId,
      createdAt,
      expiresAt,
      note ?? null,
      price ?? null,
      price === undefined ? null : currency,
    ],
  })
}

/** Writes the deposit of the open order of a pet. */
export async function insertDemoDeposit(
  tx: Tx,
  { petId, at, paid }: { petId: bigint; at: Date; paid: string },
  { actorId, requestId }: Actor,
): Promise<void> {
  await tx.write({
    name: 'insert_demo_deposit',
    bounded: 'runs once',
    text: `insert into entries (${ENTRY_COLUMNS})
      select orders.id, pet_id, pets.category_id, $2, $2, $3, $4, till_day($4), 'deposit', 'card', currency, $5, 0, 0, null
      from orders join pets on pets.id = orders.pet_id
      where pet_id = $1 and orders.status = 'open'`,
    values: [petId, actorId, requestId, at, paid],
  })
}

export interface DemoOrderEnd {
  petId: bigint
  as: 'completed' | 'cancelled' | 'expired'
  closedAt: Date
  /** Default: the price of the order. */
  price: string | undefined
  method: PaymentMethod
}

/** Ends the open order of a pet, with its sale, and changes the status of the pet, with an entry in its history. */
export async function endDemoOrder(
  tx: Tx,
  { petId, as, closedAt, price, method }: DemoOrderEnd,
  actor: Actor,
): Promise<void> {
  await tx.write({
    name: 'end_demo_order',
    bounded: 'runs once',
    text: `with ended as (
        update orders set status = $2, closed_at = $3, price = coalesce($4::numeric, price) from ${actorFrom(5)}
        where pet_id = $1 and status = 'open'
        returning orders.id, orders.status, pet_id, coalesce(price, 0) as price, currency, closed_at,
          case when orders.status = 'completed' then 'sold' else 'available' end::pet_status as freed_as
      ), recorded as (
        ${historyInsert(
          `select pet_id, 'order_' || $2::order_status, 'pending', freed_as, nullif($5, '')::bigint, $6 from ended`,
        )}
      ), sold as (
        insert into entries (${ENTRY_COLUMNS})
        select ended.id, ended.pet_id, pets.category_id, nullif($5, '')::bigint, nullif($5, '')::bigint, $6, closed_at,
          till_day(closed_at), 'sale', $7, coalesce(ended.currency, store_settings.currency),
          ended.price - coalesce(balance.paid, 0), ended.price, 1, null
        from ended
        join pets on pets.id = ended.pet_id
        cross join lateral order_balance(ended.pet_id, ended.id) as balance
        cross join store_settings
        where ended.status = 'completed'
      )
      update pets set status = freed_as, version = version + 1 from ended where pets.id = ended.pet_id`,
    values: [petId, as, closedAt, price ?? null, ...actorValues(actor), method],
  })
}

/** Closes a day of the past, after those before. The drawer starts the next day with some change. */
export async function insertDemoClosing(
  tx: Tx,
  { day, at, difference }: PastClosing,
  closedBy: bigint | undefined,
): Promise<void> {
  await tx.write({
    name: 'insert_demo_closing',
    bounded: 'runs once',
    text: `insert into day_closings (day, at, closed_by, counted, kept, note)
      select $1, $2, $3, counted, least(counted, 150.00), case when $4 <> 0 then 'Change given wrong' end
      from (select greatest(expected_cash($1) + $4, 0.00) as counted) as drawer`,
    values: [day, at, closedBy, difference],
  })
}

/** When each request of the past was made. */
export interface RequestTimes {
  requestIds: string[]
  times: Date[]
}

const REQUESTS = 'unnest($1::text[], $2::timestamptz[]) as requests (id, at)'

export async function setBackPets(tx: Tx, { requestIds, times }: RequestTimes): Promise<void> {
  await tx.write({
    name: 'set_back_pets',
    bounded: 'runs once',
    text: `update pets set created_at = requests.at from ${REQUESTS} where pets.request_id = requests.id`,
    values: [requestIds, times],
  })
}

export async function setBackHistory(tx: Tx, { requestIds, times }: RequestTimes): Promise<void> {
  await tx.write({
    name: 'set_back_history',
    bounded: 'runs once',
    text: `update pet_history set at = requests.at from ${REQUESTS} where pet_history.request_id = requests.id`,
    values: [requestIds, times],
  })
}

/** Before the sequencer numbers the events: the figures per day count an event by its time when it gets its number. */
export async function setBackEvents(tx: Tx, { requestIds, times }: RequestTimes): Promise<void> {
  await tx.write({
    name: 'set_back_events',
    bounded: 'runs once',
    text: `update outbox set at = requests.at from ${REQUESTS} where outbox.request_ids[1] = requests.id`,
    values: [requestIds, times],
  })
}

/** The figures per day are complete from this time on. */
export async function setBackFigures(tx: Tx, countedSince: Date): Promise<void> {
  await tx.write({
    name: 'set_back_figures',
    bounded: 'runs once',
    text: 'update pet_figures_start set counted_since = $1',
    values: [countedSince],
  })
}

export interface ApiKeyTimes {
  createdAt: Date
  lastUsedAt: Date | undefined
  expiresAt: Date | undefined
}

export async function setBackApiKey(
  tx: Tx,
  id: bigint,
  { createdAt, lastUsedAt, expiresAt }: ApiKeyTimes,
): Promise<void> {
  await tx.write({
    name: 'set_back_api_key',
    bounded: 'runs once',
    text: `update api_keys set created_at = $2::timestamptz, last_used_at = $3, expires_at = $4::timestamptz,
        lifetime_seconds = extract(epoch from $4::timestamptz - $2::timestamptz)
      where id = $1`,
    values: [id, createdAt, lastUsedAt ?? null, expiresAt ?? null],
  })
}

export async function setBackWebhook(
  tx: Tx,
  id: bigint,
  createdAt: Date,
  failingSince: Date | undefined,
): Promise<void> {
  await tx.write({
    name: 'set_back_webhook',
    bounded: 'runs once',
    text: 'update webhooks set created_at = $2, failing_since = $3 where id = $1',
    values: [id, createdAt, failingSince ?? null],
  })
}

/** The receiver of the demo listens on another port after each start. */
export async function setDemoReceiver(db: Writer, description: string, url: string): Promise<void> {
  await db.write({
    name: 'set_demo_receiver',
    bounded: 'runs once',
    text: 'update webhooks set url = $2, restarts = restarts + 1 where description = $1',
    values: [description, url],
  })
}
