// The SQL statements of an export. They run on their own connection and may take hours.
import type { Client } from 'pg'
import { type CopyToStreamQuery, to as copyTo } from 'pg-copy-streams'
import { NEWEST_POSITION } from '../../events/feed/queries.ts'
import type { ExportFormat } from '../../store/pet-export/format.ts'
import { PET_COLUMNS } from '../../store/pets/queries.ts'
import { PROFILE_COLUMNS } from '../../store/profiles/queries.ts'

/**
 * Starts a snapshot for `copyPetsTo`, and returns the position in the event feed that follows it: the snapshot contains
 * the changes of all events up to the position. It may also contain changes whose events follow the position, because
 * the service numbers events shortly after their change commits.
 */
export async function startSnapshot(client: Client): Promise<string> {
  await client.query('begin transaction isolation level repeatable read, read only')
  const { rows } = await client.query<{ position: string }>(`select ${NEWEST_POSITION} as position`)
  return (rows[0] as { position: string }).position
}

/** Streams all pets from one snapshot, sorted by id. If the reader is slow, PostgreSQL waits for it. */
export function copyPetsTo(
  client: Client,
  format: ExportFormat,
  { profiles }: { profiles: boolean },
): CopyToStreamQuery {
  const pets = `select ${PET_COLUMNS}${
    profiles ? `, ${PROFILE_COLUMNS} from pets left join pet_profiles on pet_id = id` : ' from pets'
  }`
  const statement = {
    csv: `copy (${pets} order by id) to stdout with (format csv, header)`,
    // JSON text contains no control characters. With control characters as quote and delimiter, COPY has nothing to
    // quote and leaves the lines unchanged.
    ndjson: `copy (select ${profiles ? 'json_strip_nulls(row_to_json(pet))' : 'row_to_json(pet)'} from (${pets}) as pet order by pet.id)
      to stdout with (format csv, quote e'\\x01', delimiter e'\\x02')`,
  }[format]
  return client.query(copyTo(statement))
}
