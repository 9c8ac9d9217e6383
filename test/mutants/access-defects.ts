// Defects in what keys and database roles can do.
import type { Defect } from './defect.ts'

const SCOPES = 'test/security/scopes.test.ts'
const WEBHOOK_SCOPES = 'test/events/webhooks-scopes.test.ts'
const ROLES = 'test/security/roles.test.ts'
const MIGRATE = 'test/cli/migrate.process.test.ts'
const DOCTOR = 'test/cli/doctor.test.ts'

export const ACCESS_DEFECTS: readonly Defect[] = [
  {
    name: 'each of any number of addresses has a count of its own',
    file: 'src/http/rate-limit.ts',
    find: '? network : OTHERS',
    replace: '? network : network',
    test: 'test/http/client-address.test.ts',
  },
  {
    name: 'one of several scopes is enough',
    file: 'src/http/authentication.ts',
    find: 'done(lacking.length === 0 ?',
    replace: 'done(lacking.length < Math.max(1, requiredScopes(scope).length) ?',
    test: SCOPES,
  },
  {
    name: 'openapi.json names only the first scope',
    file: 'src/server/openapi.ts',
    find: `scopes.join(' ') || 'any'`,
    replace: `scopes[0] ?? 'any'`,
    test: 'test/contract/routes.test.ts',
  },
  {
    name: 'a change of a webhook checks only its new types',
    file: 'src/events/webhooks/webhooks.ts',
    find: 'requireReadable(orNotFound(await lockWebhook(tx, id)).types)',
    replace: 'orNotFound(await lockWebhook(tx, id))',
    test: WEBHOOK_SCOPES,
  },
  {
    name: 'a change of a webhook checks only its former types',
    file: 'src/events/webhooks/webhooks.ts',
    find: `const webhook = orNotFound(await updateWebhook(tx, id, changes))
    requireReadable(webhook.types)`,
    replace: 'const webhook = orNotFound(await updateWebhook(tx, id, changes))',
    test: WEBHOOK_SCOPES,
  },
  {
    name: 'the list of deliveries contains events that the key cannot read',
    file: 'src/events/webhooks/queries.ts',
    find: 'and type = any($3) and id < $4',
    replace: 'and $3::text[] is not null and id < $4',
    test: WEBHOOK_SCOPES,
  },
  {
    name: 'every key sees the query of a URL',
    file: 'src/events/webhooks/routes.ts',
    find: `return items.map(visibleTo(request.caller as Caller))`,
    replace: 'return items',
    test: WEBHOOK_SCOPES,
  },
  {
    name: 'migrations grant privileges only at the end',
    file: 'src/db/migrations/migrate.ts',
    find: '        pgm.sql(GRANT_PRIVILEGES)\n',
    replace: '',
    test: MIGRATE,
    title: 'former version',
  },
  {
    name: 'privileges are granted only with a migration',
    file: 'src/db/migrations/migrate.ts',
    find: 'await grantPrivileges(client, onWarning)',
    replace: 'if (ran.length > 0) await grantPrivileges(client, onWarning)',
    test: ROLES,
    title: 'takes back privileges that no role',
  },
  {
    name: 'privileges on columns are not taken back',
    file: 'src/db/migrations/grants.ts',
    find: 'cross join aclexplode(a.attacl) as acl',
    replace: 'cross join aclexplode(null::aclitem[]) as acl',
    test: ROLES,
    title: 'takes back privileges that no role',
  },
  {
    name: 'privileges of PUBLIC are not taken back',
    file: 'src/db/migrations/grants.ts',
    find: `union all select 0::oid, 'public' where exists (select from roles)`,
    replace: '',
    test: ROLES,
    title: 'takes back privileges that no role',
  },
  {
    name: 'privileges that are right are granted again',
    file: 'src/db/migrations/grants.ts',
    find: 'wanted.privileges is distinct from actual.privileges',
    replace: 'true',
    test: ROLES,
    title: 'changes no privilege',
  },
  {
    name: 'too many privileges are only a warning',
    file: 'src/cli/doctor/schema.ts',
    find: `      state: 'fault',
      message: \`the role \${role} has privileges`,
    replace: `      state: 'warning',
      message: \`the role \${role} has privileges`,
    test: DOCTOR,
    title: 'privileges',
  },
  {
    name: 'deploy/roles.sql keeps the settings that a role has given itself',
    file: 'deploy/roles.sql',
    find: "execute format('alter role %I%s reset %I'",
    replace: "perform format('alter role %I%s reset %I'",
    test: DOCTOR,
    title: 'warns about settings that a role has given itself',
  },
  {
    name: 'every role can use large objects and advisory locks',
    file: 'deploy/roles.sql',
    find: "    execute format('revoke execute on function %s from public', object.name);\n",
    replace: '',
    test: DOCTOR,
    title: 'warns about settings that a role has given itself',
  },
  {
    name: 'doctor does not notice that a role can use advisory locks',
    file: 'src/db/inspect/roles.ts',
    find: 'locks && !needed.locks',
    replace: 'locks && objects && needed.locks',
    test: DOCTOR,
    title: 'warns about settings that a role has given itself',
  },
]
