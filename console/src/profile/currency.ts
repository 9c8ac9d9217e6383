// The currency of new prices. The service writes its setting into the page.
import type { ShopCurrency } from './price.ts'

export const CURRENCY = readCurrency()

function readCurrency(): ShopCurrency {
  const setting = document.querySelector<HTMLMetaElement>('meta[name="petstore-currency"]')
  return { code: setting?.content ?? 'EUR', decimals: Number(setting?.dataset['decimals'] ?? 2) }
}
