// Who a test is to PostgreSQL. The service is petstore_app in every test, as deploy/roles.sql makes it for
// production: what it lacks the right to do fails here first.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from 'pg'
import { migrate } from '../../src/db/migrate.ts'

export const APPLICATION = 'petstore_app'
export const OWNER = 'petstore_migrator'
const ROLES_SQL = readFileSync(join(import.meta.dirname, '../../deploy/roles.sql'), 'utf8')

export const asApplication = (databaseUrl: string) => as(APPLICATION, databaseUrl)
/** For MIGRATION_DATABASE_URL. */
export const asOwner = (databaseUrl: string) => as(OWNER, databaseUrl)
export const asSuperuser = (databaseUrl: string) => as('postgres', databaseUrl)

function as(role: string, databaseUrl: string): string {
  const url = new URL(databaseUrl)
  url.username = role
  return url.href
}

/** Runs deploy/roles.sql there, as an operator would. */
export async function makeRoles(databaseUrl: string): Promise<void> {
  await changeRoles(databaseUrl, ROLES_SQL)
}

/** Roles belong to the server, and PostgreSQL rejects two changes of one at a time: test files take turns. */
export async function changeRoles(databaseUrl: string, statements: string): Promise<void> {
  const coalesced = new URL(databaseUrl)
  coalesced.pathname = 'postgres'
  await onClient(coalesced.href, async (turn) => {
    await turn.query('select pg_advisory_lock(1)')
    await onClient(databaseUrl, (client) => client.query(statements))
  })
}

/** Roles, schema, and the roles again, since only then the tables are there to be narrowed. */
export async function prepareDatabase(databaseUrl: string): Promise<string> {
  await makeRoles(databaseUrl)
  await migrate(asOwner(databaseUrl))
  await makeRoles(databaseUrl)
  // What a test makes by hand, a trigger's table for instance, is the service's to use.
  await onClient(databaseUrl, (client) =>
    client.query(`alter default privileges in schema public grant all on tables to ${APPLICATION};
      alter default privileges in schema public grant all on sequences to ${APPLICATION}`),
  )
  return asApplication(databaseUrl)
}

async function onClient(databaseUrl: string, work: (client: Client) => Promise<unknown>): Promise<void> {
  const client = new Client(asSuperuser(databaseUrl))
  await client.connect()
  try {
    await work(client)
  } finally {
    await client.end()
  }
}
