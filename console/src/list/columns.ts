// The columns of the list of pets that a person can choose. Each browser remembers them.
import { FACT_NAMES, type FactName, FACTS } from '../profile/facts.ts'

export interface Column {
  id: ColumnId
  label: string
  /** Width on a wide screen. Amounts are never cut off. */
  width: string
}

export type ColumnId = FactName | 'added' | 'price'

/** The category is the second line of the breed, and the sex that of the age. */
const SECOND_LINES: Partial<Record<ColumnId, ColumnId>> = { bornOn: 'sex' }

export const COLUMNS: Column[] = [
  ...FACT_NAMES.flatMap((id) => {
    const { label, column } = FACTS[id]
    return column === undefined ? [] : [{ id, label, width: column.width }]
  }),
  { id: 'added', label: 'Added', width: '5.5rem' },
  { id: 'price', label: 'Price', width: '6rem' },
]
export const COLUMNS_STORAGE = 'petstore-columns'
export const COLUMNS_DEFAULT: ColumnId[] = ['breed', 'sex', 'bornOn', 'added', 'price']

/** Reads the chosen columns, and ignores those of another version. */
export function readColumns(stored: string | null | undefined): ColumnId[] {
  return stored === null || stored === undefined ? COLUMNS_DEFAULT : inOrder(stored.split(','))
}

/** The known columns of these, in the order of the list. */
export function inOrder(ids: string[]): ColumnId[] {
  return COLUMNS.map(({ id }) => id).filter((id) => ids.includes(id))
}

/** A column of the list with its second line. */
export interface Cell {
  id: FactName | 'added'
  label: string
  second: FactName | undefined
}

/** The cells between the category and the status. A fact that is the second line of another one has no cell of its own. */
export function cellsOf(chosen: readonly ColumnId[]): Cell[] {
  const second = (id: ColumnId) => chosen.find((one) => one === SECOND_LINES[id])
  const isSecond = (id: ColumnId) => chosen.some((one) => second(one) === id)
  return COLUMNS.filter(
    ({ id }) => id !== 'breed' && id !== 'price' && chosen.includes(id) && !isSecond(id),
  ).map(({ id, label }) => ({ id: id as Cell['id'], label, second: second(id) as FactName | undefined }))
}

/** The grids of a row: on a wide screen, on one without a place for `added`, and on one for no cells of `cellsOf`. */
export function gridColumns(
  chosen: readonly ColumnId[],
  canSelect: boolean,
): { wide: string; medium: string; narrow: string } {
  const cells = cellsOf(chosen)
  const widthOf = (wanted: ColumnId) => COLUMNS.filter(({ id }) => id === wanted).map(({ width }) => width)
  const widths = cells.flatMap(({ id }) => widthOf(id))
  const price = chosen.includes('price') ? widthOf('price') : []
  const [picture, name, kind] = ['2.75rem', 'minmax(7rem, 1.2fr)', 'minmax(7rem, 1fr)']
  const select = canSelect ? ['1.25rem'] : []
  const grid = (parts: string[], status: string) =>
    [...select, picture, name, kind, ...parts, status, ...price, '6.5rem'].join(' ')
  const status = 'minmax(8.75rem, 12rem)'
  const medium = cells.filter(({ id }) => id !== 'added').flatMap(({ id }) => widthOf(id))
  return { wide: grid(widths, status), medium: grid(medium, status), narrow: grid([], 'minmax(9rem, 11rem)') }
}
