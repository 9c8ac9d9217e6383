-- For a machine, which cannot type: gives the roles of deploy/roles.sql the passwords in the environment of psql.
--
--   PETSTORE_APP_PASSWORD=… PETSTORE_MIGRATOR_PASSWORD=… psql "$ADMIN_URL" -v ON_ERROR_STOP=1 -f deploy/passwords.sql

\getenv app_password PETSTORE_APP_PASSWORD
\getenv migrator_password PETSTORE_MIGRATOR_PASSWORD

begin;
-- A statement with a password in it stays out of the server's log, whatever it logs otherwise.
set local log_statement = 'none';
set local log_min_duration_statement = -1;
set local log_min_error_statement = 'panic';
alter role petstore_app password :'app_password';
alter role petstore_migrator password :'migrator_password';
commit;
