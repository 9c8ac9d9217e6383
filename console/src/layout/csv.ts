// Writes CSV files for spreadsheets.

/** Without it, Excel does not read the file as UTF-8. */
export const BYTE_ORDER_MARK = '\uFEFF'

export function csvText(rows: string[][]): string {
  return BYTE_ORDER_MARK + rows.map((row) => `${row.map(quoted).join(',')}\r\n`).join('')
}

function quoted(field: string): string {
  return /[",\r\n]/.test(field) ? `"${field.replaceAll('"', '""')}"` : field
}
