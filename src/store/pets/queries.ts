// SQL statements on pets. Each finds its rows by an index. Orders, imports and exports have their own statements.
import type { Actor } from '../../contract/actor.ts'
import { LIST_LIMIT_MAX, type PagePosition } from '../../contract/paging.ts'
import { PET_STATUSES, type PetStatus } from '../../contract/pet-status.ts'
import { actorFrom, actorValues } from '../../db/actor-settings.ts'
import type { Reader, Tx, Writer } from '../../db/database.ts'
import { INT64_MAX } from '../../values/int64.ts'
import type { ProfileFields } from '../../contract/profile-fields.ts'
import { historyInsert } from '../history/queries.ts'
import { WRITTEN_COLUMNS, writtenValues } from '../profiles/queries.ts'
import { type Include, includedJson } from './included.ts'
import { filterCondition, filterValues, type PetFilters } from './filters.ts'
import type { Pet, VersionedPet } from './schema.ts'

export const PET_COLUMNS = 'id, name, category_id as "categoryId", status'

export interface PetToInsert {
  name: string
  categoryId: bigint
  status: PetStatus
  createdBy: bigint | undefined
  requestId: string | undefined
  /** With the currency of its price. */
  profile?: ProfileFields | undefined
}

/** A page of pets with an id below `beforeId`, newest first. All pages of one query have the same kind of filters. */
export interface PetPageQuery {
  filters: PetFilters
  beforeId: bigint | undefined
  max: number
  include?: Include
}

export interface PetPage {
  /** The text that goes into the response: an array of the schema Pet. */
  json: string
  /** The id of the last pet on the page if there is a next page. */
  lastId: bigint | null
}

/** Starts the JSON of every row. A name cannot contain it, because its quotes are escaped. */
const ROW_START = '{"id":'
/** The same text as that of `JSON.stringify`, for every name that can be stored. */
const jsonRow = (end: string) =>
  `concat('${ROW_START}', id, ',"name":', to_json(name), ',"categoryId":', category_id, ',"status":"', status, ${end})`
const JSON_ROW = jsonRow(`'"}'`)
/** Also with what `include`, a number in SQL, asks for. The row of `pets` is `pet`. */
const jsonRowIncluding = (pet: string, include: string) => jsonRow(`'"'${includedJson(pet, include)}, '}'`)
/** Lists with and without `include` are different statements: most lists have none. */
const nameOf = (name: string, isIncluding: boolean) => (isIncluding ? `${name}_including` : name)

export function isIncludingAny(pages: readonly PetPageQuery[]): boolean {
  return pages.some(({ include = 0 }) => include !== 0)
}

/**
 * One statement for each kind of filters, which reads one range of the index of these filters. A kind is the names of the
 * filters in alphabetical order.
 *
 * The filters are row comparisons on all columns of an index, because these read only the rows that they return, even
 * for a status that no pet has. With `status = $1 and id < $2`, PostgreSQL's generic plan scanned the primary key. If
 * only the 100 oldest of a million pets had the status, it read 999,920 rows to return 20.
 *
 * The "+ 0" matches the index pets_by_category_and_status. migrations/0002_pets.sql explains it.
 */
const RANGES = {
  '': { name: 'find_pet_pages', where: 'id < page.before_id', orderBy: 'id desc' },
  status: {
    name: 'find_pet_pages_by_status',
    where: '(status, id) < (page.status, page.before_id) and (status, id) >= (page.status, 0)',
    orderBy: 'status desc, id desc',
  },
  categoryId: {
    name: 'find_pet_pages_by_category',
    where:
      '(category_id, id) < (page.category_id, page.before_id) and (category_id, id) >= (page.category_id, 0)',
    orderBy: 'category_id desc, id desc',
  },
  'categoryId status': {
    name: 'find_pet_pages_by_category_and_status',
    where: `(category_id + 0, status, id) < (page.category_id, page.status, page.before_id)
            and (category_id + 0, status, id) >= (page.category_id, page.status, 0)`,
    orderBy: 'category_id + 0 desc, status desc, id desc',
  },
}

export type FilterKind = keyof typeof RANGES
export const FILTER_KINDS = Object.keys(RANGES) as FilterKind[]

/**
 * Pages of different kinds must not share a statement. Therefore the kind is derived from all filters that are set, and
 * filters without a statement fail.
 */
