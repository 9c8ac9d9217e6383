// The rules of pets, orders, history, counts and actors. The tests of concurrency and of faults apply the same rules.
import { RESTORE_ANOTHER, type Rule } from './check.ts'

const REBUILD = 'As petstore_migrator, run deploy/rebuild-counts.sql.'

/** Folded deltas are deleted, so all visible deltas count. */
export const INVENTORY_RULES: readonly Rule[] = [
  {
    fault: 'an inventory that differs from the number of pets',
    remedy: REBUILD,
    text: `select coalesce(kept.status, real.status)::text as id from
        (select status, sum(count) as count from
          (select status, count from pet_counts union all select status, delta from pet_count_deltas) as parts
          group by status) as kept
        full join (select status, count(*) from pets group by status) as real using (status)
      where coalesce(kept.count, 0) <> coalesce(real.count, 0)`,
  },
  {
    fault: 'a status without its row in pet_counts',
    remedy: REBUILD,
    text: `select known.status::text as id from unnest(enum_range(null::pet_status)) as known (status)
      where not exists (select from pet_counts where pet_counts.status = known.status)`,
  },
  {
    fault: 'a category whose counts differ from its pets',
    remedy: REBUILD,
    text: `select distinct coalesce(kept.category_id, real.category_id) as id from
        (select category_id, status, sum(count) as count from
          (select category_id, status, count from pet_counts_by_category
            union all select category_id, status, delta from pet_count_deltas) as parts
          group by category_id, status) as kept
        full join (select category_id, status, count(*) from pets group by category_id, status) as real
          using (category_id, status)
      where coalesce(kept.count, 0) <> coalesce(real.count, 0)`,
  },
]

export const SETTINGS_RULES: readonly Rule[] = [
  {
    fault: 'a shop without exactly one row of settings',
    remedy: RESTORE_ANOTHER,
    text: `select 'store_settings' as id where (select count(*) from store_settings) <> 1`,
  },
  {
    fault: 'a time zone that PostgreSQL does not know',
    remedy:
      'Install the data of time zones on the server of PostgreSQL, or change the time zone of the shop.',
    text: `select time_zone as id from store_settings
      where time_zone not in (select name from pg_timezone_names)`,
  },
]

export const ORDER_RULES: readonly Rule[] = [
  {
    fault: 'an order without its pet',
    remedy: RESTORE_ANOTHER,
    text: `select orders.id from orders left join pets on pets.id = orders.pet_id where pets.id is null`,
  },
  {
    fault: 'a pet with two open orders (sold twice)',
    remedy: 'Cancel all open orders of the pet except one: petstore orders cancel <id>',
    text: `select pet_id as id from orders where status = 'open' group by pet_id having count(*) > 1`,
  },
  {
    fault: 'a pet with an open order that is not pending',
    remedy: 'Cancel the open order of the pet: petstore orders cancel <id>',
    text: `select pets.id from orders join pets on pets.id = orders.pet_id
      where orders.status = 'open' and pets.status <> 'pending'`,
  },
  {
    fault: 'an order whose status and time of closing differ',
    remedy: RESTORE_ANOTHER,
    text: `select id from orders where (status = 'open') <> (closed_at is null)`,
  },
]

/**
 * The creation of a pet is in its own row. Each change by the service adds 1 to the version and one entry to the history.
 * A change by hand in SQL does neither, so the values of the entries may differ from the pet. The same holds for a profile,
 * which has a version of its own; an import writes its first version without an entry.
 */
export const HISTORY_RULES: readonly Rule[] = [
  {
    fault: 'a history entry without its pet',
    remedy: RESTORE_ANOTHER,
    text: `select pet_history.id from pet_history left join pets on pets.id = pet_history.pet_id
      where pets.id is null`,
  },
  {
    fault: 'a pet whose version is not 1 plus the number of its history entries',
    remedy: RESTORE_ANOTHER,
    text: `select pets.id from pets
      left join (
        select pet_id, count(*) from pet_history where from_profile is null and to_profile is null group by pet_id
      ) as entries on entries.pet_id = pets.id
      where pets.version <> 1 + coalesce(entries.count, 0)`,
  },
  {
    fault: 'a profile without its pet',
    remedy: RESTORE_ANOTHER,
    text: `select pet_id as id from pet_profiles left join pets on pets.id = pet_profiles.pet_id where pets.id is null`,
  },
  {
    fault: 'a pet whose profile has another version than its history',
    remedy: RESTORE_ANOTHER,
    text: `select coalesce(pet_profiles.pet_id, entries.pet_id) as id from pet_profiles
      full join (
        select pet_id, count(*) from pet_history where from_profile is not null or to_profile is not null group by pet_id
      ) as entries on entries.pet_id = pet_profiles.pet_id
      where coalesce(pet_profiles.version, 0) - coalesce(entries.count, 0) not in (0, 1)`,
  },
  {
    fault: 'a pet whose orders differ from its history',
    remedy: RESTORE_ANOTHER,
    text: `select coalesce(placed.pet_id, recorded.pet_id) as id from
        (select pet_id, count(*) as placed, count(*) filter (where status <> 'open') as closed
          from orders group by pet_id) as placed
        full join (
          select pet_id, count(*) filter (where event = 'order_placed') as placed,
            count(*) filter (where event <> 'order_placed') as closed
          from pet_history where event like 'order\\_%' group by pet_id
        ) as recorded using (pet_id)
      where (coalesce(placed.placed, 0), coalesce(placed.closed, 0))
        <> (coalesce(recorded.placed, 0), coalesce(recorded.closed, 0))`,
  },
]

const withoutActor = (what: string, text: string): Rule => ({
  fault: `${what} whose actor is missing`,
  remedy: RESTORE_ANOTHER,
  text: `select made.id from (${text}) as made left join actors on actors.id = made.actor_id
    where made.actor_id is not null and actors.id is null`,
})

/** These references have no foreign key: see the comment on the table `actors`. Those of events are in faults.ts of the feed. */
export const ACTOR_RULES: readonly Rule[] = [
  withoutActor('a pet', 'select id, created_by as actor_id from pets'),
  withoutActor('a history entry', 'select id, actor_id from pet_history'),
  withoutActor('an order', 'select id, placed_by as actor_id from orders'),
  withoutActor('a stored response', 'select key as id, actor_id from idempotency_keys'),
]
