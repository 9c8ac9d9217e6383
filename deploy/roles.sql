-- Two roles: petstore_migrator owns the schema and migrates it; petstore_app serves requests, cannot change the
-- schema, and has on each table what the service does there and no more.
--
-- Run it as a superuser, connected to the database of Petstore, before the first `petstore migrate` and again
-- after each, and before and after a restore; it is all or nothing, and can be run at any time:
--
--   psql "$ADMIN_URL" -v ON_ERROR_STOP=1 -f deploy/roles.sql
--
-- Then give each role its password. Typed here, it is in no history of a shell and in no log of the server:
--
--   psql "$ADMIN_URL" -c '\password petstore_migrator'
--   psql "$ADMIN_URL" -c '\password petstore_app'
--
-- MIGRATION_DATABASE_URL uses petstore_migrator, DATABASE_URL uses petstore_app.

begin;

do $$ begin
  if not exists (select from pg_roles where rolname = 'petstore_migrator') then
    create role petstore_migrator login;
  end if;
  if not exists (select from pg_roles where rolname = 'petstore_app') then
    -- A starting value: to change it, alter the role. This file does not set it again.
    create role petstore_app login connection limit 100;
  end if;
end $$;

alter role petstore_migrator nosuperuser nocreatedb nocreaterole;
alter role petstore_app nosuperuser nocreatedb nocreaterole;

-- Two seconds less than the service waits (src/deadlines.ts): a slow statement is cancelled, so its outcome is known.
alter role petstore_app set statement_timeout = '3s';
alter role petstore_app set lock_timeout = '1s';
alter role petstore_app set idle_in_transaction_session_timeout = '5s';
alter role petstore_app set client_connection_check_interval = '1s';

-- A name means the table of this schema, whoever has made another one of the same name.
alter role petstore_app set search_path = public;
alter role petstore_migrator set search_path = public;

-- Nobody else connects, and nobody makes temporary tables.
do $$ begin
  execute format('revoke all on database %I from public, petstore_app, petstore_migrator', current_database());
  execute format('grant connect on database %I to petstore_app, petstore_migrator', current_database());
end $$;

revoke all on schema public from public, petstore_app;
grant usage, create on schema public to petstore_migrator;
grant usage on schema public to petstore_app;

-- What a migration makes works at once, also where this file is not run again; then it is narrowed below.
alter default privileges for role petstore_migrator in schema public
  grant select, insert, update, delete on tables to petstore_app;
alter default privileges for role petstore_migrator in schema public
  grant usage on sequences to petstore_app;

-- What was sold, what happened and who was let in is never deleted; `petstore doctor` knows the same list.
--
-- A dump that was restored before petstore_migrator existed leaves the restoring role as the owner, and
-- petstore_migrator could not migrate: it gets every object that migrations make. Only a wrong owner is changed, because
-- the change waits for all transactions that use the table; if one of them runs for long, this file fails.
set local lock_timeout = '2s';
do $$
declare
  right_on record;
  object record;
begin
  for right_on in
    select * from (values
      ('api_keys', 'select, insert, update'),
      ('categories', 'select, insert, update'),
      ('deprecated_calls', 'select, insert, update'),
      ('idempotency_keys', 'select, insert, update, delete'),
      ('imports', 'select, insert, update'),
      ('orders', 'select, insert, update'),
      ('pet_count_deltas', 'select, insert, delete'),
      ('pet_count_position', 'select, update'),
      ('pet_counts', 'select, update'),
      ('pet_counts_by_category', 'select, insert, update, delete'),
      ('pet_history', 'select, insert'),
      ('pets', 'select, insert, update, delete'),
      ('petstore_migrations', 'select')
    ) as needed (name, rights)
    where to_regclass('public.' || name) is not null
  loop
    if exists (
      select from pg_class
      where oid = to_regclass('public.' || right_on.name) and relowner <> 'petstore_migrator'::regrole
    ) then
      execute format('alter table public.%I owner to petstore_migrator', right_on.name);
    end if;
    execute format('revoke all on public.%I from public, petstore_app', right_on.name);
    execute format('grant %s on public.%I to petstore_app', right_on.rights, right_on.name);
  end loop;

  for object in
    select format('type %s', oid::regtype) as name
    from pg_type
    where typnamespace = 'public'::regnamespace and typowner <> 'petstore_migrator'::regrole
      and typname in ('order_status', 'pet_status')
    union all
    select format('function %s', oid::regprocedure)
    from pg_proc
    where pronamespace = 'public'::regnamespace and proowner <> 'petstore_migrator'::regrole
      and proname in (
        'count_deleted_pets', 'count_inserted_pets', 'count_truncated_pets', 'count_updated_pets', 'pet_name_key',
        'unfolded_pet_counts'
      )
  loop
    execute format('alter %s owner to petstore_migrator', object.name);
  end loop;
end $$;

revoke all on all sequences in schema public from public, petstore_app;
do $$ begin
  if to_regclass('public.pets_id_seq') is not null then
    grant usage on sequence public.pets_id_seq to petstore_app;
  end if;
end $$;

commit;
