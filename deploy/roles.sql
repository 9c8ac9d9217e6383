-- Creates four roles. petstore_migrator owns and migrates the schema. petstore_app serves requests, and
-- petstore_deliver delivers webhooks; they cannot change the schema, and have only the privileges that they need on each
-- table. petstore_verify can only read, and record the results of `petstore verify`; it needs a password only if you use
-- that command.
--
-- Run this file as a superuser, connected to the database of Petstore: before the first `petstore migrate`, after
-- every `petstore migrate`, and before and after a restore. It is one transaction, and safe to run at any time:
--
--   psql "$ADMIN_URL" -v ON_ERROR_STOP=1 -f deploy/roles.sql
--
-- Then set the passwords. psql prompts for them, so they do not appear in the shell history or the server log:
--
--   psql "$ADMIN_URL" -c '\password petstore_migrator'
--   psql "$ADMIN_URL" -c '\password petstore_app'
--   psql "$ADMIN_URL" -c '\password petstore_deliver'
--   psql "$ADMIN_URL" -c '\password petstore_verify'
--
-- MIGRATION_DATABASE_URL uses petstore_migrator. DATABASE_URL uses petstore_app, petstore_deliver for
-- `petstore deliver`, and petstore_verify for `petstore verify`.

begin;

do $$ begin
  if not exists (select from pg_roles where rolname = 'petstore_migrator') then
    create role petstore_migrator login;
  end if;
  if not exists (select from pg_roles where rolname = 'petstore_app') then
    -- An initial value. To change it, alter the role; this file does not overwrite it.
    create role petstore_app login connection limit 100;
  end if;
  if not exists (select from pg_roles where rolname = 'petstore_deliver') then
    create role petstore_deliver login connection limit 50;
  end if;
  if not exists (select from pg_roles where rolname = 'petstore_verify') then
    create role petstore_verify login connection limit 5;
  end if;
end $$;

alter role petstore_migrator nosuperuser nocreatedb nocreaterole;
alter role petstore_app nosuperuser nocreatedb nocreaterole;
alter role petstore_deliver nosuperuser nocreatedb nocreaterole;
alter role petstore_verify nosuperuser nocreatedb nocreaterole;

-- Two seconds shorter than the timeout of the service (src/deadlines.ts): PostgreSQL cancels a slow statement first, so
-- its outcome is known.
alter role petstore_app set statement_timeout = '3s';
alter role petstore_deliver set statement_timeout = '3s';
alter role petstore_app set lock_timeout = '1s';
alter role petstore_deliver set lock_timeout = '1s';
alter role petstore_app set idle_in_transaction_session_timeout = '5s';
alter role petstore_deliver set idle_in_transaction_session_timeout = '5s';
alter role petstore_app set client_connection_check_interval = '1s';
alter role petstore_deliver set client_connection_check_interval = '1s';

-- Plan each statement of the service once per connection, and never compile it. Every statement reads one range of an
-- index, whatever its values are, so a plan for particular values is not better, and planning can take longer than
-- reading.
alter role petstore_app set plan_cache_mode = force_generic_plan;
alter role petstore_deliver set plan_cache_mode = force_generic_plan;
alter role petstore_app set jit = off;
alter role petstore_deliver set jit = off;

-- Unqualified names always mean tables in the schema public.
alter role petstore_app set search_path = public;
alter role petstore_deliver set search_path = public;
alter role petstore_migrator set search_path = public;
alter role petstore_verify set search_path = public;

-- Only these four roles can connect. They cannot create temporary tables.
do $$ begin
  execute format('revoke all on database %I from public, petstore_app, petstore_deliver, petstore_migrator, petstore_verify', current_database());
  execute format('grant connect on database %I to petstore_app, petstore_deliver, petstore_migrator, petstore_verify', current_database());
end $$;

revoke all on schema public from public, petstore_app, petstore_deliver, petstore_verify;
grant usage, create on schema public to petstore_migrator;
grant usage on schema public to petstore_app, petstore_deliver, petstore_verify;

-- The service can use new tables right after a migration, before this file runs again and restricts the privileges.
alter default privileges for role petstore_migrator in schema public
  grant select, insert, update, delete on tables to petstore_app;
alter default privileges for role petstore_migrator in schema public
  grant usage on sequences to petstore_app;

