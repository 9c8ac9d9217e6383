// deploy/roles.sql: the role of the service has no privilege that it does not need. All other tests run the service as
// this role, so they fail if it lacks one.
import { Client } from 'pg'
import { afterAll, expect, test } from 'vitest'
import { OWNED_OBJECTS } from '../../src/db/owners.ts'
import { DELIVERY_PRIVILEGES, DELIVERY_ROLE, NEEDED_PRIVILEGES } from '../../src/db/privileges.ts'
import { openTestClient } from '../support/client.ts'
import { createTestDatabase, sql } from '../support/database.ts'
import {
  asDelivery,
  asOwner,
  asSuperuser,
  asVerifier,
  changeRoles,
  makeRoles,
  VERIFIER,
} from '../support/roles.ts'
import { petstore, startService } from '../support/service.ts'

const databaseUrl = await createTestDatabase()
const TABLES = Object.keys(NEEDED_PRIVILEGES)

/** The privileges on each table and sequence that are granted to the role or to PUBLIC. */
async function grantsIn(url: string, role = 'petstore_app'): Promise<Record<string, string[]>> {
  const rows = await sql<{ name: string; privileges: string[] }>(
    url,
    `select c.relname as name,
        array_agg(
          lower(acl.privilege_type) || case when acl.is_grantable then ' with grant option' else '' end
          order by acl.privilege_type
        ) as privileges
      from pg_class c cross join aclexplode(c.relacl) as acl
      where c.relnamespace = 'public'::regnamespace
        and (acl.grantee = 0 or acl.grantee = $1::regrole)
      group by c.relname`,
    [role],
  )
  return Object.fromEntries(rows.map(({ name, privileges }) => [name, privileges]))
}

const service = new Client(databaseUrl)
await service.connect()
afterAll(() => service.end())

/** Runs the statement and rolls it back, in case it is not rejected. */
async function runAsService(statement: string): Promise<unknown> {
  await service.query('begin')
  try {
    return (await service.query(statement)).rows
  } finally {
    await service.query('rollback')
  }
}

test('the service has exactly the privileges that petstore doctor expects, on every table', async () => {
  const tables = await sql<{ name: string }>(
    databaseUrl,
    `select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')`,
  )
  expect(tables.map(({ name }) => name).toSorted()).toEqual(TABLES.toSorted())
  const expected = Object.entries(NEEDED_PRIVILEGES).map(([name, privileges]) => [
    name,
    [...privileges].toSorted(),
  ])
  expect(await grantsIn(databaseUrl)).toEqual({ ...Object.fromEntries(expected), pets_id_seq: ['usage'] })
})

test('the delivery of webhooks can read events and secrets, and nothing about pets, orders and API keys', async () => {
  const expected = Object.entries(DELIVERY_PRIVILEGES).map(([name, privileges]) => [
    name,
    [...privileges].toSorted(),
  ])
  expect(await grantsIn(databaseUrl, DELIVERY_ROLE)).toEqual(Object.fromEntries(expected))
  const delivery = asDelivery(databaseUrl)
  for (const statement of ['select hash from api_keys', 'select from pets', 'select from orders']) {
    const client = new Client(delivery)
    await client.connect()
    await expect(client.query(statement), statement).rejects.toThrow(/permission denied/)
    await client.end()
  }
})

test('the role of petstore verify can read everything except the secrets of webhooks, and only add results of restore checks', async () => {
  const grants = await grantsIn(databaseUrl, VERIFIER)
  const sequences = Object.keys(grants).filter((name) => name.endsWith('_id_seq'))
  const readable = TABLES.filter((name) => name !== 'webhook_secrets')
  expect(grants).toEqual({
    ...Object.fromEntries([...readable, ...sequences].map((name) => [name, ['select']])),
    restore_checks: ['insert', 'select'],
  })
  expect(sequences).toContain('pets_id_seq')
  const client = new Client(asVerifier(databaseUrl))
  await client.connect()
  await client.query('select id, webhook_id, expires_at from webhook_secrets')
  for (const statement of [
    'select secret from webhook_secrets',
    'delete from pets',
    'delete from restore_checks',
    'update restore_checks set is_proven = true',
    'select nextval($$pets_id_seq$$)',
    'create table x ()',
    'create temporary table x ()',
  ]) {
    await expect(client.query(statement), statement).rejects.toThrow(/permission denied/)
  }
  await client.end()
})

