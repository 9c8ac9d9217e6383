// What the service does on each table, and so which rights its role needs: deploy/roles.sql grants the same.
import type { Reader } from './database.ts'

type Right = 'select' | 'insert' | 'update' | 'delete'

export const NEEDED_PRIVILEGES: Record<string, readonly Right[]> = {
  api_keys: ['select', 'insert', 'update'],
  categories: ['select', 'insert', 'update'],
  deprecated_calls: ['select', 'insert', 'update'],
  idempotency_keys: ['select', 'insert', 'update', 'delete'],
  imports: ['select', 'insert', 'update'],
  orders: ['select', 'insert', 'update'],
  pet_count_deltas: ['select', 'insert', 'delete'],
  pet_count_position: ['select', 'update'],
  pet_counts: ['select', 'update'],
  pet_counts_by_category: ['select', 'insert', 'update', 'delete'],
  pet_history: ['select', 'insert'],
  pets: ['select', 'insert', 'update', 'delete'],
  petstore_migrations: ['select'],
}

export interface PrivilegesState {
  role: string
  mayChangeSchema: boolean
  /** In words: `update on orders`. */
  lacking: string[]
  /** Likewise, beyond what is needed. */
  excess: string[]
}

/** What the role of this connection may do, beside what it needs. Tables that are not there yet do not count. */
export async function readPrivileges(db: Reader): Promise<PrivilegesState> {
  const [role] = await db.read<Pick<PrivilegesState, 'role' | 'mayChangeSchema'>>({
    name: 'read_role',
    text: `select current_user as role,
      has_schema_privilege(current_user, current_schema(), 'create') as "mayChangeSchema"`,
    values: [],
  })
  const rows = await db.read<{ name: string; right: Right; granted: boolean }>({
    name: 'read_rights',
    text: `select c.relname as name, r.name as "right", has_table_privilege(c.oid, r.name) as granted
      from pg_class c
      cross join unnest(array['select', 'insert', 'update', 'delete', 'truncate']) as r (name)
      where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p')
      order by c.relname`,
    values: [],
  })
  const known = rows.filter(({ name }) => name in NEEDED_PRIVILEGES)
  const isNeeded = ({ name, right }: { name: string; right: Right }) =>
    NEEDED_PRIVILEGES[name]?.includes(right)
  const words = ({ name, right }: { name: string; right: Right }) => `${right} on ${name}`
  return {
    role: role?.role ?? '',
    mayChangeSchema: role?.mayChangeSchema ?? false,
    lacking: known.filter((row) => isNeeded(row) && !row.granted).map(words),
    excess: known.filter((row) => !isNeeded(row) && row.granted).map(words),
  }
}
