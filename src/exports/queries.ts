// The SQL statement of an export. It runs on its own connection and may take hours.
// Knows nothing about files.
import type { Client } from 'pg'
import { type CopyToStreamQuery, to as copyTo } from 'pg-copy-streams'

export type ExportFormat = 'csv' | 'ndjson'

/** Streams all pets from one snapshot, sorted by id. If the reader is slow, PostgreSQL waits for it. */
export function copyPetsTo(client: Client, format: ExportFormat): CopyToStreamQuery {
  const pets = 'select id, name, category_id as "categoryId", status from pets'
  const statement = {
    csv: `copy (${pets} order by id) to stdout with (format csv, header)`,
    // JSON text contains no control characters. With control characters as quote and delimiter, COPY has nothing to
    // quote and leaves the lines unchanged.
    ndjson: `copy (select row_to_json(pet) from (${pets}) as pet order by pet.id)
      to stdout with (format csv, quote e'\\x01', delimiter e'\\x02')`,
  }[format]
  return client.query(copyTo(statement))
}