-- Privileges per table: those of petstore_app, then those of petstore_deliver. `petstore doctor` checks the same list
-- (src/db/privileges.ts). The service cannot delete orders or API keys, and cannot change history entries. PostgreSQL
-- deletes the history of a pet when the service deletes the pet. The service cannot read the secrets of webhooks, and the
-- delivery cannot read pets, orders and API keys. petstore_verify can read everything except the secrets of webhooks, and
-- add results of restore checks.
--
-- Ownership: if a dump was restored before petstore_migrator existed, the restoring role owns all objects, and
-- migrations would fail. petstore_migrator therefore becomes the owner of every object that migrations create. Only
-- wrong owners are changed, because the change must wait for all transactions that use the table. If such a transaction
-- takes longer than the lock timeout, this file fails.
set local lock_timeout = '2s';
do $$
declare
  table_grant record;
  object record;
begin
  for table_grant in
    select * from (values
      ('api_keys', 'select, insert, update', null),
      ('categories', 'select, insert, update', null),
      ('deprecated_calls', 'select, insert, update', null),
      ('event_epochs', 'select, insert', 'select'),
      ('event_numbers', 'select, insert, delete', 'select'),
      ('finished_sign_ins', 'select, insert, delete', null),
      ('idempotency_keys', 'select, insert, update, delete', null),
      ('imports', 'select, insert, update', null),
      ('orders', 'select, insert, update', null),
      ('outbox', 'select, insert, delete', 'select'),
      ('pet_count_deltas', 'select, insert, delete', null),
      ('pet_count_position', 'select, update', null),
      ('pet_counts', 'select, update', null),
      ('pet_counts_by_category', 'select, insert, update, delete', null),
      ('pet_figures', 'select, insert, update, delete', null),
      ('pet_figures_start', 'select', null),
      ('pet_history', 'select, insert', null),
      ('pets', 'select, insert, update, delete', null),
      ('petstore_migrations', 'select', 'select'),
      ('restore_checks', 'select, delete', null),
      ('sign_ins', 'select, insert, delete', null),
      ('webhook_deliveries', 'select', 'select, insert, delete'),
      ('webhook_retries', 'select, insert, update, delete', 'select, insert, update, delete'),
      ('webhook_secrets', 'insert, update, delete', 'select'),
      ('webhooks', 'select, insert, update, delete', 'select, update')
    ) as needed (name, app_privileges, deliver_privileges)
    where to_regclass('public.' || name) is not null
  loop
    if exists (
      select from pg_class
      where oid = to_regclass('public.' || table_grant.name) and relowner <> 'petstore_migrator'::regrole
    ) then
      execute format('alter table public.%I owner to petstore_migrator', table_grant.name);
    end if;
    execute format('revoke all on public.%I from public, petstore_app, petstore_deliver, petstore_verify', table_grant.name);
    execute format('grant %s on public.%I to petstore_app', table_grant.app_privileges, table_grant.name);
    if table_grant.deliver_privileges is not null then
      execute format('grant %s on public.%I to petstore_deliver', table_grant.deliver_privileges, table_grant.name);
    end if;
    if table_grant.name <> 'webhook_secrets' then
      execute format('grant select on public.%I to petstore_verify', table_grant.name);
    end if;
  end loop;

  for object in
    select format('type %s', oid::regtype) as name
    from pg_type
    where typnamespace = 'public'::regnamespace and typowner <> 'petstore_migrator'::regrole
      and typname in ('event_type', 'order_status', 'pet_status')
    union all
    select format('function %s', oid::regprocedure)
    from pg_proc
    where pronamespace = 'public'::regnamespace and proowner <> 'petstore_migrator'::regrole
      and proname in (
        'count_deleted_pets', 'count_inserted_pets', 'count_numbered_events', 'count_truncated_pets',
        'count_updated_pets', 'event_api_key_id', 'event_request_id', 'order_event_type', 'pet_name_key', 'pet_search_key', 'record_created_pets',
        'record_deleted_pets', 'record_ended_orders', 'record_placed_order', 'record_truncated_pets',
        'record_updated_pets', 'unfolded_pet_counts'
      )
  loop
    execute format('alter %s owner to petstore_migrator', object.name);
  end loop;
end $$;

revoke all on all sequences in schema public from public, petstore_app, petstore_deliver, petstore_verify;
grant select on all sequences in schema public to petstore_verify;
do $$ begin
  if to_regclass('public.webhook_secrets') is not null then
    grant select (id, webhook_id, expires_at) on public.webhook_secrets to petstore_app, petstore_verify;
    -- An event of an order contains the name of the API key that placed it.
    grant select (id, name) on public.api_keys to petstore_deliver;
  end if;
  if to_regclass('public.restore_checks') is not null then
    -- `petstore verify --record` adds its result. The role cannot change or delete results.
    grant insert on public.restore_checks to petstore_verify;
  end if;
  if to_regclass('public.pets_id_seq') is not null then
    grant usage on sequence public.pets_id_seq to petstore_app;
  end if;
end $$;

commit;
