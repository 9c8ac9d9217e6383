// Every statement on categories: the ones that have a name.
import type { Reader, Writer } from '../db/database.ts'

export interface Category {
  id: bigint
  name: string
}

export async function findCategoriesByIds(db: Reader, ids: readonly bigint[]): Promise<Category[]> {
  return db.read<Category>({
    name: 'find_categories_by_ids',
    text: 'select id, name from categories where id = any($1::bigint[])',
    values: [ids],
  })
}

/** Names one category; true where it had no name before. */
export async function upsertCategory(db: Writer, { id, name }: Category): Promise<boolean> {
  const [row] = await db.write<{ inserted: boolean }>({
    name: 'upsert_category',
    // A row that was updated carries the mark of who replaced it; a new one does not.
    text: `insert into categories (id, name) values ($1, $2)
      on conflict (id) do update set name = excluded.name
      returning xmax = 0 as inserted`,
    values: [id, name],
  })
  return row?.inserted === true
}

export async function upsertCategories(db: Writer, categories: readonly Category[]): Promise<void> {
  await db.write({
    name: 'upsert_categories',
    text: `insert into categories (id, name)
      select id, name from unnest($1::bigint[], $2::text[]) as input (id, name)
      on conflict (id) do update set name = excluded.name`,
    values: [categories.map((category) => category.id), categories.map((category) => category.name)],
  })
}
