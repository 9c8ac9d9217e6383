// The columns and the text of an export. `petstore export` lets PostgreSQL write the same text: test/slow/export.test.ts
// compares both.
import { csvLine } from '../../values/csv.ts'
import { stringifyJson } from '../../values/json.ts'

export const EXPORT_FORMATS = ['csv', 'ndjson'] as const
export type ExportFormat = (typeof EXPORT_FORMATS)[number]

export const MEDIA_TYPES: Record<ExportFormat, string> = {
  csv: 'text/csv',
  ndjson: 'application/x-ndjson',
}

/** Max number of pets in an export, which limits how long it takes. A larger one is a task for `petstore export`. */
export const EXPORT_PETS_MAX = 100_000

const PET_COLUMNS = ['id', 'name', 'categoryId', 'status']

/** The fields of a pet, and those of what is included that have a value. */
export type ExportRow = Record<string, string | number | bigint | undefined>

export interface RowWriter {
  /** The text before the first row. */
  header: string
  /** One line. Fields that are no columns are left out. */
  write: (row: ExportRow) => string
}

export function rowWriter(format: ExportFormat, included: readonly string[]): RowWriter {
  const columns = [...PET_COLUMNS, ...included]
  if (format === 'csv') {
    return {
      header: csvLine(columns),
      write: (row) => csvLine(columns.map((column) => row[column]?.toString())),
    }
  }
  return {
    header: '',
    write: (row) => `${stringifyJson(Object.fromEntries(columns.map((column) => [column, row[column]])))}\n`,
  }
}
