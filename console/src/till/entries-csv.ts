// The entries of some days as a CSV file, for whoever keeps the books.
import type { Entry, Pet } from '@petstore/client'
import { type CsvCell, csvText } from '../layout/csv.ts'
import { spreadsheetTime } from './entry-text.ts'

export const CSV_COLUMNS = [
  'day',
  'time',
  'entryId',
  'kind',
  'orderId',
  'petId',
  'petName',
  'category',
  'seller',
  'actor',
  'method',
  'reason',
  'note',
  'currency',
  'paid',
  'sales',
  'pets',
  'voidedEntryId',
]

export interface CsvContext {
  pets: Record<string, Pet>
  /** Returns the name of a category. */
  nameOf: (categoryId: string) => string
  timeZone: string
}

export function entriesCsv(entries: Entry[], { pets, nameOf, timeZone }: CsvContext): string {
  const rows = entries.map((entry): CsvCell[] => [
    entry.day,
    spreadsheetTime(entry.at, timeZone),
    entry.id,
    entry.kind,
    entry.orderId ?? '',
    entry.petId ?? '',
    entry.petId === undefined ? '' : (pets[entry.petId]?.name ?? ''),
    entry.categoryId === undefined ? '' : nameOf(entry.categoryId),
    entry.seller ?? '',
    entry.actor ?? '',
    entry.method ?? '',
    entry.reason ?? '',
    entry.note ?? '',
    entry.currency,
    { amount: entry.paid },
    { amount: entry.sales },
    { amount: String(entry.pets) },
    entry.voidedEntryId ?? '',
  ])
  return csvText([CSV_COLUMNS, ...rows])
}
