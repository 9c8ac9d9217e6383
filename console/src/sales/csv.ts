// Sales as a CSV file for a spreadsheet.
import type { Order, Pet } from '@petstore/client'
import { csvText } from '../layout/csv.ts'
import { dayOf } from '../layout/dates.ts'
import { isBroughtBack } from './day-sales.ts'

export const CSV_COLUMNS = [
  'soldAt',
  'petId',
  'petName',
  'category',
  'placedBy',
  'note',
  'price',
  'currency',
  'orderId',
  'broughtBack',
]

export interface SoldPet {
  order: Order
  pet: Pet | undefined
  category: string
}

export function salesCsv(sales: SoldPet[]): string {
  const rows = sales.map(({ order, pet, category }) => [
    localTime(order.closedAt ?? ''),
    order.petId,
    pet?.name ?? '',
    category,
    order.placedBy,
    order.note ?? '',
    order.price ?? '',
    order.currency ?? '',
    order.id,
    isBroughtBack(pet) ? 'yes' : '',
  ])
  return csvText([CSV_COLUMNS, ...rows])
}

/** The time in the time zone of the browser, such as "2026-11-18 09:30:00", which spreadsheets know. */
function localTime(time: string): string {
  return `${dayOf(time)} ${new Date(time).toLocaleTimeString('en-GB')}`
}
