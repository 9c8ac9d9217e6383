// The privileges of the roles on each table: the only place that states them. `petstore migrate` grants exactly these
// (grants.ts), and `petstore doctor` compares them with those of its role.
import type { Reader } from '../database.ts'

/** On a whole table or sequence, or on some columns of a table. */
type Privilege = 'select' | 'insert' | 'update' | 'delete' | 'usage' | `select (${string})`
type Privileges = Readonly<Record<string, readonly Privilege[]>>

/** Those of the service. Contains every table of the schema. */
export const NEEDED_PRIVILEGES: Privileges = {
  actors: ['select', 'insert', 'update'],
  api_keys: ['select', 'insert', 'update', 'delete'],
  categories: ['select', 'insert', 'update'],
  // Never changed or deleted.
  day_closings: ['select', 'insert'],
  deprecated_calls: ['select', 'insert', 'update'],
  // Never changed or deleted.
  entries: ['select', 'insert'],
  event_epochs: ['select', 'insert'],
  event_numbers: ['select', 'insert', 'delete'],
  finished_sign_ins: ['select', 'insert', 'delete'],
  // `petstore report` adds rows, with the role of `petstore verify`.
  health_reports: ['select'],
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
  // Deleted with its pet, by the foreign key.
  pet_profiles: ['select', 'insert', 'update'],
  pets: ['select', 'insert', 'update', 'delete'],
  petstore_migrations: ['select'],
  // `petstore verify` adds rows with a role of its own.
  restore_checks: ['select', 'delete'],
  store_settings: ['select', 'update'],
  webhook_deliveries: ['select'],
  webhook_retries: ['select', 'insert', 'update', 'delete'],
  // Without the secrets themselves.
  webhook_secrets: ['select (id, webhook_id, expires_at)', 'insert', 'update', 'delete'],
  webhooks: ['select', 'insert', 'update', 'delete'],
}

export const DELIVERY_PRIVILEGES: Privileges = {
  // An event of an order contains the name of the actor that placed it.
  actors: ['select (id, name)'],
  event_epochs: ['select'],
  event_numbers: ['select'],
  outbox: ['select'],
  petstore_migrations: ['select'],
  webhook_deliveries: ['select', 'insert', 'delete'],
  webhook_retries: ['select', 'insert', 'update', 'delete'],
  webhook_secrets: ['select'],
  webhooks: ['select', 'update'],
}

/** `petstore verify` reads everything except the secrets of webhooks, and adds its results, as `petstore report` does. */
const VERIFY_PRIVILEGES: Privileges = {
  ...Object.fromEntries(Object.keys(NEEDED_PRIVILEGES).map((table) => [table, ['select']])),
  health_reports: ['select', 'insert', 'update'],
  restore_checks: ['select', 'insert'],
  webhook_secrets: ['select (id, webhook_id, expires_at)'],
}

/** Stands for all sequences of the tables. */
export const EVERY_SEQUENCE = '*'

/** The role of `petstore deliver`. */
export const DELIVERY_ROLE = 'petstore_deliver'

/** The roles of deploy/roles.sql, with their privileges on tables and sequences. */
export const ROLE_PRIVILEGES: Readonly<Record<string, Privileges>> = {
  petstore_app: { ...NEEDED_PRIVILEGES, pets_id_seq: ['usage'] },
  [DELIVERY_ROLE]: DELIVERY_PRIVILEGES,
  petstore_verify: { ...VERIFY_PRIVILEGES, [EVERY_SEQUENCE]: ['select'] },
}

export interface PrivilegeRow {
  /** The table or sequence. */
  name: string
  /** Undefined if the privilege is on the whole table. */
  column: string | undefined
  privilege: string
}

/** One row for each privilege and column. */
export function toRows(privileges: Privileges): PrivilegeRow[] {
  return Object.entries(privileges).flatMap(([name, texts]) =>
    texts.flatMap((text) => {
      const [, privilege = text, columns] = /^(\w+) \((.+)\)$/.exec(text) ?? []
      return (columns?.split(', ') ?? [undefined]).map((column) => ({ name, column, privilege }))
    }),
  )
}

export interface PrivilegesState {
  role: string
  /** True if the role owns the tables, so that it can do everything with them. */
  ownsTables: boolean
  /** Missing privileges, such as `update on orders`. */
  lacking: string[]
  /** Granted privileges that the role does not need. */
  excess: string[]
}

/**
 * Compares the privileges of the current role, including inherited ones, with those that it needs. A role with another
 * name is compared with the needs of the service. Ignores tables that do not exist.
 */
export async function readPrivileges(db: Reader): Promise<PrivilegesState> {
  const { role = '', ownsTables = false, mayCreate = false, mayLock = true } = (await readRole(db)) ?? {}
  const rows = await readTablePrivileges(db)
  const needed = new Set(toRows(ROLE_PRIVILEGES[role] ?? NEEDED_PRIVILEGES).map(describe))
  const known = rows.map((row) => ({ ...row, text: describe({ ...row, column: row.column ?? undefined }) }))
  const excess = known.filter(({ text, granted }) => granted && !needed.has(text))
  return {
    role,
    ownsTables,
    lacking: [
      ...known.filter(({ text, granted }) => !granted && needed.has(text)).map(({ text }) => text),
      // deploy/roles.sql grants this to its own roles.
      ...(role in ROLE_PRIVILEGES || mayLock ? [] : ['execute on the functions of advisory locks']),
    ],
    excess: [...(mayCreate ? ['create on the schema'] : []), ...excess.map(({ text }) => text)],
  }
}

type RoleState = { role: string; ownsTables: boolean; mayCreate: boolean; mayLock: boolean }

async function readRole(db: Reader): Promise<RoleState | undefined> {
  const [state] = await db.read<RoleState>({
    name: 'read_role',
    bounded: 'without a table',
    text: `select current_user as role, has_schema_privilege(current_schema(), 'create') as "mayCreate",
        has_function_privilege('pg_catalog.pg_try_advisory_xact_lock(bigint)', 'execute') as "mayLock",
        coalesce(bool_and(pg_has_role(relowner, 'usage')), has_schema_privilege(current_schema(), 'create')) as "ownsTables"
      from pg_class
      where relnamespace = current_schema()::regnamespace and relname = any($1)`,
    values: [Object.keys(NEEDED_PRIVILEGES)],
  })
  return state
}

type TablePrivilegeState = { name: string; column: string | null; privilege: string; granted: boolean }

/** A privilege on a whole table includes its columns. */
async function readTablePrivileges(db: Reader): Promise<TablePrivilegeState[]> {
  return db.read<TablePrivilegeState>({
    name: 'read_table_privileges',
    bounded: 'without a table',
    text: `with tables as (
        select oid, relname from pg_class
        where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p') and relname = any($1)
      )
      select relname as name, null as column, privilege, has_table_privilege(oid, privilege) as granted
      from tables
      cross join unnest(array['select', 'insert', 'update', 'delete', 'truncate', 'references', 'trigger']) as privilege
      union all
      select relname, attname, privilege, has_column_privilege(oid, attnum, privilege)
      from tables
      join pg_attribute on attrelid = oid and attnum > 0 and not attisdropped
      cross join unnest(array['select', 'insert', 'update', 'references']) as privilege
      where not has_table_privilege(oid, privilege)
      order by name`,
    values: [Object.keys(NEEDED_PRIVILEGES)],
  })
}

function describe({ name, column, privilege }: PrivilegeRow): string {
  return `${privilege}${column === undefined ? '' : ` (${column})`} on ${name}`
}
