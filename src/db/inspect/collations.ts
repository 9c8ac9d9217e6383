// Finds indexes built with an older version of their collation, for example before an upgrade of the operating system.
// Queries can miss entries of such an index.
import type { Reader } from '../database.ts'

export interface StaleCollation {
  /** The name to show in messages: `"und-x-icu"`, or `of the database` for the default collation. */
  name: string
  recordedVersion: string
  actualVersion: string | null
  indexes: string[]
  /** The role that owns `indexes` and can rebuild them. */
  owner: string
  /** The SQL statement that records the actual version. The operator runs it after rebuilding the indexes. */
  refresh: string
}

/** Requires PostgreSQL 15 or newer. */
export function listStaleCollations(db: Reader): Promise<StaleCollation[]> {
  return db.read<StaleCollation>({
    name: 'list_stale_collations',
    bounded: 'without a table',
    // The indexes on names compare bytes, but pet_name_key lower-cases their entries with a collation. PostgreSQL does not
    // record this dependency, so the query reads it from the source of the function.
    text: `with indexes as (
        select oid, relname, relowner from pg_class
        where relnamespace = current_schema()::regnamespace and relkind = 'i'
      ),
      used (collation_id, index_id) as (
        select unnest(definition.indcollation::oid[]), indexes.oid
        from indexes join pg_index definition on definition.indexrelid = indexes.oid
        union
        select coalesce(named.oid, 'pg_catalog."default"'::regcollation), indexes.oid
        from indexes
        cross join to_regprocedure('pet_name_key(text)') as folding
        left join pg_collation named on position(
          'COLLATE ' || quote_ident(named.collname) in pg_get_function_sqlbody(folding)
        ) > 0
        where indexes.relname in ('pets_by_status_and_name', 'pets_by_word')
      ),
      versions as (
        select oid, oid::regcollation::text as name, collversion as recorded,
          pg_collation_actual_version(oid) as actual,
          format('alter collation %I.%I refresh version', collnamespace::regnamespace, collname) as refresh
        from pg_collation where collprovider <> 'd'
        union all
        select 'pg_catalog."default"'::regcollation, 'of the database', datcollversion,
          pg_database_collation_actual_version(oid),
          format('alter database %I refresh collation version', datname)
        from pg_database where datname = current_database()
      )
      select versions.name, versions.recorded as "recordedVersion", versions.actual as "actualVersion",
        array_agg(distinct indexes.oid::regclass::text order by indexes.oid::regclass::text) as indexes,
        min(indexes.relowner::regrole::text) as owner, versions.refresh
      from used
      join versions on versions.oid = used.collation_id
      join indexes on indexes.oid = used.index_id
      where versions.recorded is distinct from versions.actual and versions.recorded is not null
      group by versions.name, versions.recorded, versions.actual, versions.refresh
      order by versions.name`,
    values: [],
  })
}
