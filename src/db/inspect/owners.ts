// Checks whether the migrating role owns the objects that migrations create, because only an owner can alter an object.
// deploy/roles.sql makes petstore_migrator the owner of the same objects.
import type { Reader } from '../database.ts'
import { NEEDED_PRIVILEGES } from './privileges.ts'

export const OWNED_OBJECTS = [
  ...Object.keys(NEEDED_PRIVILEGES),
  'entry_kind',
  'event_type',
  'order_status',
  'payment_method',
  'pet_status',
  'accepts_price',
  'check_completed_orders',
  'check_entries',
  'check_returned_pets',
  'close_day',
  'complete_orders',
  'count_deleted_pets',
  'count_numbered_events',
  'count_truncated_pets',
  'count_updated_pets',
  'event_actor_id',
  'event_actors',
  'event_request_id',
  'expected_cash',
  'idempotency_lock',
  'json_time',
  'order_balance',
  'order_event_type',
  'pet_name_key',
  'pet_search_key',
  'pet_word_keys',
  'place_orders',
  'record_changed_orders',
  'record_created_pets',
  'record_deleted_pets',
  'record_entries',
  'record_placed_orders',
  'record_truncated_pets',
  'record_updated_pets',
  'record_written_profiles',
  'reject_change',
  'till_day',
  'till_moment',
  'till_now',
  'unfolded_pet_counts',
]

export interface OwnersState {
  /** The role that runs migrations. */
  migrator: string
  /** True if the database has the role `migrator`. If false, `notOwned` is meaningless. */
  exists: boolean
  /** Objects that the role does not own, directly or through membership in the owning role. */
  notOwned: string[]
}

/**
 * If `migrator` is undefined, checks the current role. If the current role cannot create objects in the schema, checks
 * petstore_migrator instead, which deploy/roles.sql creates.
 */
export async function readOwners(db: Reader, migrator: string | undefined): Promise<OwnersState> {
  const [state] = await db.read<OwnersState>({
    name: 'read_owners',
    bounded: 'without a table',
    text: `with migrator (name) as (
        select coalesce(
          nullif($1, ''),
          case when has_schema_privilege(current_schema(), 'create') then current_user::text end,
          'petstore_migrator'
        )
      ),
      objects (name, owner) as (
        select relname::text, relowner from pg_class
        where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p')
        union all
        select typname, typowner from pg_type
        where typnamespace = current_schema()::regnamespace and typtype = 'e'
        union all
        select proname, proowner from pg_proc where pronamespace = current_schema()::regnamespace
      )
      select migrator.name as migrator, role.oid is not null as exists,
        array(
          select objects.name from objects
          where objects.name = any($2) and not pg_has_role(role.oid, objects.owner, 'usage')
          order by objects.name
        ) as "notOwned"
      from migrator
      left join pg_roles role on role.rolname = migrator.name`,
    values: [migrator, OWNED_OBJECTS],
  })
  return state ?? { migrator: '', exists: false, notOwned: [] }
}
