// Checks in the database whether pets, orders, history and counts agree: the rules of `petstore verify`, and those that
// hold only if no change was made by hand in SQL.
import { ACTOR_RULES, HISTORY_RULES, INVENTORY_RULES, ORDER_RULES } from '../../src/data/verify/store.ts'
import { TILL_RULES } from '../../src/data/verify/till.ts'
import { sql } from './database.ts'

const CHECKS: Record<string, string> = {
  'an order placed while another order of the same pet was open': `
    select a.pet_id as id from orders a join orders b on a.pet_id = b.pet_id and a.id < b.id
    where b.created_at < coalesce(a.closed_at, 'infinity')`,
  'a pet whose status differs from its last change': `
    select pets.id from pets join lateral (
      select to_status from pet_history where pet_id = pets.id and to_status is not null order by id desc limit 1
    ) as last on true
    where last.to_status <> pets.status`,
  'a history entry that does not start where the previous one ended': `
    select pet_id as id from (
      select pet_id, from_status, lag(to_status) over (partition by pet_id order by id) as before
      from pet_history where to_status is not null
    ) as steps where before <> from_status`,
  'orders missing from the history, or the reverse': `
    select coalesce(o.status, h.status) as id from
      (select status::text, count(*) from orders where status <> 'open' group by status
        union all select 'placed', count(*) from orders) as o (status, count)
      full join
      (select replace(event, 'order_', ''), count(*) from pet_history where event like 'order%' group by 1)
        as h (status, count)
      using (status)
    where coalesce(o.count, 0) <> coalesce(h.count, 0)`,
}

/** Runs a query on a connection of the caller. */
export type RunQuery = <Row>(text: string) => Promise<Row[]>

/** Returns a description of every inconsistency; empty if the store is consistent. */
export async function auditStore(database: string | RunQuery): Promise<string[]> {
  const run: RunQuery = typeof database === 'string' ? (text) => sql(database, text) : database
  const faults: string[] = []
  const rules = [...ORDER_RULES, ...HISTORY_RULES, ...INVENTORY_RULES, ...ACTOR_RULES, ...TILL_RULES]
  const shared = rules.map(({ fault, text }) => [fault, text] as const)
  for (const [fault, text] of [...shared, ...Object.entries(CHECKS)]) {
    const rows = await run<{ id: unknown }>(text)
    if (rows.length > 0) faults.push(`${fault}: ${rows.slice(0, 5).map(({ id }) => id)} (${rows.length})`)
  }
  return faults
}

/** Pets that two orders held at the same time, or that were sold twice without becoming available in between. */
export async function findSoldTwice(databaseUrl: string): Promise<string[]> {
  const rows = await sql<{ id: string }>(
    databaseUrl,
    `select one.pet_id as id from orders one join orders other
        on other.pet_id = one.pet_id and other.id <> one.id
        and other.created_at >= one.created_at and other.created_at < coalesce(one.closed_at, 'infinity')
      union
      select pet_id from (
        select pet_id, event, from_status, lag(event) over (partition by pet_id order by id) as before
        from pet_history where to_status is not null
      ) as steps
      where event = 'order_placed' and (from_status <> 'available' or before = 'order_completed')`,
  )
  return rows.map(({ id }) => id)
}