test('tests run the service as petstore_app, without attributes or memberships', async () => {
  const [role] = (await runAsService(
    `select current_user as role, rolsuper or rolcreaterole or rolcreatedb or rolreplication or rolbypassrls as privileged,
      (select count(*)::int from pg_auth_members where member = pg_roles.oid) as memberships
      from pg_roles where rolname = current_user`,
  )) as object[]
  expect(role).toEqual({ role: 'petstore_app', privileged: false, memberships: 0 })
})

test.each([
  ...TABLES.flatMap((table) => [
    `drop table ${table}`,
    `truncate ${table}`,
    `alter table ${table} add x int`,
    `alter table ${table} disable trigger all`,
    `create index on ${table} ((1))`,
    `create rule r as on insert to ${table} do instead nothing`,
    `alter table ${table} owner to petstore_app`,
  ]),
  'create table x ()',
  'create temporary table x ()',
  'create schema x',
  'create view x as select 1',
  'create function x() returns int language sql return 1',
  'create type x as enum ()',
  'create sequence x',
  'create extension pgcrypto',
  'create role x',
  'create or replace function pet_name_key(name text) returns text language sql return name',
  'create trigger x after insert on pets execute function record_created_pets()',
  'drop index orders_one_open_per_pet',
  'drop function record_created_pets',
  'alter type pet_status add value $$lost$$',
  'alter sequence pets_id_seq restart',
  'alter role petstore_app superuser',
  'alter role petstore_migrator password $$x$$',
  'set role petstore_migrator',
  'set session authorization postgres',
])('the role of the service cannot run: %s', async (statement) => {
  await expect(runAsService(statement)).rejects.toThrow(/permission denied|must be (owner|superuser)/)
})

test.each([
  'update pet_history set reason = $$x$$',
  'delete from pet_history',
  'delete from orders',
  'delete from api_keys',
  'delete from imports',
  'delete from deprecated_calls',
  'delete from pet_counts',
  'insert into restore_checks (is_proven, duration_ms, message) values (true, 1, $$x$$)',
  'update restore_checks set is_proven = true',
  'insert into petstore_migrations (name, run_on) values ($$x$$, now())',
  'delete from petstore_migrations',
  'select setval($$pets_id_seq$$, 1)',
])('the role of the service cannot change records: %s', async (statement) => {
  await expect(runAsService(statement)).rejects.toThrow('permission denied')
})

test.each([
  'select rolpassword from pg_authid',
  'select * from pg_user_mapping',
  'select pg_read_file($$PG_VERSION$$)',
  'select pg_ls_dir($$.$$)',
  'select lo_import($$/etc/hostname$$)',
  'copy pets to $$/tmp/pets$$',
  'copy pets (name) from $$/etc/hostname$$',
  'copy pets (name) from program $$hostname$$',
  'select pg_terminate_backend(pid) from pg_stat_activity where usename = $$postgres$$',
])('the role of the service cannot access anything outside its tables: %s', async (statement) => {
  // The message depends on the version of PostgreSQL; 42501 is insufficient_privilege.
  await expect(runAsService(statement)).rejects.toMatchObject({ code: '42501' })
})

test('another role of the same server cannot connect to the database', async () => {
  await sql(databaseUrl, 'create role petstore_test_stranger login')
  const url = new URL(databaseUrl)
  url.username = 'petstore_test_stranger'
  const stranger = new Client(url.href)
  const rejected = stranger.connect()
  await expect(rejected).rejects.toThrow('permission denied for database')
  await sql(databaseUrl, 'drop role petstore_test_stranger')
})

