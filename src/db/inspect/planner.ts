// The planner settings of the service's role, as deploy/roles.sql sets them.
import type { Reader } from '../database.ts'

export interface PlannerSettings {
  role: string
  /** Settings that differ from those that the service needs, such as `jit = on`. */
  different: string[]
}

/**
 * All statements of the service are prepared, and each has one good plan. With `auto`, PostgreSQL plans some of them at
 * each execution. With the JIT, it may compile a plan whose estimate is high, which takes longer than running it.
 */
export async function readPlannerSettings(db: Reader): Promise<PlannerSettings> {
  const [settings] = await db.read<PlannerSettings>({
    name: 'read_planner_settings',
    bounded: 'without a table',
    text: `select current_user as role, array(
        select format('%s = %s', name, setting) from pg_settings
        join (values ('plan_cache_mode', 'force_generic_plan'), ('jit', 'off')) as needed (name, value) using (name)
        where setting <> value
        order by name
      ) as different`,
    values: [],
  })
  if (settings === undefined) throw new Error('PostgreSQL returned no planner settings')
  return settings
}
