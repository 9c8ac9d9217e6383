// SQL statements that count pets and fold the counts. inventory.ts explains folding.
import type { Counts, PetStatus } from '../../contract/pet-status.ts'
import type { Db, Reader, Tx } from '../../db/database.ts'

/** Counts pets by status: the three sums plus the deltas that are not folded yet. */
export async function countPets(db: Reader): Promise<Counts> {
  const rows = await db.read<{ status: PetStatus; count: bigint }>({
    name: 'count_pets',
    bounded: 'by a small table',
    text: `select status, sum(count)::bigint as count
      from (
        select status, count from pet_counts
        union all
        select status, delta from unfolded_pet_counts()
      ) as parts
      group by status`,
    values: [],
  })
  return toCounts(rows)
}

export interface FoldLimits {
  /** Max deltas that one transaction folds. */
  max: number
  /** A fold is due once this many deltas are not folded yet. */
  afterDeltas: number
  /** A fold is also due this many seconds after the last fold by any instance. */
  afterSeconds: number
}

/** If a fold is due, folds up to `max` deltas; returns how many it folded. Returns 0 while another instance folds. */
export async function foldCounts(db: Db, { max, afterDeltas, afterSeconds }: FoldLimits): Promise<number> {
  return db.transaction(async (tx) => {
    if (!(await tryLockFold(tx))) return 0
    const [folded] = await tx.write<{ count: bigint }>({
      name: 'fold_counts',
      bounded: 'by a narrow index',
      // No delta will later appear at or before the new position: transactions in flight write their deltas after it,
      // and this statement sees the deltas of all finished transactions.
      text: `with position as materialized (
          select transaction_id, id, folded_at from pet_count_position
          where is_only and server_started_at = pg_postmaster_start_time()
        ), unfolded as materialized (
          select ctid, transaction_id, id from pet_count_deltas
          where (transaction_id, id) > (
            coalesce((select transaction_id from position), '0'), coalesce((select id from position), 0)
          )
          order by transaction_id, id
          limit $1
        ), chosen as materialized (
          select ctid, transaction_id, id from unfolded
          where (select count(*) from unfolded) >= $2
            or coalesce((select folded_at from position) <= now() - make_interval(secs => $3), true)
        ), taken as (
          delete from pet_count_deltas
          where ctid = any(array(select ctid from chosen))
          returning category_id, status, delta
        ), by_category as (
          insert into pet_counts_by_category as counts (category_id, status, count)
          select category_id, status, sum(delta) from taken group by category_id, status
          on conflict (category_id, status) do update set count = counts.count + excluded.count
        ), in_all as (
          update pet_counts set count = pet_counts.count + sums.delta
          from (select status, sum(delta) as delta from taken group by status) as sums
          where pet_counts.status = sums.status
        ), last_chosen as (
          select transaction_id, id from chosen order by transaction_id desc, id desc limit 1
        ), furthest as (
          select transaction_id, id from last_chosen
          union all
          select pg_snapshot_xmin(pg_current_snapshot()), 0 from last_chosen
          order by transaction_id, id
          limit 1
        ), moved as (
          update pet_count_position set transaction_id = furthest.transaction_id, id = furthest.id,
            server_started_at = pg_postmaster_start_time(), folded_at = now()
          from furthest
        )
        select count(*) from taken`,
      values: [max, afterDeltas, afterSeconds],
    })
    return Number(folded?.count ?? 0n)
  })
}

async function tryLockFold(tx: Tx): Promise<boolean> {
  const [row] = await tx.read<{ locked: boolean }>({
    name: 'try_lock_fold',
    bounded: 'without a table',
    // No sequential scans: migrations/0004_pet_counts.sql explains why.
    text: `select pg_try_advisory_xact_lock(hashtext('petstore fold counts')) as locked,
        set_config('enable_seqscan', 'off', true), set_config('jit', 'off', true)`,
    values: [],
  })
  return row?.locked === true
}

/** Deletes sums of 0, such as those of categories that have no pets left. */
export async function deleteEmptyCounts(db: Db): Promise<void> {
  await db.write({
    name: 'delete_empty_counts',
    bounded: 'by a small table',
    text: 'delete from pet_counts_by_category where count = 0',
    values: [],
  })
}

function toCounts(rows: { status: PetStatus; count: bigint }[]): Counts {
  const counts: Counts = { available: 0n, pending: 0n, sold: 0n }
  for (const { status, count } of rows) counts[status] = count
  return counts
}
