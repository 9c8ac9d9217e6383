// The check `roles`: whether the roles have only the settings and functions of deploy/roles.sql.
import type { Reader } from '../../db/database.ts'
import { listRoleDifferences, type RoleDifference } from '../../db/inspect/roles.ts'
import type { Finding } from './finding.ts'

/** A warning: PostgreSQL lets each role change its own settings, so nothing can prevent it. */
export async function checkRoles(db: Reader): Promise<Finding> {
  const check = 'roles'
  const different = await listRoleDifferences(db)
  if (different.length === 0) {
    return {
      check,
      state: 'ok',
      message: 'the roles have only the settings and functions of deploy/roles.sql',
    }
  }
  return {
    check,
    state: 'warning',
    message: different.map(describe).join('; '),
    remedy:
      'As a superuser, run deploy/roles.sql again. If a role has a setting that no operator made, also change its password: somebody else has used it.',
  }
}

function describe({ role, added, lacking, functions }: RoleDifference): string {
  const parts = [
    ...(added.length > 0 ? [`has the settings ${added.join(', ')}`] : []),
    ...(lacking.length > 0 ? [`lacks the settings ${lacking.join(', ')}`] : []),
    ...(functions.length > 0 ? [`can use ${functions.join(' and ')}, which it does not need`] : []),
  ]
  return `the role ${role} ${parts.join(', and ')}`
}
