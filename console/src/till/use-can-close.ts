// Whether the person can close the shown day.
import { useScopes } from '../session/session.ts'
import type { TillTotals } from './day-totals.ts'
import { type DayRange, isClosed } from './range.ts'

/** A day can be closed once, also with the days before it. */
export function useCanClose(range: DayRange, totals: TillTotals): boolean {
  return useScopes().has('till:write') && range.from === range.to && !isClosed(range, totals)
}
