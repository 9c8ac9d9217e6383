// The privileges that the roles of the service and of `petstore deliver` need on each table. deploy/roles.sql grants the
// same privileges.
import type { Reader } from './database.ts'

type Privilege = 'select' | 'insert' | 'update' | 'delete'

export const NEEDED_PRIVILEGES: Record<string, readonly Privilege[]> = {
  api_keys: ['select', 'insert', 'update'],
  categories: ['select', 'insert', 'update'],
  deprecated_calls: ['select', 'insert', 'update'],
  event_epochs: ['select', 'insert'],
  event_numbers: ['select', 'insert', 'delete'],
  finished_sign_ins: ['select', 'insert', 'delete'],
  idempotency_keys: ['select', 'insert', 'update', 'delete'],
  imports: ['select', 'insert', 'update'],
  orders: ['select', 'insert', 'update'],
  outbox: ['select', 'insert', 'delete'],
  pet_count_deltas: ['select', 'insert', 'delete'],
  pet_count_position: ['select', 'update'],
  pet_counts: ['select', 'update'],
  pet_counts_by_category: ['select', 'insert', 'update', 'delete'],
  pet_figures: ['select', 'insert', 'update', 'delete'],
  pet_figures_start: ['select'],
  pet_history: ['select', 'insert'],
  pets: ['select', 'insert', 'update', 'delete'],
  petstore_migrations: ['select'],
  // `petstore verify` adds rows with a role of its own.
  restore_checks: ['select', 'delete'],
  sign_ins: ['select', 'insert', 'delete'],
  webhook_deliveries: ['select'],
  webhook_retries: ['select', 'insert', 'update', 'delete'],
  // Without the secrets themselves: `petstore_app` can read the other columns.
  webhook_secrets: ['insert', 'update', 'delete'],
  webhooks: ['select', 'insert', 'update', 'delete'],
}

/** The role of `petstore deliver`. Every other role is compared with the needs of the service. */
export const DELIVERY_ROLE = 'petstore_deliver'

export const DELIVERY_PRIVILEGES: Record<string, readonly Privilege[]> = {
  event_epochs: ['select'],
  event_numbers: ['select'],
  outbox: ['select'],
  petstore_migrations: ['select'],
  webhook_deliveries: ['select', 'insert', 'delete'],
  webhook_retries: ['select', 'insert', 'update', 'delete'],
  webhook_secrets: ['select'],
  webhooks: ['select', 'update'],
}

interface TablePrivilege {
  name: string
  right: Privilege
}

export interface PrivilegesState {
  role: string
  mayChangeSchema: boolean
  /** Missing privileges, such as `update on orders`. */
  lacking: string[]
  /** Granted privileges that the role does not need. */
  excess: string[]
}

/** Compares the privileges of the current role with those that it needs. Ignores tables that do not exist. */
export async function readPrivileges(db: Reader): Promise<PrivilegesState> {
  const [role] = await db.read<Pick<PrivilegesState, 'role' | 'mayChangeSchema'>>({
    name: 'read_role',
    text: `select current_user as role,
      has_schema_privilege(current_user, current_schema(), 'create') as "mayChangeSchema"`,
    values: [],
  })
  const rows = await db.read<TablePrivilege & { granted: boolean }>({
    name: 'read_rights',
    text: `select c.relname as name, r.name as "right", has_table_privilege(c.oid, r.name) as granted
      from pg_class c
      cross join unnest(array['select', 'insert', 'update', 'delete', 'truncate']) as r (name)
      where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p')
      order by c.relname`,
    values: [],
  })
  const known = rows.filter(({ name }) => name in NEEDED_PRIVILEGES)
  const needed = role?.role === DELIVERY_ROLE ? DELIVERY_PRIVILEGES : NEEDED_PRIVILEGES
  const isNeeded = ({ name, right }: TablePrivilege) => needed[name]?.includes(right)
  const toText = ({ name, right }: TablePrivilege) => `${right} on ${name}`
  return {
    role: role?.role ?? '',
    mayChangeSchema: role?.mayChangeSchema ?? false,
    lacking: known.filter((row) => isNeeded(row) && !row.granted).map(toText),
    excess: known.filter((row) => !isNeeded(row) && row.granted).map(toText),
  }
}