export function filterKind(filters: PetFilters): FilterKind {
  const names = Object.entries(filters).filter(([, value]) => value !== undefined)
  const kind = names
    .map(([name]) => name)
    .toSorted()
    .join(' ')
  if (!(kind in RANGES)) throw new Error(`no statement finds pets by ${kind}`)
  return kind as FilterKind
}

/**
 * Returns several pages, in their order. One statement for many pages costs far less than one statement each: waking
 * PostgreSQL takes longer than reading a page.
 *
 * One row more than the page has shows whether there is a next page. Its JSON is cut off here: to leave it out, with
 * row_number() or a slice of an array, takes PostgreSQL 10 to 20 % more CPU time.
 *
 * The planner cannot know `page.max` and assumes a tenth of the table. The constant limit around it keeps the estimate
 * of the generic plan low, so that PostgreSQL neither plans each execution anew nor compiles it (JIT).
 */
export async function findPetPages(
  db: Reader,
  kind: FilterKind,
  pages: readonly PetPageQuery[],
): Promise<PetPage[]> {
  const isIncluding = isIncludingAny(pages)
  const { name, where, orderBy } = RANGES[kind]
  const found = await db.read<PetPage>({
    name: nameOf(name, isIncluding),
    text: `select coalesce(rows.json, '') as json,
        case when rows.ids[page.max + 1] is not null then rows.ids[page.max] end as "lastId"
      from unnest($1::bigint[], $2::pet_status[], $3::bigint[], $4::int[]${isIncluding ? ', $5::int[]' : ''})
        with ordinality as page (category_id, status, before_id, max,${isIncluding ? ' include,' : ''} position)
      cross join lateral (
        select string_agg(${isIncluding ? jsonRowIncluding('pets', 'page.include') : JSON_ROW}, ',') as json, array_agg(id) as ids
        from (
          select * from (
            select id, name, category_id, status${isIncluding ? ', created_at' : ''} from pets
            where ${where}
            order by ${orderBy}
            limit page.max + 1
          ) as found
          limit ${LIST_LIMIT_MAX + 1}
        ) as pets
      ) as rows
      order by page.position`,
    values: [
      pages.map(({ filters }) => filters.categoryId ?? null),
      pages.map(({ filters }) => filters.status ?? null),
      pages.map(({ beforeId }) => beforeId ?? INT64_MAX),
      pages.map(({ max }) => max),
      ...(isIncluding ? [pages.map(({ include = 0 }) => include)] : []),
    ],
  })
  return found.map(({ json, lastId }) => ({
    json: `[${lastId === null ? json : json.slice(0, json.lastIndexOf(`,${ROW_START}`))}]`,
    lastId,
  }))
}

/** The position of a pet in a list, and the text that goes into the response. */
interface PetRow extends PagePosition {
  json: string
}

export interface NameSearch {
  prefix: string
  status: PetStatus | undefined
}

/**
 * Pets whose name starts with the prefix, after the position, sorted by name. Each status is one range of
 * the index pets_by_status_and_name, whose keys are compared byte by byte. The range ends at the prefix followed by 500
 * repetitions of U+10FFFF, the highest code point. No name with this prefix sorts after that, because a name has at most
 * 500 characters. Without a status, this reads `limit` pets of each status and merges them. findPetPages explains the
 * second limit.
 */
const byName = (columns: string, limit: string | number, max: number) => `
      select found.* from unnest($1::pet_status[]) as wanted (status)
        cross join lateral (
          select * from (
            select ${columns}, pet_name_key(name) collate "C" as sort_key from pets
            where (pet_search_key(pets.status, name) collate "C", id)
                > (greatest(pet_search_key(wanted.status, '') || $3, pet_search_key(wanted.status, $2)) collate "C", $4)
              and pet_search_key(pets.status, name) collate "C"
                <= pet_search_key(wanted.status, $2) || repeat(chr(1114111), 500)
            order by pet_search_key(pets.status, name) collate "C", id
            limit ${limit}
          ) as in_range
          limit ${max}
        ) as found
        order by sort_key, id
        limit ${limit}`

function byNameValues({ prefix, status }: NameSearch, after: PagePosition | undefined): unknown[] {
  return [status === undefined ? PET_STATUSES : [status], prefix, after?.sortKey ?? '', after?.id ?? 0n]
}

