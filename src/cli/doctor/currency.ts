// The check `currency`: whether pets that are not sold have prices in another currency than CURRENCY.
import type { Reader } from '../../db/database.ts'
import {
  canReadCurrencies,
  describeOtherCurrencies,
  findOtherCurrencies,
} from '../../store/profiles/other-currencies.ts'
import type { Finding } from './finding.ts'

const check = 'currency'

export async function checkCurrency(db: Reader, currency: string): Promise<Finding[]> {
  if (!(await canReadCurrencies(db))) return []
  const others = await findOtherCurrencies(db, currency)
  if (others.length === 0) return [{ check, state: 'ok', message: `prices are in ${currency}` }]
  return [{ check, state: 'warning', ...describeOtherCurrencies(others, currency) }]
}
