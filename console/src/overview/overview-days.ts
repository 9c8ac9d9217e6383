// The days of the overview, with the sales of the ledger.
import type { DayFigures } from '@petstore/client'
import type { Amount } from '../profile/price.ts'
import { type Group, salesOf } from '../till/day-totals.ts'

/** What the overview shows of a day. */
export interface OverviewDay extends Pick<DayFigures, 'day' | 'added' | 'sold'> {
  /** Net sales. Absent on a day without entries, and for a key that cannot read orders. */
  net?: Amount[]
}

/** The net of a day: a return on another day than its sale makes it negative. */
export function salesOfDay(day: string, groups: Group[]): Pick<OverviewDay, 'sold' | 'net'> {
  const ofDay = groups.filter((group) => group.day === day)
  return { sold: ofDay.reduce((sum, { pets }) => sum + pets, 0), net: ofDay.map(salesOf) }
}
