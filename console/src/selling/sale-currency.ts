// The currency of a sale: usually that of the shop, which can have changed since.
import type { Order } from '@petstore/client'
import { type ShopCurrency, shopCurrency } from '../shop/shop.ts'

export function currencyOfSale({ currency, netPrice, deposit }: Order): ShopCurrency {
  if (currency === undefined || currency === shopCurrency().code) return shopCurrency()
  const amount = netPrice ?? deposit ?? ''
  return { code: currency, decimals: amount.split('.')[1]?.length ?? 0 }
}
