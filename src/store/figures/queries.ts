// SQL statements on the figures per day. migrations/0006_figures.sql explains the tables.
import type { Reader, Writer } from '../../db/database.ts'

export interface FiguresRow {
  day: string
  added: bigint
  sold: bigint
  /** Set if the counting began after the start of the first day. */
  countedSince: Date | null
  /** The completed orders; without sales, and on a day without any, null. */
  orders: bigint | null
  withoutPrice: bigint | null
  /** The currencies of these orders, and the sum of the prices in each of them. */
  currencies: string[] | null
  amounts: string[] | null
}

/** The sales between the start and the end of a range; nothing if $3 is false. */
const SALES = `select sum(orders)::bigint as orders,
    sum(orders) filter (where currency is null)::bigint as "withoutPrice",
    array_agg(currency order by currency) filter (where currency is not null) as currencies,
    array_agg(amount::text order by currency) filter (where currency is not null) as amounts
  from (
    select currency, count(*) as orders, sum(price) as amount from orders
    where $3 and status = 'completed' and closed_at >= ranges.starts_at and closed_at < ranges.ends_at
    group by currency
  ) as sold`

/**
 * Returns one row per day, oldest first. Fails with INVALID_PARAMETER_VALUE if PostgreSQL does not know the time zone.
 *
 * Each day is one range of the primary key with at most 100 rows. Converting each row to the time zone instead took
 * twice as long. When the clocks change around midnight, 00:00 may occur twice or not at all, and so may the last
 * microsecond of the day before. The earlier of both is the start of the day. The sales of a day are one range of the
 * index orders_completed_by_closing.
 */
export async function findFigures(
  db: Reader,
  days: number,
  timeZone: string,
  withSales: boolean,
): Promise<FiguresRow[]> {
  return db.read<FiguresRow>({
    name: 'find_figures',
    text: `with days as materialized (
        select day, least(
            day::timestamp at time zone $2,
            (day - 1 + time '23:59:59.999999') at time zone $2 + interval '1 microsecond'
          ) as starts_at
        from generate_series(0, $1) as number
        cross join lateral (select (now() at time zone $2)::date - $1 + 1 + number as day) as numbered
      ), ranges as materialized (
        select day, starts_at, lead(starts_at) over (order by day) as ends_at from days
      )
      select to_char(ranges.day, 'YYYY-MM-DD') as day,
        coalesce(figures.added, 0) as added, coalesce(figures.sold, 0) as sold,
        (select counted_since from pet_figures_start where counted_since > ranges.starts_at) as "countedSince",
        sales.orders, sales."withoutPrice", sales.currencies, sales.amounts
      from ranges
      cross join lateral (
        select sum(added)::bigint as added, sum(sold)::bigint as sold from pet_figures
        where pet_figures.starts_at >= ranges.starts_at and pet_figures.starts_at < ranges.ends_at
      ) as figures
      cross join lateral (${SALES}) as sales
      where ranges.ends_at is not null
      order by ranges.day`,
    values: [days, timeZone, withSales],
  })
}

/** Deletes up to `max` rows that are older than the number of days; returns how many it deleted. */
export async function deleteOldFigures(db: Writer, days: number, max: number): Promise<number> {
  const rows = await db.write({
    name: 'delete_old_figures',
    bounded: 'by a narrow index',
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
