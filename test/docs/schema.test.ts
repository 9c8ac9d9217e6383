// docs/schema.md describes the tables of a migrated database. dev/schema.ts reads only the text of the migrations.
import { expect, test } from 'vitest'
import { readSchema } from '../../dev/schema.ts'
import { createTestDatabase, sql } from '../support/database.ts'

const tables = readSchema().flatMap((subject) => subject.tables)
const databaseUrl = await createTestDatabase()

test('every table and column of the database is described as it is', async () => {
  const described = tables.flatMap(({ name, columns }) =>
    columns.map((column) => ({ table: name, ...column, references: column.references ?? null })),
  )
  const different = await sql(
    databaseUrl,
    `with stored as (
      select c.relname::text as "table", a.attname::text as name, a.atttypid as type, not a.attnotnull as nullable,
        coalesce(a.attnum = any (key.conkey), false) as key,
        (select confrelid::regclass::text from pg_constraint where conrelid = c.oid and contype = 'f' and conkey = array[a.attnum]) as "references"
      from pg_class c
      join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
      left join pg_constraint key on key.conrelid = c.oid and key.contype = 'p'
      where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and c.relname <> 'petstore_migrations'
    ), described as (
      select "table", name, type::regtype::oid, "isNullable" as nullable, "isKey" as key, "references"
      from jsonb_to_recordset($1) as input ("table" text, name text, type text, "isNullable" boolean, "isKey" boolean, "references" text)
    )
    (table stored except table described) union all (table described except table stored)`,
    [JSON.stringify(described)],
  )
  expect(different).toEqual([])
  expect(described.length).toBeGreaterThan(150)
})

test('says of every table what it is for, as the database does', async () => {
  const stored = await sql(
    databaseUrl,
    `select relname::text as name, obj_description(oid, 'pg_class') as comment from pg_class
      where relnamespace = 'public'::regnamespace and relkind = 'r' and relname <> 'petstore_migrations' order by 1`,
  )
  const described = tables.map(({ name, comment }) => ({ name, comment }))
  expect(described.toSorted((one, other) => (one.name < other.name ? -1 : 1))).toEqual(stored)
  expect(described.filter(({ comment }) => comment === '')).toEqual([])
})

test('finds the code that writes to each table', () => {
  const withoutWriter = tables.filter(({ writers, triggersOf }) => writers.length + triggersOf.length === 0)
  // The migration inserts its only row.
  expect(withoutWriter.map(({ name }) => name)).toEqual(['pet_figures_start'])
})
