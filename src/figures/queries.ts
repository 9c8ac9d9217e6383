// SQL statements on the figures per day. migrations/0008_figures.sql explains the tables.
// Knows nothing about HTTP.
import type { Reader, Writer } from '../db/database.ts'
import type { DayFigures } from './schema.ts'

export interface FiguresRow extends DayFigures {
  /** Set if the counting began after the start of the first day. */
  countedSince: Date | null
}

/**
 * Returns one row per day, oldest first. Fails with INVALID_PARAMETER_VALUE if PostgreSQL does not know the time zone.
 *
 * Reads at most 96 rows per day. It starts a day early, because midnight can occur twice when the clocks change, and then
 * drops the rows of other days.
 */
export async function findFigures(db: Reader, days: number, timeZone: string): Promise<FiguresRow[]> {
  return db.read<FiguresRow>({
    name: 'find_figures',
    text: `with range as materialized (
        select (now() at time zone $2)::date - $1::int + 1 as first_day,
          ((now() at time zone $2)::date - $1::int + 1)::timestamp at time zone $2 as starts_at
      ), sums as materialized (
        select (starts_at at time zone $2)::date as day, sum(added)::bigint as added, sum(sold)::bigint as sold
        from pet_figures
        where starts_at >= (select starts_at - interval '1 day' from range)
        group by 1
      )
      select to_char(range.first_day + number, 'YYYY-MM-DD') as day,
        coalesce(sums.added, 0) as added, coalesce(sums.sold, 0) as sold,
        (select counted_since from pet_figures_start where counted_since > range.starts_at) as "countedSince"
      from range
      cross join generate_series(0, $1 - 1) as number
      left join sums on sums.day = range.first_day + number
      order by number`,
    values: [days, timeZone],
  })
}

/** Deletes up to `max` rows that are older than the number of days; returns how many it deleted. */
export async function deleteOldFigures(db: Writer, days: number, max: number): Promise<number> {
  const rows = await db.write({
    name: 'delete_old_figures',
    text: `delete from pet_figures
      where starts_at = any(array(
        select starts_at from pet_figures
        where starts_at < now() - make_interval(days => $1)
        order by starts_at
        limit $2
      ))
      returning 1`,
    values: [days, max],
    isIdempotent: true,
  })
  return rows.length
}
