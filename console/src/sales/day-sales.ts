// The sales of each day, from the figures of the service.
import type { DayFigures, Order, Pet } from '@petstore/client'
import { dayOf } from '../layout/dates.ts'
import { type Amount, amountText, sumAmounts } from '../profile/price.ts'
import { type DayRange, isIn } from './range.ts'

export interface SalesSum {
  orders: number
  withoutPrice: number
  totals: Amount[]
  /** Pets whose status a person or program has set to sold. They are no orders and have no price. */
  withoutOrder: number
}

/** The sum over the days of the range. Undefined if the figures do not include all of them. */
export function sumOfDays(days: DayFigures[], range: DayRange): SalesSum | undefined {
  const first = days[0]?.day
  if (first === undefined || range.from < first) return undefined
  const sums = days.filter(({ day }) => isIn(day, range)).map(sumOfDay)
  return {
    orders: total(sums.map(({ orders }) => orders)),
    withoutPrice: total(sums.map(({ withoutPrice }) => withoutPrice)),
    totals: sumAmounts(sums.flatMap(({ totals }) => totals)),
    withoutOrder: total(sums.map(({ withoutOrder }) => withoutOrder)),
  }
}

export function sumOfDay({ sold, sales }: DayFigures): SalesSum {
  const { orders, withoutPrice, totals } = sales ?? { orders: 0, withoutPrice: 0, totals: [] }
  // The service counts `sold` a moment after the order.
  return { orders, withoutPrice, totals, withoutOrder: Math.max(0, sold - orders) }
}

/** The orders of each day, in the same sort order. */
export function byDay(orders: Order[]): { day: string; sales: Order[] }[] {
  const dayOfSale = ({ closedAt = '' }: Order) => dayOf(closedAt)
  const days = [...new Set(orders.map(dayOfSale))]
  return days.map((day) => ({ day, sales: orders.filter((order) => dayOfSale(order) === day) }))
}

/** Such as "€360.00 and US$20.00". */
export function totalText(totals: Amount[]): string {
  return totals.map(amountText).join(' and ')
}

function total(counts: number[]): number {
  return counts.reduce((sum, count) => sum + count, 0)
}

/** Whether the pet of a sale is no longer sold. */
export function isBroughtBack(pet: Pet | undefined): pet is Pet {
  return pet !== undefined && pet.status !== 'sold'
}
