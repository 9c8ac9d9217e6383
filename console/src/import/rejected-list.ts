// The list of rejected rows, a CSV file with the columns of that of `petstore import`. A person fixes the rows and imports it.
import { csvText } from '../layout/csv.ts'
import { recordText } from './csv.ts'
import type { PetFile, RejectedRow } from './pet-rows.ts'

export function rejectedCsv({ columns }: PetFile, rows: RejectedRow[]): string {
  const lines = rows.map(({ record, values, reason }) => [
    String(record.line),
    reason,
    ...columns.map((name) => values[name]),
    recordText(record),
  ])
  return csvText([['line', 'reason', ...columns, 'row'], ...lines])
}

/** Such as "litter.rejected.csv". */
export function rejectedName(fileName: string): string {
  return `${fileName.replace(/\.csv$/i, '')}.rejected.csv`
}
