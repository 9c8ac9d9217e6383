// SQL statements on pet_history.
import type { Actor } from '../../contract/actor.ts'
import { SERVICE_NAME } from '../../contract/actor.ts'
import type { PetStatus } from '../../contract/pet-status.ts'
import type { ProfileFields } from '../../contract/profile-fields.ts'
import type { Reader, Tx } from '../../db/database.ts'
import { INT64_MAX } from '../../values/int64.ts'
import type { ChangedFields, HistoryEntry, HistoryEvent } from './schema.ts'

export interface Change {
  petId: bigint
  event: HistoryEvent
  from: ChangedFields
  to: ChangedFields
  reason?: string | undefined
}

/**
 * The only SQL that writes pet_history. `rows` returns the columns of this list. `more` names further columns, for changes
 * of other fields than the status.
 */
export const historyInsert = (rows: string, more = '') =>
  `insert into pet_history (pet_id, event, from_status, to_status, actor_id, request_id${more}) ${rows}`

const MORE_COLUMNS =
  ', from_name, to_name, from_category_id, to_category_id, reason, from_profile, to_profile'

export async function insertHistory(tx: Tx, change: Change, { actorId, requestId }: Actor): Promise<void> {
  const { petId, event, from, to, reason } = change
  await tx.write({
    name: 'insert_history',
    bounded: 'by the given rows',
    text: historyInsert('values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)', MORE_COLUMNS),
    values: [
      petId,
      event,
      from.status ?? null,
      to.status ?? null,
      actorId ?? null,
      requestId,
      from.name ?? null,
      to.name ?? null,
      from.categoryId ?? null,
      to.categoryId ?? null,
      reason ?? null,
      profileJson(from),
      profileJson(to),
    ],
  })
}

/** Records several changes by requests, each of its own pet. */
export async function insertHistories(
  tx: Tx,
  changes: readonly Change[],
  { actorId, requestId }: Actor,
): Promise<void> {
  const column = <Value>(value: (change: Change) => Value | undefined) =>
    changes.map((change) => value(change) ?? null)
  await tx.write({
    name: 'insert_histories',
    bounded: 'by the given rows',
    text: historyInsert(
      `select pet_id, event, from_status, to_status, $5::bigint, $6, from_name, to_name, from_category_id, to_category_id, reason,
          from_profile, to_profile
        from unnest($1::bigint[], $2::text[], $3::pet_status[], $4::pet_status[], $7::text[], $8::text[], $9::bigint[],
          $10::bigint[], $11::text[], $12::jsonb[], $13::jsonb[])
          as input (pet_id, event, from_status, to_status, from_name, to_name, from_category_id, to_category_id, reason,
            from_profile, to_profile)`,
      MORE_COLUMNS,
    ),
    values: [
      column(({ petId }) => petId),
      column(({ event }) => event),
      column(({ from }) => from.status),
      column(({ to }) => to.status),
      actorId ?? null,
      requestId,
      column(({ from }) => from.name),
      column(({ to }) => to.name),
      column(({ from }) => from.categoryId),
      column(({ to }) => to.categoryId),
      column(({ reason }) => reason),
      column(({ from }) => profileJson(from)),
      column(({ to }) => profileJson(to)),
    ],
  })
}

/** Null without a field of the profile. */
function profileJson({
  name: _name,
  categoryId: _id,
  status: _status,
  ...profile
}: ChangedFields): string | null {
  const json = JSON.stringify(profile)
  return json === '{}' ? null : json
}

interface HistoryRow {
  id: bigint
  at: Date
  event: HistoryEvent
  from_name: string | null
  to_name: string | null
  from_category_id: bigint | null
  to_category_id: bigint | null
  from_status: PetStatus | null
  to_status: PetStatus | null
  actor: string | null
  request_id: string
  reason: string | null
  from_profile: ProfileFields | null
  to_profile: ProfileFields | null
}

/** About the bytes of an entry in JSON, without its names, reason and profiles. */
const ENTRY_BYTES = 300

export interface HistoryPage {
  changes: { id: bigint; entry: HistoryEntry }[]
  /** Whether the page ends at a limit: older changes may follow. */
  isFull: boolean
}

/**
 * Returns up to `max` changes to a pet that have a history id below `beforeId`, newest first. The page ends after the change
 * with which it reaches `maxBytes`. A stored profile can be compressed, so its size is that of its text.
 */
export async function findHistoryBefore(
  db: Reader,
  petId: bigint,
  beforeId: bigint | undefined,
  { max, maxBytes }: { max: number; maxBytes: number },
): Promise<HistoryPage> {
  const rows = await db.read<HistoryRow & { bytes: number }>({
    name: 'find_history_before',
    text: `select h.id, h.at, h.event, h.from_name, h.to_name, h.from_category_id, h.to_category_id,
        h.from_status, h.to_status, actors.name as actor, h.request_id, h.reason,
        h.from_profile, h.to_profile, h.bytes
      from (
        select *, sum(size) over (order by pet_id desc, id desc rows unbounded preceding)::int as bytes
        from (
          select *, ${ENTRY_BYTES} + coalesce(octet_length(from_name), 0) + coalesce(octet_length(to_name), 0)
              + coalesce(octet_length(reason), 0) + coalesce(octet_length(from_profile::text), 0)
              + coalesce(octet_length(to_profile::text), 0) as size
          from pet_history
          where (pet_id, id) < ($1, $2) and (pet_id, id) >= ($1, 0)
          order by pet_id desc, id desc
          limit $3
        ) as sized
      ) as h
      left join actors on actors.id = h.actor_id
      where h.bytes - h.size < $4
      order by h.pet_id desc, h.id desc`,
    values: [petId, beforeId ?? INT64_MAX, max, maxBytes],
  })
  const isFull = rows.length === max || (rows.at(-1)?.bytes ?? 0) >= maxBytes
  return { changes: rows.map((row) => ({ id: row.id, entry: toEntry(row) })), isFull }
}

/** Returns the creation of the pet, which is recorded in the pet's own row; undefined if the pet does not exist. */
export async function findCreation(db: Reader, petId: bigint): Promise<HistoryEntry | undefined> {
  const [row] = await db.read<Pick<HistoryRow, 'at' | 'actor'> & { request_id: string | null }>({
    name: 'find_creation',
    bounded: 'by one pet or webhook',
    text: `select pets.created_at as at, actors.name as actor, pets.request_id
      from pets left join actors on actors.id = pets.created_by
      where pets.id = $1`,
    values: [petId],
  })
  if (row === undefined) return undefined
  return {
    at: row.at,
    event: 'created',
    actor: row.actor ?? SERVICE_NAME,
    requestId: row.request_id ?? 'unknown',
  }
}

function toEntry(row: HistoryRow): HistoryEntry {
  return {
    at: row.at,
    event: row.event,
    from: toFields(row.from_name, row.from_category_id, row.from_status, row.from_profile),
    to: toFields(row.to_name, row.to_category_id, row.to_status, row.to_profile),
    actor: row.actor ?? SERVICE_NAME,
    requestId: row.request_id,
    reason: row.reason ?? undefined,
  }
}

function toFields(
  name: string | null,
  categoryId: bigint | null,
  status: PetStatus | null,
  profile: ProfileFields | null,
): ChangedFields | undefined {
  if (name === null && categoryId === null && status === null && profile === null) return undefined
  return {
    name: name ?? undefined,
    categoryId: categoryId ?? undefined,
    status: status ?? undefined,
    ...profile,
  }
}
