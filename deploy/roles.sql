-- Creates four roles. petstore_migrator owns and migrates the schema. petstore_app serves requests, and
-- petstore_deliver delivers webhooks; they cannot change the schema. petstore_verify can only read, and record the results
-- of `petstore verify`; it needs a password only if you use that command. `petstore migrate` grants each role the
-- privileges that it needs on each table, and no others.
--
-- Run this file once, as a superuser, connected to the database of Petstore: before the first `petstore migrate`, and
-- before a restore. Run it again if the changelog or `petstore doctor` says so, and `petstore migrate` after it. It is one
-- transaction, and safe to run at any time:
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

-- PostgreSQL lets each role change its own settings, such as search_path. This removes those that a role can change and
-- this file does not make, for all databases and for this one.
do $$
declare
  found record;
begin
  for found in
    select role.rolname as role, database.datname as database, split_part(config, '=', 1) as name
    from pg_db_role_setting
    join pg_roles role on role.oid = setrole
    left join pg_database database on database.oid = setdatabase
    cross join unnest(setconfig) as config
    join pg_settings setting on lower(setting.name) = lower(split_part(config, '=', 1))
    where role.rolname in ('petstore_app', 'petstore_deliver', 'petstore_migrator', 'petstore_verify')
      and (setdatabase = 0 or database.datname = current_database())
      and setting.context = 'user'
  loop
    execute format('alter role %I%s reset %I', found.role, ' in database ' || quote_ident(found.database), found.name);
  end loop;
end $$;

-- Two seconds shorter than the timeout of the service (src/db/connection/deadlines.ts): PostgreSQL cancels a slow statement first, so
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

-- PostgreSQL lets every role call these functions. No role needs large objects, which can fill the disk. Only two roles
-- need advisory locks, with which others could stop the background jobs. A service or a migrator with another name needs
-- them too: grant it the functions of advisory locks.
do $$
declare
  object record;
begin
  for object in
    select oid::regprocedure as name, proname ~ 'advisory' as is_lock
    from pg_proc
    where pronamespace = 'pg_catalog'::regnamespace
      and proname ~ '^(lo_|loread$|lowrite$|pg_(try_)?advisory_)'
      and has_function_privilege('public', oid, 'execute')
  loop
    execute format('revoke execute on function %s from public', object.name);
    if object.is_lock then
      execute format('grant execute on function %s to petstore_app, petstore_migrator', object.name);
    end if;
  end loop;
end $$;

-- Ownership: if a dump was restored before petstore_migrator existed, the restoring role owns all objects, and
-- migrations would fail. petstore_migrator therefore becomes the owner of every object that migrations create. Only
-- wrong owners are changed, because the change must wait for all transactions that use the table. If such a transaction
-- takes longer than the lock timeout, this file fails.
set local lock_timeout = '2s';
do $$
declare
  object record;
begin
  for object in
    select format('table %s', oid::regclass) as name
    from pg_class
    where relnamespace = 'public'::regnamespace and relowner <> 'petstore_migrator'::regrole and relkind in ('r', 'p')
      and relname in (
        'actors', 'api_keys', 'categories', 'day_closings', 'deprecated_calls', 'entries', 'event_epochs', 'event_numbers', 'finished_sign_ins',
        'health_reports', 'idempotency_keys', 'imports', 'orders', 'outbox', 'pet_count_deltas', 'pet_count_position', 'pet_counts',
        'pet_counts_by_category', 'pet_figures', 'pet_figures_start', 'pet_history', 'pet_profiles', 'pets', 'petstore_migrations',
        'restore_checks', 'store_settings', 'webhook_deliveries', 'webhook_retries', 'webhook_secrets', 'webhooks'
      )
    union all
    select format('type %s', oid::regtype)
    from pg_type
    where typnamespace = 'public'::regnamespace and typowner <> 'petstore_migrator'::regrole
      and typname in ('entry_kind', 'event_type', 'order_status', 'payment_method', 'pet_status')
    union all
    select format('function %s', oid::regprocedure)
    from pg_proc
    where pronamespace = 'public'::regnamespace and proowner <> 'petstore_migrator'::regrole
      and proname in (
        'accepts_price', 'check_completed_orders', 'check_entries', 'check_returned_pets', 'close_day',
        'complete_orders', 'count_deleted_pets', 'count_numbered_events', 'count_truncated_pets',
        'count_updated_pets', 'event_actor_id', 'event_actors', 'event_request_id', 'expected_cash',
        'idempotency_lock', 'json_time', 'order_balance', 'order_event_type', 'pet_name_key', 'pet_search_key',
        'pet_word_keys', 'place_orders', 'record_changed_orders', 'record_created_pets', 'record_deleted_pets',
        'record_entries', 'record_placed_orders', 'record_truncated_pets', 'record_updated_pets',
        'record_written_profiles', 'reject_change', 'till_day', 'till_moment', 'till_now', 'unfolded_pet_counts'
      )
  loop
    execute format('alter %s owner to petstore_migrator', object.name);
  end loop;
end $$;

commit;