export async function findPetsByName(
  db: Reader,
  search: NameSearch,
  after: PagePosition | undefined,
  max: number,
  include: Include = 0,
): Promise<PetRow[]> {
  const isIncluding = include !== 0
  const columns = `id, name, category_id, status${isIncluding ? ', created_at' : ''}`
  return db.read<PetRow>({
    name: nameOf('find_pets_by_name', isIncluding),
    text: `select id, sort_key as "sortKey", ${isIncluding ? jsonRowIncluding('page', '$6::int') : JSON_ROW} as json
      from (${byName(columns, '$5', LIST_LIMIT_MAX + 1)}) as page`,
    values: [...byNameValues(search, after), max, ...(isIncluding ? [include] : [])],
  })
}

/**
 * Max pets that a page examines, if an index does not find exactly the pets of the list. Without it, a page would read every
 * pet that has a common word if none of them is in the category: 0.7 s for a million. docs/decisions/0017-search-by-word.md
 * has the figures.
 */
export const EXAMINED_MAX = 2_000

/** Pets in the order of a list, of which not all may match. */
export interface PetSource {
  name: string
  /** Returns the columns of the next EXAMINED_MAX pets, in the order of the list, and their `sort_key`. */
  pets: string
  /** A condition besides the filters, on `pet`. */
  condition?: string
  values: unknown[]
}

/** Pets of the range of an index with an id below `beforeId`, newest first. */
export function petsInRange(range: PetFilters, beforeId: bigint | undefined, max = EXAMINED_MAX): PetSource {
  const { name, where, orderBy } = RANGES[filterKind(range)]
  return {
    name: name.replace('find_pet_pages', 'find_matching_pets'),
    pets: `select found.* from (values ($1::bigint, $2::pet_status, $3::bigint)) as page (category_id, status, before_id)
          cross join lateral (
            select pets.*, '' as sort_key from pets where ${where} order by ${orderBy} limit ${max}
          ) as found`,
    values: [range.categoryId ?? null, range.status ?? null, beforeId ?? INT64_MAX],
  }
}

/** The pet with the reference, if it has an id below `beforeId`. */
export function petByReference(reference: string, beforeId: bigint | undefined): PetSource {
  return {
    name: 'find_matching_pets_by_reference',
    pets: `select pets.*, '' as sort_key from pets
          where id = (select pet_id from pet_profiles where reference = $1) and id < $2`,
    values: [reference, beforeId ?? INT64_MAX],
  }
}

/** The pets of findPetsByName. */
export function petsByName(
  search: NameSearch,
  after: PagePosition | undefined,
  max = EXAMINED_MAX,
): PetSource {
  return {
    name: 'find_matching_pets_by_name',
    pets: byName('pets.*', max, max),
    values: byNameValues(search, after),
  }
}

/** The range of an id. migrations/0002_pets.sql explains the ranges. */
const RANGE_BITS = 15

/**
 * Pets that have a word that starts with the longest word of the text, newest first. The index finds them in one range of ids
 * after the other. The condition checks all words of the text.
 *
 * PostgreSQL reads no more ranges than the page needs. Ids can have gaps of any size, so the next range is that of the next
 * older pet. Without "+ 0", PostgreSQL could read the primary key instead of the index on words.
 *
 * A range is sorted by ids alone: a common word then takes two thirds of the CPU time. Its pets are read one by one, because
 * of the limit of 1, so their order stays that of the ids.
 */
export function petsByWord(word: string, beforeId: bigint | undefined, max = EXAMINED_MAX): PetSource {
  return {
    name: 'find_matching_pets_by_word',
    pets: `with recursive ranges (number) as (
            select max(id) >> ${RANGE_BITS} from pets where id < $2
            union all
            select (select max(id) >> ${RANGE_BITS} from pets where id < number << ${RANGE_BITS})
            from ranges where number is not null
          )
          select pet.*, '' as sort_key from ranges
          cross join lateral (
            select id + 0 as found_id from pets
            where id + 0 < $2 and pet_word_keys(id, name) @@ (
                select (quote_literal(lexeme) || ':*')::tsquery
                from unnest(pet_word_keys(number << ${RANGE_BITS}, $1))
                order by length(lexeme) desc
                limit 1
              )
            order by id + 0 desc
            limit ${max}
          ) as found
          cross join lateral (select * from pets where id = found_id limit 1) as pet
          limit ${max}`,
    condition: `((select length(pet_word_keys(0, $1)) = 1)
            or pet_word_keys(id, name) @@ (replace(pet_word_keys(id, $1)::text, ' ', ':* & ') || ':*')::tsquery)`,
    values: [word, beforeId ?? INT64_MAX],
  }
}

