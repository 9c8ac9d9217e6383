// deploy/roles.sql and the grants of `petstore migrate`: the role of the service has no privilege that it does not need.
// All other tests run the service as this role, so they fail if it lacks one.
import { Client } from 'pg'
import { afterAll, expect, test } from 'vitest'
import { OWNED_OBJECTS } from '../../src/db/inspect/owners.ts'
import {
  DELIVERY_PRIVILEGES,
  DELIVERY_ROLE,
  NEEDED_PRIVILEGES,
  ROLE_PRIVILEGES,
  toRows,
} from '../../src/db/inspect/privileges.ts'
import { startApp } from '../support/app.ts'
import { createTestDatabase, openTestDatabase, sql } from '../support/database.ts'
import {
  asDelivery,
  asOwner,
  asSuperuser,
  asVerifier,
  changeRoles,
  makeRoles,
  VERIFIER,
} from '../support/roles.ts'
import { runInProcess } from '../support/in-process.ts'

const databaseUrl = await createTestDatabase()
const TABLES = Object.keys(NEEDED_PRIVILEGES)

/** The privileges on each table, sequence and column that are granted to the role or to PUBLIC, such as `select (id)`. */
async function grantsIn(url: string, role = 'petstore_app'): Promise<Record<string, string[]>> {
  const rows = await sql<{ name: string; privileges: string[] }>(
    url,
    `select c.relname as name,
        array_agg(
          lower(acl.privilege_type) || coalesce(' (' || grants.column || ')', '')
            || case when acl.is_grantable then ' with grant option' else '' end
          order by acl.privilege_type, grants.column
        ) as privileges
      from pg_class c
      cross join lateral (
        select null as column, c.relacl as acl
        union all
        select attname, attacl from pg_attribute where attrelid = c.oid
      ) as grants
      cross join aclexplode(grants.acl) as acl
      where c.relnamespace = 'public'::regnamespace
        and (acl.grantee = 0 or acl.grantee = $1::regrole)
      group by c.relname`,
    [role],
  )
  return Object.fromEntries(rows.map(({ name, privileges }) => [name, privileges.toSorted()]))
}

/** The privileges of a role as grantsIn returns them, with columns one by one. */
function stated(privileges: (typeof ROLE_PRIVILEGES)[string]): Record<string, string[]> {
  const texts = Map.groupBy(toRows(privileges), ({ name }) => name)
  return Object.fromEntries(
    [...texts].map(([name, rows]) => [
      name,
      rows
        .map(({ column, privilege }) => (column === undefined ? privilege : `${privilege} (${column})`))
        .toSorted(),
    ]),
  )
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
  expect(await grantsIn(databaseUrl)).toEqual({ ...stated(NEEDED_PRIVILEGES), pets_id_seq: ['usage'] })
})

