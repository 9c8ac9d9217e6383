-- Two roles: one owns the schema and migrates it, one serves requests and cannot change the schema.
-- Run it once as a superuser, connected to the database of Petstore; it can be run again:
--
--   psql "$ADMIN_URL" -v migrator_password=… -v app_password=… -f deploy/roles.sql
--
-- Then: MIGRATION_DATABASE_URL uses petstore_migrator, DATABASE_URL uses petstore_app.

\set ON_ERROR_STOP on

select 'create role petstore_migrator login'
where not exists (select from pg_roles where rolname = 'petstore_migrator') \gexec
select 'create role petstore_app login'
where not exists (select from pg_roles where rolname = 'petstore_app') \gexec

alter role petstore_migrator password :'migrator_password';
alter role petstore_app password :'app_password' nosuperuser nocreatedb nocreaterole connection limit 100;

-- The service gives up after 3 seconds; the server should not work on for longer.
alter role petstore_app set statement_timeout = '3s';
alter role petstore_app set lock_timeout = '1s';
alter role petstore_app set idle_in_transaction_session_timeout = '5s';
alter role petstore_app set client_connection_check_interval = '1s';

select format('grant connect on database %I to petstore_app, petstore_migrator', current_database()) \gexec

revoke create on schema public from public;
grant usage, create on schema public to petstore_migrator;
grant usage on schema public to petstore_app;

-- What the migrator makes from now on, and what it has made before.
alter default privileges for role petstore_migrator in schema public
  grant select, insert, update, delete on tables to petstore_app;
alter default privileges for role petstore_migrator in schema public
  grant usage, select on sequences to petstore_app;
grant select, insert, update, delete on all tables in schema public to petstore_app;
grant usage, select on all sequences in schema public to petstore_app;
