// Settings of the shop for an application that must not have the stored ones.
import type { CurrentSettings } from '../../src/store/settings/current-settings.ts'

/** As if another process had changed the currency, or not seen its change yet. */
export const shopIn = (currency: string, timeZone = 'Europe/Berlin'): CurrentSettings => ({
  currency: () => currency,
  shop: async () => ({ currency, timeZone }),
  forget: () => {},
})
