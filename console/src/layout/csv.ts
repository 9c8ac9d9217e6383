// Writes CSV files that a person downloads, and reads their cells back.

/** Without it, Excel does not read the file as UTF-8. */
export const BYTE_ORDER_MARK = '\uFEFF'

/**
 * A spreadsheet runs a cell that starts with one of these characters as a formula. An apostrophe before it makes the cell a
 * text. A text that has apostrophes there already gets one more, so that `readCell` is exact.
 */
const FORMULA = /^'*[=+\-@\t\r\n]/

export function csvText(rows: string[][]): string {
  return BYTE_ORDER_MARK + csvLines(rows)
}

export function csvLines(rows: string[][]): string {
  return rows.map((row) => `${row.map(safeCell).map(quoted).join(',')}\r\n`).join('')
}

/** Every cell of a file for a spreadsheet goes through this function. */
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
