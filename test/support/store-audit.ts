// Checks in the database whether pets, orders, history and counts agree.
import { sql } from './database.ts'

const CHECKS: Record<string, string> = {
  'a pet with two open orders (sold twice)': `
    select pet_id as id from orders where status = 'open' group by pet_id having count(*) > 1`,
  'an open order whose pet is not pending': `
    select pets.id from orders join pets on pets.id = orders.pet_id
    where orders.status = 'open' and pets.status <> 'pending'`,
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
  'an inventory that differs from the number of pets': `
    select coalesce(kept.status, real.status)::text as id from
      (select status, sum(count) as count from
        (select status, count from pet_counts union all select status, delta from pet_count_deltas) as parts
        group by status) as kept
      full join (select status, count(*) from pets group by status) as real using (status)
    where coalesce(kept.count, 0) <> coalesce(real.count, 0)`,
  'a category whose counts differ from its pets': `
    select coalesce(kept.category_id, real.category_id)::text as id from
      (select category_id, status, sum(count) as count from
        (select category_id, status, count from pet_counts_by_category
          union all select category_id, status, delta from pet_count_deltas) as parts
        group by category_id, status) as kept
      full join (select category_id, status, count(*) from pets group by category_id, status) as real
        using (category_id, status)
    where coalesce(kept.count, 0) <> coalesce(real.count, 0)`,
  'a version that is not 1 plus the number of changes': `
    select pets.id from pets
    where version <> 1 + (select count(*) from pet_history where pet_id = pets.id)`,
}

/** Runs a query on a connection of the caller. */
export type RunQuery = <Row>(text: string) => Promise<Row[]>

/** Returns a description of every inconsistency; empty if the store is consistent. */
export async function auditStore(database: string | RunQuery): Promise<string[]> {
  const run: RunQuery = typeof database === 'string' ? (text) => sql(database, text) : database
  const faults: string[] = []
  for (const [fault, text] of Object.entries(CHECKS)) {
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
