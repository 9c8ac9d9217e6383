// Follows the settings of the shop: after a change by any administrator, the pages show the new currency and time zone.
import type { Settings } from '@petstore/client'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useSyncExternalStore } from 'react'
import { useNotify } from '../layout/notify.tsx'
import { useStore } from '../session/session.ts'
import { settingsQuery } from '../shop/queries.ts'
import { currentShop, onShopChange, setShop, type Shop } from '../shop/shop.ts'

/** Returns a key that changes with the currency and the time zone. Whatever has it is drawn again. */
export function useFollowedShop(): string {
  const { data: settings } = useQuery(settingsQuery(useStore()))
  const cache = useQueryClient()
  const notify = useNotify()
  const { currency, timeZone } = useSyncExternalStore(onShopChange, currentShop)
  useEffect(() => {
    if (settings === undefined || !setShop(shopOf(settings))) return
    // Totals, days and prices that were read before are those of the former settings.
    void cache.invalidateQueries()
    notify.done(`The shop has the currency ${settings.currency} and the time zone ${settings.timeZone} now.`)
  }, [settings, cache, notify])
  return `${currency.code} ${timeZone}`
}

function shopOf({ currency, currencyDecimals, timeZone }: Settings): Shop {
  return { currency: { code: currency, decimals: currencyDecimals }, timeZone }
}
