// Finds prices in another currency than that of the store, for the log of the service and for `petstore doctor`.
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

/** False before the first migration, and for a role that only delivers webhooks. */
export async function canReadCurrencies(db: Reader): Promise<boolean> {
  const [tables] = await db.read<{ areReadable: boolean | null }>({
    name: 'can_read_currencies',
    bounded: 'without a table',
    text: `select has_table_privilege(to_regclass('pets'), 'select')
        and has_table_privilege(to_regclass('pet_profiles'), 'select') as "areReadable"`,
    values: [],
  })
  return tables?.areReadable === true
}

/** What the operator reads: what is wrong, and what to do. */
export function describeOtherCurrencies(
  others: readonly OtherCurrency[],
  currency: string,
): { message: string; remedy: string } {
  const stored = others.map((other) => `${other.currency} (such as pet ${other.petId})`).join(', ')
  const [{ currency: former } = { currency }] = others
  return {
    message: `CURRENCY is ${currency}, but pets have prices in ${stored}`,
    remedy: `If CURRENCY is wrong, set CURRENCY=${former} and restart the service. Otherwise set a new price for each of these pets, with its currency: their prices stay as they are until then.`,
  }
}
