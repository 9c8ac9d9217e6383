// The checks of the schema: migrations, privileges, owners and collations.
import type { Config } from '../../config/config.ts'
import { roleOf } from '../../config/database-url.ts'
import type { Reader } from '../../db/database.ts'
import { listStaleCollations, type StaleCollation } from '../../db/inspect/collations.ts'
import { readOwners } from '../../db/inspect/owners.ts'
import { DELIVERY_ROLE, readPrivileges, ROLE_PRIVILEGES } from '../../db/inspect/privileges.ts'
import { readSchemaState } from '../../db/migrations/migrate.ts'
import type { Finding } from './finding.ts'

export async function checkSchema(db: Reader): Promise<Finding> {
  const check = 'schema'
  const { version, missing, unknown } = await readSchemaState(db)
  if (missing.length > 0) {
    return {
      check,
      state: 'fault',
      message: `missing migrations: ${missing.join(', ')}`,
      remedy: 'Run: petstore migrate',
    }
  }
  if (unknown.length > 0) {
    return {
      check,
      state: 'warning',
      message: `the database has migrations of a newer version of Petstore: ${unknown.join(', ')}`,
      remedy: 'This is expected during a rolling upgrade. Otherwise, install the newer version.',
    }
  }
  return { check, state: 'ok', message: `up to date (${version})` }
}

/** Both a missing and an unneeded privilege are faults. A single role that owns everything works, but is less secure. */
export async function checkPrivileges(db: Reader): Promise<Finding> {
  const check = 'privileges'
  const { role, ownsTables, lacking, excess } = await readPrivileges(db)
  const user = role === DELIVERY_ROLE ? '`petstore deliver`' : 'the service'
  const isGranted = role in ROLE_PRIVILEGES
  if (lacking.length > 0) {
    return {
      check,
      state: 'fault',
      message: `the role ${role} lacks ${lacking.join(', ')}`,
      remedy: isGranted
        ? 'Run: petstore migrate'
        : `Grant them to ${role}, or use a role of deploy/roles.sql.`,
    }
  }
  if (ownsTables) {
    return {
      check,
      state: 'warning',
      message: `the role ${role} can change the schema, which ${user} does not need`,
      remedy: 'Create the roles with deploy/roles.sql, and use the owner only in MIGRATION_DATABASE_URL.',
    }
  }
  if (excess.length > 0) {
    return {
      check,
      state: 'fault',
      message: `the role ${role} has privileges that ${user} does not need: ${excess.join(', ')}`,
      remedy: isGranted
        ? 'Run: petstore migrate. If they remain, run deploy/roles.sql, and revoke the memberships of the role.'
        : `Revoke them from ${role}, or use a role of deploy/roles.sql.`,
    }
  }
  return {
    check,
    state: 'ok',
    message: `the role ${role} has the privileges that ${user} needs, and cannot change the schema`,
  }
}

/** After a restore, another role can be the owner: the service works, but the next migration fails. */
export async function checkOwners(db: Reader, { MIGRATION_DATABASE_URL }: Config): Promise<Finding> {
  const check = 'owners'
  const role = MIGRATION_DATABASE_URL && roleOf(MIGRATION_DATABASE_URL)
  const { migrator, exists, notOwned } = await readOwners(db, role)
  if (!exists) {
    return {
      check,
      state: 'ok',
      message: `not checked: the role ${migrator} does not exist. To check another role, set MIGRATION_DATABASE_URL`,
    }
  }
  if (notOwned.length > 0) {
    return {
      check,
      state: 'fault',
      message: `the role ${migrator} does not own ${notOwned.join(', ')}: \`petstore migrate\` can fail`,
      remedy: 'Run deploy/roles.sql again.',
    }
  }
  return {
    check,
    state: 'ok',
    message: `the role ${migrator} owns all tables, types and functions`,
  }
}

export async function checkCollations(db: Reader): Promise<Finding> {
  const check = 'collations'
  const stale = await listStaleCollations(db)
  if (stale.length === 0) {
    return { check, state: 'ok', message: 'all indexes use the current version of their collation' }
  }
  return {
    check,
    state: 'warning',
    message: stale.map(describeCollation).join('. '),
    remedy: stale.map(rebuildIndexes).join(' '),
  }
}

function describeCollation({ name, recordedVersion, actualVersion, indexes }: StaleCollation): string {
  const current = actualVersion === null ? 'now has no version' : `is now version ${actualVersion}`
  return `the collation ${name} ${current}, but these indexes were built with version ${recordedVersion}, so queries can miss rows: ${indexes.join(', ')}`
}

function rebuildIndexes({ indexes, owner, refresh }: StaleCollation): string {
  const statements = indexes.map((index) => `reindex index concurrently ${index};`).join(' ')
  return `As ${owner}, run one statement at a time: ${statements} Then, as a superuser: ${refresh};`
}
