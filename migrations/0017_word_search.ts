// Search by any word of the name. The index is built without blocking writes, so this migration has no transaction.
import type { MigrationBuilder } from 'node-pg-migrate'

/**
 * The keys contain only this much of a name, at most 320 bytes. A page examines up to 2,000 names: of 500 characters each, it
 * took PostgreSQL 475 ms of CPU time; with this limit 60 to 90 ms, and 45 ms if the names have 21 characters.
 */
const NAME_CHARACTERS = 80

/**
 * The keys of a pet: for each word of its name, the range of 32,768 ids that the pet is in, and the word. A search looks into
 * one range after the other, from the newest, because one look into the whole index would collect all pets that have a
 * common word. Words are separated by white space, punctuation and the symbols of ASCII.
 *
 * Not strict, because PostgreSQL then could not inline it: a strict function takes 15 µs more per create.
 */
const keysFunction = (
  collation: string,
) => `create or replace function pet_word_keys(id bigint, name text) returns tsvector
  language sql immutable parallel safe
  return array_to_tsvector(array_remove(
    string_to_array(
      (id >> 15)::text || ':' || regexp_replace(
        pet_name_key(left(name, ${NAME_CHARACTERS})) collate ${collation},
        '[[:space:][:punct:]$+<=>^\`|~]+', ' ' || (id >> 15)::text || ':', 'g'
      ),
      ' '
    ),
    (id >> 15)::text || ':'
  ))`

/**
 * New entries first go into a list, which every look scans. It is short, so that a search stays fast. Without the list, a
 * create takes 17 µs more.
 */
const INDEX = 'pets_by_word'
const PENDING_LIST_KB = 64

export async function up(pgm: MigrationBuilder): Promise<void> {
  pgm.noTransaction()
  // The same collation as that of pet_name_key.
  const icu = await pgm.db.select(`select from pg_collation where collname = 'und-x-icu'`)
  pgm.sql(keysFunction(icu.length > 0 ? 'pg_catalog."und-x-icu"' : 'pg_catalog."default"'))
  // While the build waits for transactions to end, no request queues behind it. It can therefore wait longer than other
  // migrations; src/db/migrations/migrate.ts sets the max.
  pgm.sql(`select set_config('lock_timeout', current_setting('petstore.lock_wait', true), false)
    where current_setting('petstore.lock_wait', true) <> ''`)
  // Left by an attempt that failed. Every write would maintain it, but no query could use it.
  const invalid = await pgm.db.select(
    `select from pg_index where indexrelid = to_regclass('${INDEX}') and not indisvalid`,
  )
  if (invalid.length > 0) pgm.sql(`drop index concurrently ${INDEX}`)
  pgm.sql(
    `create index concurrently if not exists ${INDEX} on pets using gin (pet_word_keys(id, name))
      with (gin_pending_list_limit = ${PENDING_LIST_KB})`,
  )
}

export const down = false
