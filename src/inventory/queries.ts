// Counts of animals: the sums, and what statements on pets have appended since they were folded.
import type { Db, Reader } from '../db/database.ts'
import type { PetStatus } from '../pet-status.ts'

export type Counts = Record<PetStatus, bigint>

/** Exact, in the time it takes to read three sums and what was not folded yet. */
export async function countPets(db: Reader): Promise<Counts> {
  const rows = await db.read<{ status: PetStatus; count: bigint }>({
    name: 'count_pets',
    text: `select status, sum(count)::bigint as count
      from (
        select status, count from pet_counts
        union all
        select status, delta from pet_count_deltas
      ) as parts
      group by status`,
    values: [],
  })
  return toCounts(rows)
}

export interface CategoryCounts {
  id: bigint
  name: string | undefined
  counts: Counts
}

/** The categories after the given id that have a name, or had an animal lately, with their counts, by id. */
export async function findCategoriesAfter(
  db: Reader,
  afterId: bigint | undefined,
  most: number,
): Promise<CategoryCounts[]> {
  const rows = await db.read<{ id: bigint; name: string | null } & Counts>({
    name: 'find_categories_after',
    // Three rows of counts a category at most, so 3 * $2 of them hold at least $2 categories.
    text: `with listed as materialized (
        select id from (
          (select id from categories where id > $1 order by id limit $2)
          union
          (select category_id from pet_counts_by_category
            where category_id > $1 order by category_id limit 3 * $2)
          union
          select category_id from pet_count_deltas where category_id > $1
        ) as candidates
        order by id limit $2
      ), parts as (
        select counts.category_id, counts.status, counts.count
        from listed join pet_counts_by_category as counts on counts.category_id = listed.id
        union all
        select deltas.category_id, deltas.status, deltas.delta
        from listed join pet_count_deltas as deltas on deltas.category_id = listed.id
      )
      select listed.id, categories.name,
        coalesce(sum(parts.count) filter (where parts.status = 'available'), 0)::bigint as available,
        coalesce(sum(parts.count) filter (where parts.status = 'pending'), 0)::bigint as pending,
        coalesce(sum(parts.count) filter (where parts.status = 'sold'), 0)::bigint as sold
      from listed
      left join categories on categories.id = listed.id
      left join parts on parts.category_id = listed.id
      group by listed.id, categories.name
      order by listed.id`,
    values: [afterId ?? 0n, most],
  })
  return rows.map(({ id, name, available, pending, sold }) => ({
    id,
    name: name ?? undefined,
    counts: { available, pending, sold },
  }))
}

/** Folds up to so many appended counts into the sums; answers how many, or 0 while another instance does. */
export async function foldCounts(db: Db, most: number): Promise<number> {
  return db.transaction(async (tx) => {
    const [row] = await tx.read<{ locked: boolean }>({
      name: 'lock_fold',
      text: `select pg_try_advisory_xact_lock(hashtext('petstore fold counts')) as locked`,
      values: [],
    })
    if (row?.locked !== true) return 0
    const [folded] = await tx.write<{ count: bigint }>({
      name: 'fold_counts',
      text: `with taken as (
          delete from pet_count_deltas
          where ctid = any(array(select ctid from pet_count_deltas limit $1))
          returning category_id, status, delta
        ), by_category as (
          insert into pet_counts_by_category as counts (category_id, status, count)
          select category_id, status, sum(delta) from taken group by category_id, status
          on conflict (category_id, status) do update set count = counts.count + excluded.count
        ), in_all as (
          update pet_counts set count = pet_counts.count + sums.delta
          from (select status, sum(delta) as delta from taken group by status) as sums
          where pet_counts.status = sums.status
        )
        select count(*) from taken`,
      values: [most],
    })
    return Number(folded?.count ?? 0n)
  })
}

/** Categories that nobody is in any more need no row. */
export async function deleteEmptyCounts(db: Db): Promise<void> {
  await db.write({
    name: 'delete_empty_counts',
    text: 'delete from pet_counts_by_category where count = 0',
    values: [],
  })
}

function toCounts(rows: { status: PetStatus; count: bigint }[]): Counts {
  const counts: Counts = { available: 0n, pending: 0n, sold: 0n }
  for (const { status, count } of rows) counts[status] = count
  return counts
}
