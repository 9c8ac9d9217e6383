-- Sets the passwords of the roles in deploy/roles.sql from environment variables, for automated installations.
--
--   PETSTORE_APP_PASSWORD=… PETSTORE_DELIVER_PASSWORD=… PETSTORE_MIGRATOR_PASSWORD=… psql "$ADMIN_URL" -v ON_ERROR_STOP=1 -f deploy/passwords.sql
--
-- Also sets the password of petstore_verify if PETSTORE_VERIFY_PASSWORD is set.

\getenv app_password PETSTORE_APP_PASSWORD
\getenv deliver_password PETSTORE_DELIVER_PASSWORD
\getenv migrator_password PETSTORE_MIGRATOR_PASSWORD
\getenv verify_password PETSTORE_VERIFY_PASSWORD

begin;
-- Keep the passwords out of the server log, whatever its settings are.
set local log_statement = 'none';
set local log_min_duration_statement = -1;
set local log_min_error_statement = 'panic';
alter role petstore_app password :'app_password';
alter role petstore_deliver password :'deliver_password';
alter role petstore_migrator password :'migrator_password';
\if :{?verify_password}
alter role petstore_verify password :'verify_password';
\endif
commit;