interface ExaminedRow extends PetRow {
  isMatch: boolean
  /** The search stops here. Later pets can match too. */
  isLast: boolean
}

/**
 * Returns the pets of the source that match its condition and the filters, in its order. If the search stops early, the last
 * pet that it examined is returned even if it does not match.
 */
export async function findMatchingPets(
  db: Reader,
  { name, pets, condition = 'true', values }: PetSource,
  filters: PetFilters,
  max: number,
  include: Include = 0,
): Promise<ExaminedRow[]> {
  const isIncluding = include !== 0
  const all = [...values, ...filterValues(filters), max]
  const json = isIncluding ? jsonRowIncluding('examined', `$${all.length + 1}::int`) : JSON_ROW
  return db.read<ExaminedRow>({
    name: nameOf(name, isIncluding),
    text: `select id, sort_key as "sortKey", ${json} as json, is_match as "isMatch", is_last as "isLast"
      from (
        select *, row_number() over () = ${EXAMINED_MAX} as is_last,
          ${filterCondition(values.length)} and ${condition} as is_match
        from (${pets}) as pet
      ) as examined
      where is_match or is_last
      limit $${all.length}`,
    values: isIncluding ? [...all, include] : all,
  })
}

export async function findPetsByIds(db: Reader, ids: readonly bigint[]): Promise<VersionedPet[]> {
  return db.read<VersionedPet>({
    name: 'find_pets_by_ids',
    text: `select ${PET_COLUMNS}, version from pets where id = any($1::bigint[]) order by id desc`,
    values: [ids],
  })
}

/** Returns the pets that have one of the ids and match the filters, newest first. */
export async function findFilteredPetsByIds(
  db: Reader,
  ids: readonly bigint[],
  filters: PetFilters,
): Promise<VersionedPet[]> {
  return db.read<VersionedPet>({
    name: 'find_filtered_pets_by_ids',
    text: `select ${PET_COLUMNS}, version from pets as pet
      where id = any($1::bigint[]) and ${filterCondition(1)}
      order by id desc`,
    values: [ids, ...filterValues(filters)],
  })
}

/**
 * Bounds the work of a count, like EXAMINED_MAX that of a page. It examines one pet more, which shows whether the count is
 * exact. 20,000 pets of a search by two words would take PostgreSQL about half a second of CPU time.
 */
export const COUNTED_MAX = 10_000

export interface FoundCount {
  matching: number
  examined: number
}

/** Counts the pets of the source that match its condition and the filters. */
export async function countMatchingPets(
  db: Reader,
  { name, pets, condition = 'true', values }: PetSource,
  filters: PetFilters,
): Promise<FoundCount> {
  const [found] = await db.read<FoundCount>({
    name: name.replace('find_', 'count_'),
    text: `select count(*) filter (where ${filterCondition(values.length)} and ${condition})::int as matching,
        count(*)::int as examined
      from (${pets}) as pet`,
    values: [...values, ...filterValues(filters)],
  })
  return found as FoundCount
}

/** A pet as the text that goes into the response. */
export interface PetJson {
  json: string
  version: number
}

/** Like findFilteredPetsByIds, with what `include` asks for. */
export async function findPetJsonByIds(
  db: Reader,
  ids: readonly bigint[],
  filters: PetFilters,
  include: Include,
): Promise<PetJson[]> {
  return db.read<PetJson>({
    name: 'find_pet_json_by_ids',
    text: `select ${jsonRowIncluding('pet', '$2::int')} as json, version from pets as pet
      where id = any($1::bigint[]) and ${filterCondition(2)}
      order by id desc`,
    values: [ids, include, ...filterValues(filters)],
  })
}

/** Writes the name, category and status of a locked pet; returns its new version. */
export async function updatePet(
  tx: Tx,
  { id, name, categoryId, status }: Pet,
  actor: Actor,
): Promise<number> {
  const [row] = await tx.write<{ version: number }>({
    name: 'update_pet',
    bounded: 'by unique keys',
    text: `update pets set name = $2, category_id = $3, status = $4, version = version + 1
      from ${actorFrom(5)}
      where id = $1 returning version`,
    values: [id, name, categoryId, status, ...actorValues(actor)],
  })
  return (row as { version: number }).version
}

