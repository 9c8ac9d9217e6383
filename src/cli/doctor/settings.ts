// The check `settings`: whether variables differ from the stored settings, and pets that are not sold have prices in another
// currency than that of the shop.
import type { Config } from '../../config/config.ts'
import type { Reader } from '../../db/database.ts'
import { describeOtherVariables } from '../../store/settings/initial-settings.ts'
import { canReadSettings, findSettings } from '../../store/settings/queries.ts'
import { findOtherCurrencies } from '../../store/profiles/other-currencies.ts'
import type { Finding } from './finding.ts'

const check = 'settings'

export async function checkSettings(db: Reader, config: Config): Promise<Finding[]> {
  if (!(await canReadSettings(db))) return []
  const stored = await findSettings(db)
  const { currency, timeZone } = stored
  const findings = describeOtherVariables(stored, config)
  const others = await findOtherCurrencies(db, currency)
  if (others.length > 0) {
    const prices = others.map((other) => `${other.currency} (such as pet ${other.petId})`).join(', ')
    findings.push({
      message: `the currency of the shop is ${currency}, but pets have prices in ${prices}`,
      remedy:
        'Set a new price for each of these pets, with its currency: their prices stay as they are until then.',
    })
  }
  if (findings.length === 0) {
    return [{ check, state: 'ok', message: `prices are in ${currency}, and days begin in ${timeZone}` }]
  }
  return findings.map((finding) => ({ check, state: 'warning', ...finding }))
}
