// Finds prices in another currency than that of the shop, for `petstore doctor`.
import type { Reader } from '../../db/database.ts'

/** Bounds the time of the check: no index has the currency. Reads this many of the newest and of the oldest profiles. */
const PROFILES_READ_MAX = 1_000

/** Prices of pets that are not sold, in another currency. */
export interface OtherCurrency {
  currency: string
  /** A pet with such a price. */
  petId: bigint
}

/**
 * After a change of the currency, all profiles have the former one, so that the newest ones are enough. The oldest ones show
 * later what is left. A sold pet keeps its price for good.
 */
export async function findOtherCurrencies(db: Reader, currency: string): Promise<OtherCurrency[]> {
  return db.read<OtherCurrency>({
    name: 'find_other_currencies',
    text: `select currency, max(pet_id) as "petId"
      from (
        (select pet_id, currency from pet_profiles order by pet_id desc limit $2)
        union
        (select pet_id, currency from pet_profiles order by pet_id limit $2)
      ) as profiles
      where currency <> $1
        and (select status from pets where pets.id = profiles.pet_id) <> 'sold'
      group by currency
      order by currency`,
    values: [currency, PROFILES_READ_MAX],
  })
}
