// The currency and the time zone of the shop, in which all pages show amounts and times. The service writes them into the page
// (read-page.ts), and shell/use-followed-shop.ts follows later changes. All pages are drawn again after a change, so the functions that
// write amounts and times read them here.

/** The currency of new prices. */
export interface ShopCurrency {
  code: string
  /** The decimal places of an amount. Those of `Intl` are others for some currencies. */
  decimals: number
}

export interface Shop {
  currency: ShopCurrency
  timeZone: string
}

/** Functions that are tested without a page get the time zone of the host. */
let shop: Shop = {
  currency: { code: 'EUR', decimals: 2 },
  timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
}
const listeners = new Set<() => void>()

export function currentShop(): Shop {
  return shop
}

export function shopCurrency(): ShopCurrency {
  return shop.currency
}

export function shopTimeZone(): string {
  return shop.timeZone
}

/** Returns whether something has changed. */
export function setShop({ currency, timeZone }: Shop): boolean {
  const isSame =
    currency.code === shop.currency.code &&
    currency.decimals === shop.currency.decimals &&
    timeZone === shop.timeZone
  if (isSame) return false
  shop = { currency, timeZone }
  for (const listener of listeners) listener()
  return true
}

export function onShopChange(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
