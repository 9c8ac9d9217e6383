// The columns of the list of pets that a person can choose. Each browser remembers them.
import { FACT_NAMES, type FactName, FACTS } from '../profile/facts.ts'

export interface Column {
  id: ColumnId
  label: string
  /** Width on a wide screen. Amounts are never cut off. */
  width: string
}

export type ColumnId = FactName | 'price'

export const COLUMNS: Column[] = [
  ...FACT_NAMES.flatMap((id) => {
    const { label, column } = FACTS[id]
    return column === undefined ? [] : [{ id, label, width: column.width }]
  }),
  { id: 'price', label: 'Price', width: '7rem' },
]
export const COLUMNS_STORAGE = 'petstore-columns'
export const COLUMNS_DEFAULT: ColumnId[] = ['breed', 'bornOn', 'price']

/** Reads the chosen columns, and ignores those of another version. */
export function readColumns(stored: string | null | undefined): ColumnId[] {
  return stored === null || stored === undefined ? COLUMNS_DEFAULT : inOrder(stored.split(','))
}

/** The known columns of these, in the order of the list. */
export function inOrder(ids: string[]): ColumnId[] {
  return COLUMNS.map(({ id }) => id).filter((id) => ids.includes(id))
}

/** The grid of a row on a wide screen: name, category, the chosen columns, status and buttons. The name stays readable. */
export function gridColumns(chosen: readonly ColumnId[]): string {
  const columns = COLUMNS.filter(({ id }) => chosen.includes(id))
  const widths = columns.map(({ width }) => width)
  return ['minmax(10rem, 1fr)', 'minmax(0, 10rem)', ...widths, '8rem', '10rem'].join(' ')
}
