// The check `planner`: whether PostgreSQL reuses the plans of the service's statements.
import type { Reader } from '../../db/database.ts'
import { readPlannerSettings } from '../../db/inspect/planner.ts'
import type { Finding } from './finding.ts'

export async function checkPlanner(db: Reader): Promise<Finding> {
  const check = 'planner'
  const { role, different } = await readPlannerSettings(db)
  if (different.length > 0) {
    return {
      check,
      state: 'warning',
      message: `the role ${role} has ${different.join(' and ')}: PostgreSQL plans some statements at each execution`,
      remedy: 'Run deploy/roles.sql again.',
    }
  }
  return { check, state: 'ok', message: 'PostgreSQL plans each statement once per connection' }
}
