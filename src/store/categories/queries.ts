// All SQL statements on categories. The table holds only categories that have a name.
import type { Counts } from '../../contract/pet-status.ts'
import type { Reader, Writer } from '../../db/database.ts'
import type { Picture } from './schema.ts'

export interface Category {
  id: bigint
  name: string
  /** Undefined to keep the picture that is stored, null to remove it. */
  picture?: Picture | null | undefined
}

export async function findCategoriesByIds(
  db: Reader,
  ids: readonly bigint[],
): Promise<Pick<Category, 'id' | 'name'>[]> {
  return db.read<Pick<Category, 'id' | 'name'>>({
    name: 'find_categories_by_ids',
    bounded: 'by unique keys',
    text: 'select id, name from categories where id = any($1::bigint[])',
    values: [ids],
  })
}

/** Sets the name and the picture of one category; returns true if the category had no name before. */
export async function upsertCategory(db: Writer, { id, name, picture }: Category): Promise<boolean> {
  const [row] = await db.write<{ inserted: boolean }>({
    name: 'upsert_category',
    bounded: 'by the given rows',
    // xmax is 0 in an inserted row, but not in an updated row.
    text: `insert into categories (id, name, picture) values ($1, $2, $3)
      on conflict (id) do update set name = excluded.name,
        picture = case when $4 then categories.picture else excluded.picture end
      returning xmax = 0 as inserted`,
    values: [id, name, picture ?? null, picture === undefined],
  })
  return row?.inserted === true
}

/** Names a category that has no name; returns false if it has one. Waits for a concurrent insert of the same id. */
export async function insertCategory(db: Writer, { id, name, picture }: Category): Promise<boolean> {
  const rows = await db.write({
    name: 'insert_category',
    bounded: 'by the given rows',
    text: `insert into categories (id, name, picture) values ($1, $2, $3)
      on conflict (id) do nothing returning id`,
    values: [id, name, picture ?? null],
  })
  return rows.length > 0
}

/** Keeps the pictures that are stored. */
export async function upsertCategories(db: Writer, categories: readonly Category[]): Promise<void> {
  await db.write({
    name: 'upsert_categories',
    bounded: 'by the given rows',
    text: `insert into categories (id, name, picture)
      select id, name, picture from unnest($1::bigint[], $2::text[], $3::text[]) as input (id, name, picture)
      on conflict (id) do update set name = excluded.name`,
    values: [
      categories.map(({ id }) => id),
      categories.map(({ name }) => name),
      categories.map(({ picture }) => picture ?? null),
    ],
  })
}

export interface CategoryCounts {
  id: bigint
  name: string | undefined
  picture: Picture | undefined
  counts: Counts
}

/**
 * Returns up to `max` categories after `afterId` with their counts, sorted by id. A category without a name is included
 * as long as the database has counts for it, even if they are all 0.
 */
export async function findCategoriesAfter(
  db: Reader,
  afterId: bigint | undefined,
  max: number,
): Promise<CategoryCounts[]> {
  const rows = await db.read<{ id: bigint; name: string | null; picture: Picture | null } & Counts>({
    name: 'find_categories_after',
    bounded: 'by a small table',
    // A category has at most three rows of counts, one per status, so 3 * $2 rows cover at least $2 categories.
    text: `with unfolded as materialized (
        select category_id, status, delta from unfolded_pet_counts()
      ), listed as materialized (
        select id from (
          (select id from categories where id > $1 order by id limit $2)
          union
          (select category_id from pet_counts_by_category
            where category_id > $1 order by category_id limit 3 * $2)
          union
          select category_id from unfolded where category_id > $1
        ) as candidates
        order by id limit $2
      ), parts as (
        select counts.category_id, counts.status, counts.count
        from listed join pet_counts_by_category as counts on counts.category_id = listed.id
        union all
        select unfolded.category_id, unfolded.status, unfolded.delta
        from listed join unfolded on unfolded.category_id = listed.id
      )
      select listed.id, categories.name, categories.picture,
        coalesce(sum(parts.count) filter (where parts.status = 'available'), 0)::bigint as available,
        coalesce(sum(parts.count) filter (where parts.status = 'pending'), 0)::bigint as pending,
        coalesce(sum(parts.count) filter (where parts.status = 'sold'), 0)::bigint as sold
      from listed
      left join categories on categories.id = listed.id
      left join parts on parts.category_id = listed.id
      group by listed.id, categories.name, categories.picture
      order by listed.id`,
    values: [afterId ?? 0n, max],
  })
  return rows.map(({ id, name, picture, available, pending, sold }) => ({
    id,
    name: name ?? undefined,
    picture: picture ?? undefined,
    counts: { available, pending, sold },
  }))
}
