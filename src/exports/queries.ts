// The statement of an export, on one connection that may work for hours.
import type { Client } from 'pg'
import { type CopyToStreamQuery, to as copyTo } from 'pg-copy-streams'

export type ExportFormat = 'csv' | 'ndjson'

/** Every animal as of one moment, as one stream of bytes; PostgreSQL waits where nobody reads. */
export function copyPetsTo(client: Client, format: ExportFormat): CopyToStreamQuery {
  const pets = 'select id, name, category_id as "categoryId", status from pets'
  const statement = {
    csv: `copy (${pets} order by id) to stdout with (format csv, header)`,
    // JSON holds no control characters: with two of them as quote and delimiter its lines leave as they are.
    ndjson: `copy (select row_to_json(pet) from (${pets}) as pet order by pet.id)
      to stdout with (format csv, quote e'\\x01', delimiter e'\\x02')`,
  }[format]
  return client.query(copyTo(statement))
}
