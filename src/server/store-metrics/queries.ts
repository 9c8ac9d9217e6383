// The figures of the store that operators watch, in one statement.
import type { Reader } from '../../db/database.ts'

/** Holds that expire within this time count as expiring. */
const EXPIRING_SECONDS = 300
/** A key that was not used for this long is no longer needed, so its expiry is no problem. */
const USED_WITHIN_DAYS = 7

export interface StoreState {
  holds: number
  holdsExpiring: number
  /** How long the oldest hold has been overdue; 0 if none is. */
  overdueSeconds: number
  /** When the next API key that a program uses expires; null if none does. */
  nextKeyExpiry: Date | null
  /** Calls of deprecated operations since midnight, in UTC. */
  deprecatedCalls: Record<string, number>
}

/** False before the first migration, and for a role that only delivers webhooks. Includes the tables of the feed. */
export async function canReadStoreState(db: Reader): Promise<boolean> {
  const [tables] = await db.read<{ areReadable: boolean | null }>({
    name: 'can_read_store_state',
    bounded: 'without a table',
    text: `select bool_and(coalesce(has_table_privilege(to_regclass(name), 'select'), false)) as "areReadable"
      from unnest(array['orders', 'actors', 'api_keys', 'deprecated_calls', 'outbox', 'event_numbers', 'event_epochs']) as name`,
    values: [],
  })
  return tables?.areReadable === true
}

export async function readStoreState(db: Reader): Promise<StoreState> {
  const [state] = await db.read<StoreState>({
    name: 'read_store_state',
    bounded: 'by a narrow index',
    text: `select holds.*, keys."nextKeyExpiry", calls."deprecatedCalls"
      from (
        select count(*)::int as holds,
          (count(*) filter (where expires_at < now() + $1 * interval '1 second'))::int as "holdsExpiring",
          greatest(0, coalesce(extract(epoch from now() - min(expires_at)), 0))::float8 as "overdueSeconds"
        from orders where status = 'open'
      ) holds
      cross join (
        select min(expires_at) as "nextKeyExpiry"
        from api_keys join actors on actors.id = actor_id
        where kind = 'program' and revoked_at is null and expires_at > now()
          and last_used_at > now() - $2 * interval '1 day'
      ) keys
      cross join (
        select coalesce(jsonb_object_agg(operation, calls), '{}') as "deprecatedCalls"
        from (
          select operation, sum(calls)::float8 as calls
          from deprecated_calls where day = (now() at time zone 'UTC')::date
          group by operation
        ) today
      ) calls`,
    values: [EXPIRING_SECONDS, USED_WITHIN_DAYS],
  })
  if (state === undefined) throw new Error('PostgreSQL returned no state of the store')
  return state
}
