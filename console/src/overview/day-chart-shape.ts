// The shape of the chart of days: the scale, the bars, and the texts that describe them.
import type { DayFigures } from '@petstore/client'

/** What the chart shows of a day. */
export type ChartDay = Pick<DayFigures, 'day' | 'added' | 'sold'>

export type Series = 'added' | 'sold'

export interface Bar {
  x: number
  width: number
  height: number
}

/** A day that is labelled below the chart. */
export interface DayLabel {
  index: number
  text: string
}

/** Every seventh day has a label, counted back from today. */
const LABELLED_EVERY = 7
/** A bar of a small number next to a large one is still visible. */
const BAR_HEIGHT_MIN = 2

const DAY = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' })
const LONG_DAY = new Intl.DateTimeFormat('en-GB', {
  weekday: 'short',
  day: 'numeric',
  month: 'short',
  timeZone: 'UTC',
})
const NUMBER = new Intl.NumberFormat('en-GB')

/** The top of the scale: a round number that is at least as large as all values. */
export function scaleTop(values: number[]): number {
  const max = Math.max(1, ...values)
  const power = 10 ** Math.floor(Math.log10(max))
  const top = [1, 2, 3, 4, 5, 6, 8, 10].map((factor) => factor * power).find((step) => step >= max)
  return top ?? max
}

/** One bar per value, in a drawing of this size. A bar takes about two thirds of its day. */
export function barsOf(values: number[], width: number, height: number): Bar[] {
  const top = scaleTop(values)
  const dayWidth = width / values.length
  const barWidth = Math.max(2, dayWidth * 0.68)
  return values.map((value, index) => ({
    x: index * dayWidth + (dayWidth - barWidth) / 2,
    width: barWidth,
    // More returns than sales.
    height: value <= 0 ? 0 : Math.max(BAR_HEIGHT_MIN, (value / top) * height),
  }))
}

export function total(days: ChartDay[], series: Series): number {
  return days.reduce((sum, day) => sum + day[series], 0)
}

/** Labels for a few days, oldest first. The last day is always today. */
export function dayLabels(days: ChartDay[]): DayLabel[] {
  return days
    .map(({ day }, index) => ({ index, text: index === days.length - 1 ? 'Today' : shortDay(day) }))
    .filter(({ index }) => (days.length - 1 - index) % LABELLED_EVERY === 0)
}

/** Such as "14 Nov". The API sends days as dates without a time. */
export function shortDay(day: string): string {
  return DAY.format(new Date(`${day}T00:00:00Z`))
}

/** Such as "Sat 14 Nov: 12 added, 3 sold". */
export function dayText({ day, added, sold }: ChartDay): string {
  return `${LONG_DAY.format(new Date(`${day}T00:00:00Z`))}: ${countText(added)} added, ${countText(sold)} sold`
}

/** What the chart shows, for people who do not see it. */
export function chartSummary(days: ChartDay[]): string {
  const parts = (['added', 'sold'] as const).map((series) => {
    const sum = total(days, series)
    const best = days.reduce<ChartDay | undefined>(
      (most, day) => (most === undefined || day[series] > most[series] ? day : most),
      undefined,
    )
    if (sum === 0 || best === undefined) return `no pet ${series}`
    return `${countText(sum)} ${series}, most of them on ${shortDay(best.day)} (${countText(best[series])})`
  })
  return `Last ${days.length} days: ${parts.join('; ')}.`
}

export function countText(count: number): string {
  return NUMBER.format(count)
}
