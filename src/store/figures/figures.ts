// Rules for the figures per day: read them and the sales, and delete those that no request can ask for.
import { AppError } from '../../contract/errors.ts'
import { QueryFailure } from '../../db/connection/failures.ts'
import { INVALID_PARAMETER_VALUE } from '../../db/connection/sqlstates.ts'
import type { Db, Reader } from '../../db/database.ts'
import { deleteOldFigures, type FiguresRow, findFigures } from './queries.ts'
import { type DayFigures, DAYS_MAX, type Figures } from './schema.ts'

export const OLD_FIGURES_DELETED_EVERY_MS = 600_000
/** Longer than the max of a request by more than the difference between two time zones. */
const KEPT_DAYS = DAYS_MAX + 10
/** Max rows that one transaction deletes. */
const DELETE_BATCH = 1_000

/**
 * PostgreSQL reads these names as abbreviations, which have one offset all year: `CET` has no summer time. In the IANA
 * database, and therefore in Node and in browsers, each is another name of the zone here.
 */
const ZONES_OF_ABBREVIATIONS: Record<string, string> = {
  CET: 'Europe/Brussels',
  EET: 'Europe/Athens',
  EST: 'America/Panama',
  HST: 'Pacific/Honolulu',
  MET: 'Europe/Brussels',
  MST: 'America/Phoenix',
  WET: 'Europe/Lisbon',
}

/** The name with which PostgreSQL has the same times as Node. */
export function databaseTimeZone(timeZone: string): string {
  return ZONES_OF_ABBREVIATIONS[timeZone.toUpperCase()] ?? timeZone
}

export interface FiguresRequest {
  days: number
  timeZone: string
  withSales: boolean
}

export async function getFigures(
  db: Reader,
  { days, timeZone, withSales }: FiguresRequest,
): Promise<Figures> {
  const rows = await findFigures(db, days, databaseTimeZone(timeZone), withSales).catch((error: unknown) => {
    if (error instanceof QueryFailure && error.state === INVALID_PARAMETER_VALUE)
      throw unknownTimeZone(timeZone)
    throw error
  })
  return {
    timeZone,
    countedSince: rows[0]?.countedSince ?? undefined,
    days: rows.map((row) => ({
      day: row.day,
      added: row.added,
      sold: row.sold,
      sales: withSales ? toSales(row) : undefined,
    })),
  }
}

function toSales({ orders, withoutPrice, currencies, amounts }: FiguresRow): DayFigures['sales'] {
  const totals = (currencies ?? []).map((currency, index) => ({ currency, amount: amounts?.[index] ?? '' }))
  return { orders: orders ?? 0n, withoutPrice: withoutPrice ?? 0n, totals }
}

/** The service accepts only names that Node knows. PostgreSQL may know fewer. */
function unknownTimeZone(timeZone: string): AppError {
  const message = `timeZone must be the name of a time zone; the database does not know ${timeZone}.`
  return new AppError('invalid_parameter', {
    details: [{ field: 'timeZone', code: 'unknown_time_zone', message }],
  })
}

export async function purgeFigures(db: Db): Promise<void> {
  while ((await deleteOldFigures(db, KEPT_DAYS, DELETE_BATCH)) === DELETE_BATCH);
}
