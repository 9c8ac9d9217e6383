// The SQL statement of an export. It runs on its own connection, possibly for hours.
// Knows nothing about files.
import type { Client } from 'pg'
import { type CopyToStreamQuery, to as copyTo } from 'pg-copy-streams'

export type ExportFormat = 'csv' | 'ndjson'

/** Streams all pets from one snapshot, sorted by id. PostgreSQL waits while the stream is not read. */
export function copyPetsTo(client: Client, format: ExportFormat): CopyToStreamQuery {
  const pets = 'select id, name, category_id as "categoryId", status from pets'
  const statement = {
    csv: `copy (${pets} order by id) to stdout with (format csv, header)`,
    // JSON text contains no control characters. With two of them as quote and delimiter, COPY leaves lines unchanged.
    ndjson: `copy (select row_to_json(pet) from (${pets}) as pet order by pet.id)
      to stdout with (format csv, quote e'\\x01', delimiter e'\\x02')`,
  }[format]
  return client.query(copyTo(statement))
}
