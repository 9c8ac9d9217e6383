// Reads what the service has written into the page about the shop, before anything is drawn.
import { currentShop, setShop } from './shop.ts'

export function readPage(): void {
  const page = document.querySelector<HTMLMetaElement>('meta[name="petstore-shop"]')
  const { currency, timeZone } = currentShop()
  setShop({
    currency: {
      code: page?.content ?? currency.code,
      decimals: Number(page?.dataset['decimals'] ?? currency.decimals),
    },
    timeZone: page?.dataset['timeZone'] ?? timeZone,
  })
}
