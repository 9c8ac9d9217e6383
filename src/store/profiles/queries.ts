// SQL statements on pet_profiles. Imports and exports have their own statements.
import type { Actor } from '../../contract/actor.ts'
import { LIST_LIMIT_MAX } from '../../contract/paging.ts'
import { columnOf, PROFILE_FIELD_NAMES, type ProfileFields } from '../../contract/profile-fields.ts'
import { actorFrom, actorValues } from '../../db/actor-settings.ts'
import type { Reader, Tx } from '../../db/database.ts'
import { INT64_MAX } from '../../values/int64.ts'
import type { PetProfile, VersionedProfile } from './schema.ts'

/** How the fields that are no text are read. The text of a `numeric` has the decimal places with which it was stored. */
const READ_AS: Partial<Record<keyof ProfileFields, string>> = {
  price: 'price::text',
  bornOn: `to_char(born_on, 'YYYY-MM-DD')`,
}
const readAs = (field: keyof ProfileFields) => READ_AS[field] ?? columnOf(field)

export const PROFILE_COLUMNS = PROFILE_FIELD_NAMES.map((field) => `${readAs(field)} as "${field}"`).join(', ')

/** The profile as JSON text, like that of the service: without the fields that have no value. */
export const PROFILE_JSON = `'{' || concat_ws(',', ${PROFILE_FIELD_NAMES.map(
  (field) => `'"${field}":' || to_json(${readAs(field)})::text`,
).join(', ')}) || '}'`

/** The columns that a caller writes. `jsonb_populate_record` gives them the types of the table. */
export const WRITTEN_COLUMNS = PROFILE_FIELD_NAMES.map(columnOf).join(', ')

const REPLACED_COLUMNS = PROFILE_FIELD_NAMES.map(columnOf)
  .map((column) => `${column} = excluded.${column}`)
  .join(', ')

/** The values of these columns for `jsonb_populate_record`. */
export function writtenValues(profile: ProfileFields): string {
  return JSON.stringify(
    Object.fromEntries(PROFILE_FIELD_NAMES.map((field) => [columnOf(field), profile[field]])),
  )
}

type ProfileRow = { petId: bigint } & {
  [Field in keyof ProfileFields]-?: Exclude<ProfileFields[Field], undefined> | null
}

/** Returns the profile of a pet, with version 0 if none is stored; undefined if the pet does not exist. */
export async function findPetProfile(db: Reader, petId: bigint): Promise<VersionedProfile | undefined> {
  const [row] = await db.read<ProfileRow & { version: number }>({
    name: 'find_pet_profile',
    bounded: 'by unique keys',
    text: `select pets.id as "petId", coalesce(pet_profiles.version, 0) as version, ${PROFILE_COLUMNS}
      from pets left join pet_profiles on pet_profiles.pet_id = pets.id
      where pets.id = $1`,
    values: [petId],
  })
  return row && { ...toProfile(row), version: row.version }
}

export async function findProfilesByPetIds(db: Reader, petIds: readonly bigint[]): Promise<PetProfile[]> {
  const rows = await db.read<ProfileRow>({
    name: 'find_profiles_by_pet_ids',
    bounded: 'by unique keys',
    text: `select pet_id as "petId", ${PROFILE_COLUMNS} from pet_profiles
      where pet_id = any($1::bigint[])
      order by pet_id desc`,
    values: [petIds],
  })
  return rows.map(toProfile)
}

export async function findPetIdByReference(db: Reader, reference: string): Promise<bigint | undefined> {
  const [row] = await db.read<{ petId: bigint }>({
    name: 'find_pet_id_by_reference',
    bounded: 'by unique keys',
    text: `select pet_id as "petId" from pet_profiles where reference = $1`,
    values: [reference],
  })
  return row?.petId
}

/** The row comparisons make this one range of an index, as in src/store/pets/queries.ts. */
export async function findProfilesByChipNumber(db: Reader, chipNumber: string): Promise<PetProfile[]> {
  const rows = await db.read<ProfileRow>({
    name: 'find_profiles_by_chip_number',
    text: `select pet_id as "petId", ${PROFILE_COLUMNS} from pet_profiles
      where (chip_number, pet_id) <= ($1, ${INT64_MAX}) and (chip_number, pet_id) >= ($1, 0)
      order by chip_number desc, pet_id desc
      limit ${LIST_LIMIT_MAX}`,
    values: [chipNumber],
  })
  return rows.map(toProfile)
}

/** Writes the profile of a locked pet; returns its new version. */
export async function upsertPetProfile(tx: Tx, profile: PetProfile, actor: Actor): Promise<number> {
  const [row] = await tx.write<{ version: number }>({
    name: 'upsert_pet_profile',
    bounded: 'by the given rows',
    text: `insert into pet_profiles (pet_id, ${WRITTEN_COLUMNS})
      select $1::bigint, ${WRITTEN_COLUMNS} from jsonb_populate_record(null::pet_profiles, $2::jsonb) cross join ${actorFrom(3)}
      on conflict (pet_id) do update set version = pet_profiles.version + 1, ${REPLACED_COLUMNS}
      returning version`,
    values: [profile.petId, writtenValues(profile), ...actorValues(actor)],
  })
  return (row as { version: number }).version
}

function toProfile(row: ProfileRow): PetProfile {
  const fields = PROFILE_FIELD_NAMES.map((field) => [field, row[field] ?? undefined])
  return { petId: row.petId, ...Object.fromEntries(fields) }
}
