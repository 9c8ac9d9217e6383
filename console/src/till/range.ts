// The days that the till shows: days of the shop, as the service names them. They are part of the URL of the page.
import type { Totals } from '@petstore/client'
import { addDays, DAY_MS, isDay } from '../layout/dates.ts'

/** The first and the last day. */
export interface DayRange {
  from: string
  to: string
}

/** Absent: today. Only the service knows which day that is in the shop. */
export interface TillSearch {
  from?: string | undefined
  to?: string | undefined
}

export type RangeChoice = 'today' | 'yesterday' | 'week' | 'month' | 'other'

const WEEK_DAYS = 7
const MONTH_DAYS = 30
/** The limit of the service. */
export const RANGE_DAYS_MAX = 366

const WEEKDAY: Intl.DateTimeFormatOptions = { weekday: 'short', timeZone: 'UTC' }
const DAY_AND_MONTH = { day: 'numeric', month: 'short', timeZone: 'UTC' } as const

/** Reads the days from the URL, and ignores values that are no days. */
export function readRange({ from, to }: Record<string, unknown>): TillSearch {
  const isRange = isDay(String(from)) && isDay(String(to)) && String(from) <= String(to)
  return isRange ? { from: String(from), to: String(to) } : {}
}

export function chosenRange(choice: Exclude<RangeChoice, 'other'>, today: string): TillSearch {
  const yesterday = addDays(today, -1)
  if (choice === 'today') return {}
  if (choice === 'yesterday') return { from: yesterday, to: yesterday }
  return { from: addDays(today, 1 - (choice === 'week' ? WEEK_DAYS : MONTH_DAYS)), to: today }
}

export function choiceOf({ from, to }: DayRange, today: string): RangeChoice {
  const choices = ['today', 'yesterday', 'week', 'month'] as const
  const isShown = (choice: (typeof choices)[number]) => {
    const chosen = chosenRange(choice, today)
    return (chosen.from ?? today) === from && (chosen.to ?? today) === to
  }
  return choices.find(isShown) ?? 'other'
}

/** The range that ends where the person moves it, without days in the future and not longer than the service allows. */
export function movedRange(range: DayRange, moved: TillSearch, today: string): DayRange {
  const to = moved.to ?? range.to
  const from = moved.from ?? range.from
  const last = to > today ? today : to
  if (from > last) return moved.from === undefined ? { from: last, to: last } : { from, to: from }
  const earliest = addDays(last, 1 - RANGE_DAYS_MAX)
  if (from >= earliest) return { from, to: last }
  return moved.from === undefined
    ? { from: earliest, to: last }
    : { from, to: addDays(from, RANGE_DAYS_MAX - 1) }
}

/** As many days earlier or later. Undefined in the future. */
export function steppedRange(
  { from, to }: DayRange,
  direction: -1 | 1,
  today: string,
): TillSearch | undefined {
  const days = direction * ((Date.parse(to) - Date.parse(from)) / DAY_MS + 1)
  const next = { from: addDays(from, days), to: addDays(to, days) }
  if (next.from > today) return undefined
  if (next.from === today && next.to === today) return {}
  return next.to > today ? { from: next.from, to: today } : next
}

/** Such as "Today, Thu 19 Nov" or "13 Nov to 19 Nov 2026". */
export function rangeText({ from, to }: DayRange, today: string): string {
  if (from !== to)
    return `${dayAndMonth(from, from.slice(0, 4) !== to.slice(0, 4))} to ${dayAndMonth(to, true)}`
  const isThisYear = from.slice(0, 4) === today.slice(0, 4)
  const day = `${format(from, WEEKDAY)} ${dayAndMonth(from, !isThisYear)}`
  return from === today ? `Today, ${day}` : day
}

/** Such as "Thursday, 19 November". */
export function longDayText(day: string): string {
  return `${format(day, { ...WEEKDAY, weekday: 'long' })}, ${format(day, { ...DAY_AND_MONTH, month: 'long' })}`
}

export function dayAndMonth(day: string, hasYear: boolean): string {
  return format(day, hasYear ? { ...DAY_AND_MONTH, year: 'numeric' } : DAY_AND_MONTH)
}

function format(day: string, options: Intl.DateTimeFormatOptions): string {
  return new Intl.DateTimeFormat('en-GB', options).format(new Date(day))
}

/** True if no later entry can count for the last of these days. */
export function isClosed({ to }: DayRange, { closedThrough }: Pick<Totals, 'closedThrough'>): boolean {
  return closedThrough !== undefined && to <= closedThrough
}