/** Deletes the pet and its history. Fails with a foreign key violation if the pet has orders. */
export async function deletePet(tx: Tx, id: bigint, actor: Actor): Promise<void> {
  await tx.write({
    name: 'delete_pet',
    bounded: 'by unique keys',
    text: `delete from pets using ${actorFrom(2)} where id = $1`,
    values: [id, ...actorValues(actor)],
  })
}

/** The values of the columns of a new pet. The profile has parameters of its own. */
function petValues(pets: readonly PetToInsert[]): unknown[] {
  return [
    pets.map((pet) => pet.name),
    pets.map((pet) => pet.categoryId),
    pets.map((pet) => pet.status),
    pets.map((pet) => pet.createdBy ?? null),
    pets.map((pet) => pet.requestId ?? null),
  ]
}

/** Inserts pets without a profile in one statement; returns their ids in the order of the input. */
export async function insertPets(db: Writer, pets: readonly PetToInsert[]): Promise<bigint[]> {
  // The ids are generated first, because `insert … returning` does not show which input row an id belongs to.
  const rows = await db.write<{ id: bigint }>({
    name: 'insert_pets',
    bounded: 'by the given rows',
    text: `with input as materialized (
        select nextval('pets_id_seq') as id, position, name, category_id, status, created_by, request_id
        from unnest($1::text[], $2::bigint[], $3::pet_status[], $4::bigint[], $5::text[])
          with ordinality as input (name, category_id, status, created_by, request_id, position)
      ), inserted as (
        insert into pets (id, name, category_id, status, created_by, request_id)
        select id, name, category_id, status, created_by, request_id from input
      )
      select id from input order by position`,
    values: petValues(pets),
  })
  return rows.map((row) => row.id)
}

/**
 * Like insertPets, for pets of which some have a profile. Undefined for a pet whose reference another one has, which may be an
 * earlier one of the input: that pet is not inserted. If another transaction inserts the same reference at the same time, the
 * statement fails, and finds that pet in the next attempt (new-pets.ts).
 *
 * The events of the profiles must follow those of the pets, so `profiles` first reads all of `inserted`. The trigger takes
 * their actors from the pets, which can be of several callers. Two statements insert the same references in the same order,
 * so that they cannot deadlock.
 */
export async function insertPetsWithProfiles(
  db: Writer,
  pets: readonly PetToInsert[],
): Promise<(bigint | undefined)[]> {
  const rows = await db.write<{ id: bigint; position: number }>({
    name: 'insert_pets_with_profiles',
    bounded: 'by the given rows',
    text: `with given as (
        select *, row_number() over (partition by fields ->> 'reference' order by position) = 1 as is_first
        from unnest($1::text[], $2::bigint[], $3::pet_status[], $4::bigint[], $5::text[], $6::jsonb[], $7::jsonb[])
          with ordinality as given (name, category_id, status, created_by, request_id, fields, shown, position)
      ), input as materialized (
        select nextval('pets_id_seq') as id, position, name, category_id, status, created_by, request_id, fields, shown
        from given
        where fields ->> 'reference' is null
          or is_first and (select pet_id from pet_profiles where reference = fields ->> 'reference') is null
      ), inserted as (
        insert into pets (id, name, category_id, status, created_by, request_id)
        select id, name, category_id, status, created_by, request_id from input
        returning id
      ), profiles as (
        insert into pet_profiles (pet_id, ${WRITTEN_COLUMNS})
        select input.id, ${WRITTEN_COLUMNS} from (select count(*) from inserted) as done
        cross join input cross join jsonb_populate_record(null::pet_profiles, fields)
        where fields is not null
        order by reference
        returning pet_id
      ), history as (
        ${historyInsert(
          `select pet_id, 'updated', null, null, created_by, request_id, now(), shown
          from profiles join input on input.id = pet_id`,
          ', at, to_profile',
        )}
      )
      select id, position::int from input`,
    values: [
      ...petValues(pets),
      pets.map(({ profile }) => (profile === undefined ? null : writtenValues(profile))),
      pets.map(({ profile }) => (profile === undefined ? null : JSON.stringify(profile))),
    ],
  })
  const ids = new Map(rows.map(({ position, id }) => [position, id]))
  return pets.map((_pet, index) => ids.get(index + 1))
}
