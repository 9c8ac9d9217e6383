// Adds to the benchmark's pets what a large shop has besides them: sales, holds, profiles, history and webhooks.
import { Client } from 'pg'
import { say } from '../../src/cli/terminal/terminal.ts'

/** Sales of 90 days, 1,000 on each of them. */
export const SALES = 90_000
const HOLDS = 500
/** Every tenth pet has a profile: 1, 11, 21 and so on. */
const PROFILE_STEP = 10
const FIRST_CHIP_NUMBER = 276_098_100_000_000
const WEBHOOKS = 10
/** Of each webhook: as many as the service keeps. */
const DELIVERIES = 10_000
const SHOPPED = 'the benchmark shop is loaded'

/** The chip number of any pet that has one. */
export function anyChipNumber(pets: number): number {
  return FIRST_CHIP_NUMBER + 1 + PROFILE_STEP * Math.floor((Math.random() * pets) / PROFILE_STEP)
}

/** Loads them, unless an earlier run has loaded them. Pet `4 * n - 1` is sold, and pet `4 * n - 2` is pending. */
export async function loadShop(databaseUrl: string, pets: number): Promise<void> {
  const client = new Client(databaseUrl)
  await client.connect()
  const { rows } = await client.query<{ comment: string | null }>(
    `select obj_description('orders'::regclass) as comment`,
  )
  if (rows[0]?.comment !== SHOPPED) {
    say('Adding sales, holds, profiles and webhooks …')
    await client.query('begin; set local session_replication_role = replica')
    for (const text of statements(pets)) await client.query(text)
    await client.query(`comment on table orders is '${SHOPPED}'; commit`)
    await client.query('vacuum (freeze, analyze)')
  }
  await client.end()
}

function statements(pets: number): string[] {
  return [
    `insert into orders (pet_id, placed_by, created_at, expires_at, closed_at, status, price, currency)
      select 4 * n - 1, 1, at - interval '1 hour', at + interval '1 hour', at, 'completed', 450.00, 'EUR'
      from (select n, now() - n * interval '90 days' / ${SALES} as at from generate_series(1, ${SALES}) as n) as sales`,
    `insert into entries (order_id, pet_id, category_id, seller_id, at, day, kind, method, currency, paid, sales, pets)
      select orders.id, pet_id, category_id, 1, closed_at, (closed_at at time zone time_zone)::date, 'sale', 'cash',
        orders.currency, price, price, 1
      from orders join pets on pets.id = pet_id cross join store_settings where orders.status = 'completed'`,
    `insert into orders (pet_id, placed_by, created_at, expires_at, note)
      select 4 * n - 2, 1, now(), now() + interval '2 days' + n * interval '1 minute', 'Ms Okafor'
      from generate_series(1, ${HOLDS}) as n`,
    `insert into pet_profiles (pet_id, price, currency, breed, sex, born_on, chip_number, description)
      select n, 450.00, 'EUR', 'Beagle', 'female', '2025-05-31', (${FIRST_CHIP_NUMBER} + n)::text, 'Calm, likes children.'
      from generate_series(1, ${pets}, ${PROFILE_STEP}) as n`,
    `insert into pet_history (pet_id, actor_id, event, from_status, to_status, request_id)
      select 4 * n - 1, 1, event, 'available', 'sold', gen_random_uuid()
      from generate_series(1, ${SALES}) as n, unnest(array['created', 'held', 'sold']) as event`,
    `insert into webhooks (url, types, epoch, number)
      select 'https://receiver.example/' || n, array['pet.created']::event_type[], epoch, 0
      from generate_series(1, ${WEBHOOKS}) as n, (select epoch from event_epochs order by id desc limit 1) as newest`,
    `insert into webhook_deliveries
        (webhook_id, at, message_id, kind, number, pet_id, type, occurred_at, attempt, outcome, response_status, duration_ms)
      select webhooks.id, now(), 'evt_' || n, 'event', n, n, 'pet.created', now(), 1, 'delivered', 204, 12
      from webhooks, generate_series(1, ${DELIVERIES}) as n`,
  ]
}
