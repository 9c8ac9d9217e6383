// The check `sequences`: the next id of each table is above all its ids. Otherwise, inserts fail or reuse ids.
import { NEWEST_OUTBOX_ID } from '../../events/feed/queries.ts'
import { countOf } from '../../values/count-text.ts'
import type { Finding, Snapshot } from './check.ts'

interface OwnedSequence {
  sequence: string
  table: string
  column: string
}

export async function checkSequences(snapshot: Snapshot): Promise<Finding> {
  // Quoted by PostgreSQL, because the names become part of a statement.
  const owned = await snapshot.query<OwnedSequence>(
    `select quote_ident(sequence.relname) as sequence, quote_ident(owner.relname) as table,
        quote_ident(attribute.attname) as column
      from pg_class sequence
      join pg_depend depend on depend.classid = 'pg_class'::regclass and depend.objid = sequence.oid
        and depend.refclassid = 'pg_class'::regclass and depend.deptype in ('a', 'i')
      join pg_class owner on owner.oid = depend.refobjid
      join pg_attribute attribute on attribute.attrelid = owner.oid and attribute.attnum = depend.refobjsubid
      where sequence.relkind = 'S' and sequence.relnamespace = current_schema()::regnamespace
      order by sequence.relname`,
  )
  const behind: string[] = []
  const statements: string[] = []
  for (const { sequence, table, column } of owned) {
    const [row] = await snapshot.query<{ last: string; max: string }>(
      `select last::text, max::text from (
          select case when is_called then last_value else last_value - 1 end as last, (${maxOf(table, column)}) as max
          from ${sequence}
        ) as ids
        where max > last`,
    )
    if (row === undefined) continue
    behind.push(`${sequence} is at ${row.last}, but ${table} has the id ${row.max}`)
    statements.push(`select setval('${sequence}', ${row.max});`)
  }
  if (behind.length === 0) {
    return { state: 'ok', message: `${countOf(owned.length, 'sequence')}, none behind the ids of its table` }
  }
  return {
    state: 'fault',
    message: behind.join('; '),
    remedy: `As petstore_migrator, run: ${statements.join(' ')}`,
  }
}

function maxOf(table: string, column: string): string {
  return `select ${table === 'outbox' ? NEWEST_OUTBOX_ID : `max(${column}) from ${table}`}`
}