test('the search path contains only the schema public', async () => {
  const [path] = (await runAsService('show search_path')) as object[]
  expect(path).toEqual({ search_path: 'public' })
})

test('the service runs if deploy/roles.sql ran before the first migration; a second run restricts privileges, a third changes nothing', async () => {
  const url = await createTestDatabase('empty')
  const environment = { DATABASE_URL: url, MIGRATION_DATABASE_URL: asOwner(url) }
  const running = await startService(environment, { args: ['serve', '--migrate'] })
  const made = await petstore(['api-keys', 'create', '--name', 'x'], environment)
  const client = openTestClient({ origin: running.origin, apiKey: made.stdout.trim() })
  const create = (key: string) =>
    client.post('/pets', { name: 'Rex', categoryId: 1 }, { 'idempotency-key': key })
  expect((await create('broad')).status).toBe(201)
  const broad = await grantsIn(url)
  expect(broad['pet_history']).toEqual(['delete', 'insert', 'select', 'update'])
  await makeRoles(asSuperuser(url))
  const narrow = await grantsIn(url)
  expect(narrow['pet_history']).toEqual(['insert', 'select'])
  expect((await create('narrow')).status).toBe(201)
  await makeRoles(asSuperuser(url))
  expect(await grantsIn(url)).toEqual(narrow)
  expect(await running.stop()).toBe(0)
})

test('deploy/roles.sql keeps a connection limit that the operator has set', async () => {
  const limit = async () => {
    const [role] = await sql<{ limit: number }>(
      databaseUrl,
      `select rolconnlimit as "limit" from pg_roles where rolname = 'petstore_app'`,
    )
    return role?.limit
  }
  expect(await limit()).toBe(100)
  await changeRoles(databaseUrl, 'alter role petstore_app connection limit 150')
  try {
    await makeRoles(asSuperuser(databaseUrl))
    expect(await limit()).toBe(150)
  } finally {
    await changeRoles(databaseUrl, 'alter role petstore_app connection limit 100')
  }
})

/** Every table, sequence, type and function of the schema, with its owner. */
const ownersIn = (url: string) =>
  sql<{ object: string; owner: string }>(
    url,
    `select object, owner::regrole::text as owner from (
        select format('table %s', oid::regclass), relowner
        from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p', 'v', 'm')
        union all
        select format('sequence %s', oid::regclass), relowner
        from pg_class where relnamespace = 'public'::regnamespace and relkind = 'S'
        union all
        select format('type %s', oid::regtype), typowner
        from pg_type where typnamespace = 'public'::regnamespace and typtype in ('e', 'd', 'r')
        union all
        select format('function %s', oid::regprocedure), proowner
        from pg_proc where pronamespace = 'public'::regnamespace
      ) as objects (object, owner)
      order by object`,
  )

test('deploy/roles.sql makes petstore_migrator the owner of every migrated object, as needed after a restore by a superuser', async () => {
  const url = await createTestDatabase()
  const before = await ownersIn(url)
  expect(new Set(before.map(({ owner }) => owner))).toEqual(new Set(['petstore_migrator']))
  // A sequence has the owner of its table.
  const owned = before.filter(({ object }) => !object.startsWith('sequence'))
  const names = owned.map(({ object }) => object.replace(/^\w+ (\w+).*$/, '$1'))
  expect(names.toSorted()).toEqual(OWNED_OBJECTS.toSorted())
  await sql(url, owned.map(({ object }) => `alter ${object} owner to postgres`).join('; '))
  await sql(url, 'create table foreign_table ()')
  await makeRoles(asSuperuser(url))
  expect(await ownersIn(url)).toEqual(
    [...before, { object: 'table foreign_table', owner: 'postgres' }].toSorted((a, b) =>
      a.object < b.object ? -1 : 1,
    ),
  )
})
