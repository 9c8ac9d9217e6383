// The days that the page of sales shows. They are part of the URL of the page.
import { addDays, DAY_MS, isDay, startOfDay } from '../layout/dates.ts'

/** The first and the last day. */
export interface DayRange {
  from: string
  to: string
}

/** Absent: today. */
export interface SalesSearch {
  from?: string | undefined
  to?: string | undefined
}

export type RangeChoice = 'today' | 'yesterday' | 'week' | 'month' | 'other'

const WEEK_DAYS = 7
const MONTH_DAYS = 30

/** Reads the days from the URL, and ignores values that are no days. */
export function readRange({ from, to }: Record<string, unknown>): SalesSearch {
  const isRange = isDay(String(from)) && isDay(String(to)) && String(from) <= String(to)
  return isRange ? { from: String(from), to: String(to) } : {}
}

/** Without days in the URL, a page that stays open over midnight shows the new day. */
export function rangeOf({ from, to }: SalesSearch, today: string): DayRange {
  return { from: from ?? today, to: to ?? today }
}

export function chosenRange(choice: Exclude<RangeChoice, 'other'>, today: string): SalesSearch {
  const yesterday = addDays(today, -1)
  if (choice === 'today') return {}
  if (choice === 'yesterday') return { from: yesterday, to: yesterday }
  return { from: addDays(today, 1 - (choice === 'week' ? WEEK_DAYS : MONTH_DAYS)), to: today }
}

export function choiceOf(range: DayRange, today: string): RangeChoice {
  const choices = ['today', 'yesterday', 'week', 'month'] as const
  const isSame = (other: DayRange) => other.from === range.from && other.to === range.to
  return choices.find((choice) => isSame(rangeOf(chosenRange(choice, today), today))) ?? 'other'
}

/** The times for the service: the last one is excluded. */
export function timesOf({ from, to }: DayRange): { closedFrom: string; closedTo: string } {
  return {
    closedFrom: startOfDay(from).toISOString(),
    closedTo: startOfDay(addDays(to, 1)).toISOString(),
  }
}

/** How many days the figures must go back, including today. */
export function daysBack({ from }: DayRange, today: string): number {
  return Math.round((Date.parse(today) - Date.parse(from)) / DAY_MS) + 1
}

export function isIn(day: string, { from, to }: DayRange): boolean {
  return from <= day && day <= to
}