test('the delivery of webhooks can read events and secrets, and nothing about pets, orders and API keys', async () => {
  expect(await grantsIn(databaseUrl, DELIVERY_ROLE)).toEqual(stated(DELIVERY_PRIVILEGES))
  const delivery = asDelivery(databaseUrl)
  for (const statement of [
    'select from api_keys',
    'select subject from actors',
    'select from pets',
    'select from orders',
    'select lo_create(0)',
    `select pg_try_advisory_lock(hashtext('petstore sequence events'))`,
  ]) {
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
    health_reports: ['insert', 'select', 'update'],
    restore_checks: ['insert', 'select'],
    webhook_secrets: ['select (expires_at)', 'select (id)', 'select (webhook_id)'],
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
    'select lo_from_bytea(0, $$x$$)',
    'select pg_try_advisory_lock_shared(1, 1)',
    `select pg_advisory_xact_lock(hashtext('petstore sequence events'))`,
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
  'delete from actors',
  'delete from imports',
  'delete from deprecated_calls',
  'delete from pet_counts',
  'insert into restore_checks (is_proven, duration_ms, message) values (true, 1, $$x$$)',
  'update restore_checks set is_proven = true',
  'update health_reports set at = now()',
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
  'select lo_create(0)',
  'select lo_from_bytea(0, $$x$$)',
  'select lo_unlink(1)',
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

test('after deploy/roles.sql, petstore migrate grants exactly the needed privileges, and the service runs', async () => {
  const url = await createTestDatabase('empty')
  const environment = { DATABASE_URL: url, MIGRATION_DATABASE_URL: asOwner(url) }
  expect((await runInProcess(['migrate'], environment)).code).toBe(0)
  const client = await startApp(openTestDatabase(url))
  expect((await client.post('/pets', { name: 'Rex', categoryId: 1 })).status).toBe(201)
  expect(await grantsIn(url)).toEqual(stated(ROLE_PRIVILEGES['petstore_app'] ?? {}))
  expect(await grantsIn(url, DELIVERY_ROLE)).toEqual(stated(DELIVERY_PRIVILEGES))
  expect(await grantsIn(url, VERIFIER)).toEqual(await grantsIn(databaseUrl, VERIFIER))
})

test('petstore migrate takes back privileges that no role needs, even if no migration is missing', async () => {
  const url = await createTestDatabase()
  const before = await grantsIn(url)
  await sql(
    url,
    `grant select on webhook_secrets to petstore_app; grant delete on orders to petstore_app with grant option;
      grant select (note) on orders to petstore_deliver; grant insert on pets to public;
      grant update on sequence pets_id_seq to petstore_app; revoke insert on pets from petstore_app`,
  )
  expect(await runInProcess(['migrate'], { DATABASE_URL: asOwner(url) })).toMatchObject({
    code: 0,
    stderr: 'The schema is up to date.\n',
  })
  expect(await grantsIn(url)).toEqual(before)
  expect(await grantsIn(url, DELIVERY_ROLE)).toEqual(stated(DELIVERY_PRIVILEGES))
})

test('petstore migrate changes no privilege that is right', async () => {
  const url = await createTestDatabase()
  const versions = () => sql(url, 'select oid, xmin from pg_class order by oid')
  const before = await versions()
  await runInProcess(['migrate'], { DATABASE_URL: asOwner(url) })
  expect(await versions()).toEqual(before)
})

test('a role without the privilege to change others gets a message from petstore migrate, which changes nothing', async () => {
  const url = await createTestDatabase()
  await sql(url, 'grant delete on orders, pet_history to petstore_app')
  const before = await grantsIn(url)
  const { code, stderr } = await runInProcess(['migrate'], { DATABASE_URL: url })
  expect(code).toBe(0)
  expect(stderr).toContain(
    'The role petstore_app cannot correct the privileges on these tables and sequences, because it does not own them: orders (owner petstore_migrator), pet_history (owner petstore_migrator).',
  )
  expect(await grantsIn(url)).toEqual(before)
})

test('an owner and a service with other names keep their privileges', async () => {
  const url = await createTestDatabase('empty')
  const database = new URL(url).pathname.slice(1)
  await changeRoles(
    url,
    `create role petstore_test_owner login; create role petstore_test_shop login;
      grant connect on database ${database} to petstore_test_owner;
      grant execute on function pg_advisory_lock(bigint), pg_advisory_xact_lock(bigint) to petstore_test_owner;
      grant usage, create on schema public to petstore_test_owner;`,
  )
  try {
    await sql(
      url,
      'alter default privileges for role petstore_test_owner in schema public grant select on tables to petstore_test_shop',
    )
    const DATABASE_URL = url.replace('petstore_app', 'petstore_test_owner')
    expect((await runInProcess(['migrate'], { DATABASE_URL })).code).toBe(0)
    const shop = await grantsIn(url, 'petstore_test_shop')
    expect(shop['pets']).toEqual(['select'])
    expect(shop['webhook_secrets']).toEqual(['select'])
    const owner = await grantsIn(url, 'petstore_test_owner')
    expect(owner['orders']).toContain('delete')
    expect((await grantsIn(url))['orders']).toEqual(['insert', 'select', 'update'])
  } finally {
    for (const role of ['petstore_test_owner', 'petstore_test_shop'])
      await sql(url, `drop owned by ${role} cascade`)
    await changeRoles(url, 'drop role petstore_test_owner, petstore_test_shop')
  }
})

test('deploy/roles.sql keeps a connection limit that the operator has set', async () => {
  const limit = async () => {
    const [role] = await sql<{ limit: number }>(
      databaseUrl,
      `select rolconnlimit as "limit" from pg_roles where rolname = 'petstore_verify'`,
    )
    return role?.limit
  }
  // All tests share the roles. No other test depends on the limit of this one.
  expect(await limit()).toBe(5)
  await changeRoles(databaseUrl, 'alter role petstore_verify connection limit 6')
  try {
    await makeRoles(asSuperuser(databaseUrl))
    expect(await limit()).toBe(6)
  } finally {
    await changeRoles(databaseUrl, 'alter role petstore_verify connection limit 5')
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
