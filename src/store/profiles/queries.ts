// SQL statements on pet_profiles. Imports and exports have their own statements.
import type { Actor } from '../../contract/actor.ts'
import { LIST_LIMIT_MAX } from '../../contract/paging.ts'
import type { Sex } from '../../contract/profile-fields.ts'
import { actorFrom, actorValues } from '../../db/actor-settings.ts'
import type { Reader, Tx } from '../../db/database.ts'
import { INT64_MAX } from '../../values/int64.ts'
import type { PetProfile, VersionedProfile } from './schema.ts'

/** The text of a `numeric` has the decimal places with which it was stored. */
export const PROFILE_COLUMNS = `price::text, currency, breed, sex, to_char(born_on, 'YYYY-MM-DD') as "bornOn", chip_number as "chipNumber",
  description`

interface ProfileRow {
  petId: bigint
  price: string | null
  currency: string | null
  breed: string | null
  sex: Sex | null
  bornOn: string | null
  chipNumber: string | null
  description: string | null
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
    text: `insert into pet_profiles (pet_id, price, currency, breed, sex, born_on, chip_number, description)
      select $1::bigint, $2::numeric, $3, $4, $5, $6::date, $7, $8 from ${actorFrom(9)}
      on conflict (pet_id) do update set version = pet_profiles.version + 1, price = excluded.price,
        currency = excluded.currency, breed = excluded.breed, sex = excluded.sex, born_on = excluded.born_on,
        chip_number = excluded.chip_number, description = excluded.description
      returning version`,
    values: [
      profile.petId,
      profile.price ?? null,
      profile.currency ?? null,
      profile.breed ?? null,
      profile.sex ?? null,
      profile.bornOn ?? null,
      profile.chipNumber ?? null,
      profile.description ?? null,
      ...actorValues(actor),
    ],
  })
  return (row as { version: number }).version
}

function toProfile(row: ProfileRow): PetProfile {
  return {
    petId: row.petId,
    price: row.price ?? undefined,
    currency: row.currency ?? undefined,
    breed: row.breed ?? undefined,
    sex: row.sex ?? undefined,
    bornOn: row.bornOn ?? undefined,
    chipNumber: row.chipNumber ?? undefined,
    description: row.description ?? undefined,
  }
}
