// Writes CSV files that a person downloads, and reads their cells back.

/** Without it, Excel does not read the file as UTF-8. */
export const BYTE_ORDER_MARK = '\uFEFF'

/**
 * A spreadsheet runs a cell that starts with one of these characters as a formula. An apostrophe before it makes the cell a
 * text. A text that has apostrophes there already gets one more, so that `readCell` is exact.
 */
const FORMULA = /^'*[=+\-@\t\r\n]/

const NUMBER = /^-?\d+(?:\.\d+)?$/

/** A text, or an amount that spreadsheets add up: a negative one gets no apostrophe. */
export type CsvCell = string | { amount: string }

export function csvText(rows: CsvCell[][]): string {
  return BYTE_ORDER_MARK + csvLines(rows)
}

export function csvLines(rows: CsvCell[][]): string {
  return rows.map((row) => `${row.map(cellText).map(quoted).join(',')}\r\n`).join('')
}

/** Every cell of a file for a spreadsheet goes through this function. */
function cellText(cell: CsvCell): string {
  if (typeof cell === 'string') return safeCell(cell)
  return NUMBER.test(cell.amount) ? cell.amount : safeCell(cell.amount)
}

export function safeCell(text: string): string {
  return FORMULA.test(text) ? `'${text}` : text
}

/** Removes exactly what `safeCell` has added. */
export function readCell(cell: string): string {
  return cell.startsWith("'") && FORMULA.test(cell) ? cell.slice(1) : cell
}

function quoted(field: string): string {
  return /[",\r\n]/.test(field) ? `"${field.replaceAll('"', '""')}"` : field
}
