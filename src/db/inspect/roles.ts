// What the roles of deploy/roles.sql have beyond the privileges on tables, which privileges.ts compares: settings, and
// functions that PostgreSQL lets every role call.
import type { Reader } from '../database.ts'

const SERVICE_SETTINGS = [
  'client_connection_check_interval=1s',
  'idle_in_transaction_session_timeout=5s',
  'jit=off',
  'lock_timeout=1s',
  'plan_cache_mode=force_generic_plan',
  'search_path=public',
  'statement_timeout=3s',
]

interface RoleNeeds {
  settings: readonly string[]
  locks: boolean
}

/** What deploy/roles.sql gives each role. */
const ROLES: Readonly<Record<string, RoleNeeds>> = {
  petstore_app: { settings: SERVICE_SETTINGS, locks: true },
  petstore_deliver: { settings: SERVICE_SETTINGS, locks: false },
  petstore_migrator: { settings: ['search_path=public'], locks: true },
  petstore_verify: { settings: ['search_path=public'], locks: false },
}

export interface RoleDifference {
  role: string
  /** Settings that the role has and does not need, such as `search_path=other`. */
  added: string[]
  /** Settings that the role lacks. */
  lacking: string[]
  /** Functions that the role can call and does not need. */
  functions: ('large objects' | 'advisory locks')[]
}

type RoleState = { role: string; settings: string[]; objects: boolean; locks: boolean }

/** Returns the roles of deploy/roles.sql, of those that exist, that differ from it. */
export async function listRoleDifferences(db: Reader): Promise<RoleDifference[]> {
  const states = await readRoleStates(db)
  return states
    .map(({ role, settings, objects, locks }) => {
      const needed = ROLES[role] as RoleNeeds
      return {
        role,
        added: settings.filter((setting) => !needed.settings.includes(setting)),
        lacking: needed.settings.filter((setting) => !settings.includes(setting)),
        functions: [
          ...(objects ? (['large objects'] as const) : []),
          ...(locks && !needed.locks ? (['advisory locks'] as const) : []),
        ],
      }
    })
    .filter(({ added, lacking, functions }) => added.length + lacking.length + functions.length > 0)
}

/** Only settings that a role can change for itself: a superuser has made all others. */
async function readRoleStates(db: Reader): Promise<RoleState[]> {
  return db.read<RoleState>({
    name: 'read_role_states',
    bounded: 'without a table',
    text: `select rolname as role, array(
        select config
        from pg_db_role_setting
        cross join unnest(setconfig) as config
        join pg_settings setting on lower(setting.name) = lower(split_part(config, '=', 1))
        where setrole = role.oid and setting.context = 'user'
          and setdatabase in (0, (select oid from pg_database where datname = current_database()))
        order by config
      ) as settings, objects, locks
      from pg_roles role
      cross join lateral (
        select coalesce(bool_or(proname ~ '^lo') filter (where has_function_privilege(role.oid, oid, 'execute')), false) as objects,
          coalesce(bool_or(proname ~ 'advisory') filter (where has_function_privilege(role.oid, oid, 'execute')), false) as locks
        from pg_proc
        where pronamespace = 'pg_catalog'::regnamespace
          and proname ~ '^(lo_|loread$|lowrite$|pg_(try_)?advisory_)'
      ) as callable
      where rolname = any($1)
      order by rolname`,
    values: [Object.keys(ROLES)],
  })
}
