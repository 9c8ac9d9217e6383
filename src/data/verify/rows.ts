// The checks `checksums` and `rows`: reads every row of every table, which finds pages that PostgreSQL cannot read.
import { INSUFFICIENT_PRIVILEGE } from '../../db/connection/sqlstates.ts'
import { countOf } from '../../values/count-text.ts'
import { RESTORE_ANOTHER, type Finding, type Snapshot } from './check.ts'

export async function checkChecksums(snapshot: Snapshot): Promise<Finding> {
  const [row] = await snapshot.query<{ state: string }>(`select current_setting('data_checksums') as state`)
  if (row?.state === 'on') {
    return { state: 'ok', message: 'data checksums are on: PostgreSQL detects damaged pages' }
  }
  return {
    state: 'warning',
    message: 'data checksums are off: PostgreSQL can return wrong values from damaged pages',
    remedy: 'Stop PostgreSQL and run: pg_checksums --enable',
  }
}

interface Table {
  name: string
  bytes: number
  /** The columns that the role can read, quoted. */
  columns: string[]
  /** The columns that the role cannot read. */
  hidden: string[]
}

export async function checkRows(snapshot: Snapshot): Promise<Finding> {
  const tables = await listTables(snapshot)
  const bytesTotal = tables.reduce((sum, { bytes }) => sum + bytes, 0)
  const unreadable: string[] = []
  let bytes = 0
  let rows = 0
  for (const table of tables) {
    snapshot.onProgress(bytes, bytesTotal)
    try {
      rows += await snapshot.attempt(() => readTable(snapshot, table))
    } catch (error) {
      // Without a code, the connection is lost: no other table can be read.
      const code = error instanceof Error && 'code' in error ? error.code : undefined
      if (code === undefined || code === INSUFFICIENT_PRIVILEGE) throw error
      unreadable.push(`${table.name}: ${(error as Error).message}`)
    }
    bytes += table.bytes
  }
  if (unreadable.length > 0) {
    return { state: 'fault', message: `cannot read ${unreadable.join('; ')}`, remedy: RESTORE_ANOTHER }
  }
  const unread = tables.flatMap(({ name, hidden }) => hidden.map((column) => `${name}.${column}`))
  const except = unread.length === 0 ? '' : `, except columns that the role cannot read: ${unread.join(', ')}`
  return {
    state: 'ok',
    message: `read ${countOf(rows, 'row')} of ${countOf(tables.length, 'table')}${except}`,
  }
}

function listTables(snapshot: Snapshot): Promise<Table[]> {
  return snapshot.query<Table>(
    `select relname::text as name, pg_table_size(oid)::float8 as bytes,
        array(
          select quote_ident(attname) from pg_attribute
          where attrelid = pg_class.oid and attnum > 0 and not attisdropped
            and has_column_privilege(pg_class.oid, attnum, 'select')
          order by attnum
        ) as columns,
        array(
          select attname::text from pg_attribute
          where attrelid = pg_class.oid and attnum > 0 and not attisdropped
            and not has_column_privilege(pg_class.oid, attnum, 'select')
          order by attnum
        ) as hidden
      from pg_class
      where relnamespace = current_schema()::regnamespace and relkind = 'r'
      order by relname`,
  )
}

/** Converts every value to text. A count alone would not read long values, which PostgreSQL stores outside the row. */
async function readTable(snapshot: Snapshot, { name, columns }: Table): Promise<number> {
  if (columns.length === 0) return 0
  const [row] = await snapshot.query<{ count: number }>(
    `select count(*)::float8 as count, sum(hashtext(row(${columns.join(', ')})::text)) from "${name.replaceAll('"', '""')}"`,
  )
  return row?.count ?? 0
}
