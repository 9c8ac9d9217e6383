// Grants each role exactly the privileges of privileges.ts. `petstore migrate` runs this in the transaction of each
// migration and at its end, so that no role has too many privileges on a new table, or too few.
import type { Client } from 'pg'
import { PRIVILEGE_NOT_GRANTED } from '../connection/sqlstates.ts'
import { EVERY_SEQUENCE, ROLE_PRIVILEGES, toRows } from '../inspect/privileges.ts'

/** Max time to wait for another process that grants. It takes only milliseconds. */
const GRANT_WAIT_MS = 60_000

const NEEDED = JSON.stringify(
  Object.entries(ROLE_PRIVILEGES).flatMap(([role, privileges]) =>
    toRows(privileges).map((row) => ({ role, ...row })),
  ),
)
const quoted = (names: string[]) => names.map((name) => `'${name}'`).join(', ')
/** Tables and sequences. Sequences of identity columns are found by their tables. */
const NAMES = quoted([...new Set(Object.values(ROLE_PRIVILEGES).flatMap((names) => Object.keys(names)))])
const ROLES = quoted(Object.keys(ROLE_PRIVILEGES))

/**
 * Skips tables, columns and roles that do not exist, and an owner, who needs no grant. Changes only what differs: a grant
 * makes other sessions plan their statements again. The roles are those of the whole server, so PUBLIC is changed only
 * if one of them exists.
 */
const TABLE_GRANTS = `
  with roles (oid, name) as (
    select oid, rolname::text from pg_roles where rolname in (${ROLES})
  ),
  grantees (oid, name) as (
    select oid, name from roles union all select 0::oid, 'public' where exists (select from roles)
  ),
  relations (oid, name, kind, owner, acl) as (
    select oid, relname::text, case relkind when 'S' then 'sequence' else 'table' end, relowner, relacl
    from pg_class
    where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p', 'S')
      and (relname in (${NAMES}) or oid in (
        select objid from pg_depend
        where classid = 'pg_class'::regclass and deptype in ('a', 'i') and refclassid = 'pg_class'::regclass
          and refobjid in (select oid from pg_class where relnamespace = current_schema()::regnamespace and relname in (${NAMES}))
      ))
  ),
  needed (role, relation, privilege) as (
    select n.role, r.oid, n.privilege || coalesce(' (' || quote_ident(a.attname) || ')', '')
    from jsonb_to_recordset('${NEEDED}') as n (role text, name text, "column" text, privilege text)
    join relations r on r.name = n.name or (n.name = '${EVERY_SEQUENCE}' and r.kind = 'sequence')
    left join pg_attribute a on a.attrelid = r.oid and a.attname = n."column" and not a.attisdropped
    where n."column" is null or a.attname is not null
  ),
  granted (grantee, relation, privilege) as (
    select acl.grantee, r.oid, lower(acl.privilege_type) || case when acl.is_grantable then ' grantable' else '' end
    from relations r cross join aclexplode(r.acl) as acl
    union all
    select acl.grantee, r.oid, lower(acl.privilege_type) || ' (' || quote_ident(a.attname) || ')'
      || case when acl.is_grantable then ' grantable' else '' end
    from relations r
    join pg_attribute a on a.attrelid = r.oid
    cross join aclexplode(a.attacl) as acl
  )
  select g.name as role, r.kind, r.oid::regclass as relation, pg_has_role(r.owner, 'usage') as may_grant,
    r.owner::regrole as owner, wanted.privileges
  from grantees g
  cross join relations r
  cross join lateral (
    select string_agg(privilege, ', ' order by privilege) as privileges from needed
    where needed.role = g.name and needed.relation = r.oid
  ) as wanted
  cross join lateral (
    select string_agg(distinct privilege, ', ' order by privilege) as privileges from granted
    where granted.grantee = g.oid and granted.relation = r.oid
  ) as actual
  where g.oid <> r.owner and wanted.privileges is distinct from actual.privileges`

/** One statement, so that it is one transaction. Warns about what the current role cannot change. */
export const GRANT_PRIVILEGES = `do $grants$
declare
  change record;
  kept text[] := '{}';
begin
  -- PostgreSQL rejects concurrent changes to the privileges of a table.
  perform pg_advisory_xact_lock(hashtext('petstore grant privileges'));
  for change in ${TABLE_GRANTS}
  loop
    if not change.may_grant then
      kept := kept || format('%s (owner %s)', change.relation, change.owner);
      continue;
    end if;
    execute format('revoke all on %s %s from %I', change.kind, change.relation, change.role);
    if change.privileges is not null then
      execute format('grant %s on %s %s to %I', change.privileges, change.kind, change.relation, change.role);
    end if;
  end loop;
  if kept <> '{}' then
    raise warning using errcode = '${PRIVILEGE_NOT_GRANTED}', message = format(
      'The role %I cannot correct the privileges on these tables and sequences, because it does not own them: %s. Run \`petstore migrate\` as their owner or as a superuser.',
      current_user, (select string_agg(distinct name, ', ' order by name) from unnest(kept) as name)
    );
  end if;
end $grants$`

/** Calls `onWarning` with what the role of the connection cannot change. */
export async function grantPrivileges(client: Client, onWarning: (message: string) => void): Promise<void> {
  const report = ({ code, message = '' }: { code?: string | undefined; message?: string | undefined }) => {
    if (code === PRIVILEGE_NOT_GRANTED) onWarning(message)
  }
  client.on('notice', report)
  try {
    await client.query(`set lock_timeout = ${GRANT_WAIT_MS}`)
    await client.query(GRANT_PRIVILEGES)
  } finally {
    client.off('notice', report)
  }
}
