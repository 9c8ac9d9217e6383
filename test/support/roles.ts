// The PostgreSQL roles of the tests. The service connects as petstore_app in every test, as deploy/roles.sql creates it
// for production, so a missing privilege fails in the tests first.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from 'pg'
import { migrate } from '../../src/db/migrations/migrate.ts'

export const APPLICATION = 'petstore_app'
export const OWNER = 'petstore_migrator'
export const DELIVERY = 'petstore_deliver'
export const VERIFIER = 'petstore_verify'
/** Whatever the variables and the time zone of the host are. */
const INITIAL_SETTINGS = { CURRENCY: 'EUR', TIME_ZONE: 'Europe/Berlin' }
const ROLES_SQL = readFileSync(join(import.meta.dirname, '../../deploy/roles.sql'), 'utf8')

export const asApplication = (databaseUrl: string) => as(APPLICATION, databaseUrl)
/** The URL with the role of the owner, for MIGRATION_DATABASE_URL. */
export const asOwner = (databaseUrl: string) => as(OWNER, databaseUrl)
/** The URL with the role of `petstore deliver`. */
export const asDelivery = (databaseUrl: string) => as(DELIVERY, databaseUrl)
/** The URL with the role of `petstore verify`. */
export const asVerifier = (databaseUrl: string) => as(VERIFIER, databaseUrl)
export const asSuperuser = (databaseUrl: string) => as('postgres', databaseUrl)

function as(role: string, databaseUrl: string): string {
  const url = new URL(databaseUrl)
  url.username = role
  return url.href
}

/** Runs deploy/roles.sql, as an operator would. */
export async function makeRoles(databaseUrl: string): Promise<void> {
  await changeRoles(databaseUrl, ROLES_SQL)
}

/** Runs statements that change roles, one test file at a time: PostgreSQL rejects concurrent changes to a role. */
export async function changeRoles(databaseUrl: string, statements: string): Promise<void> {
  const shared = new URL(databaseUrl)
  shared.pathname = 'postgres'
  await onClient(shared.href, async (turn) => {
    await turn.query('select pg_advisory_lock(1)')
    await onClient(databaseUrl, (client) => client.query(statements))
  })
}

/** Creates the roles and the schema, as an operator would. */
export async function prepareDatabase(databaseUrl: string): Promise<string> {
  await makeRoles(databaseUrl)
  await migrate(asOwner(databaseUrl), { initialSettings: INITIAL_SETTINGS })
  // The service can use tables that a test creates, such as the table of a trigger.
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
