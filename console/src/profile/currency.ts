// The currency of new prices. The service writes its setting into the page.

interface Currency {
  code: string
  /** The decimal places of an amount. Those of `Intl` are others for some currencies. */
  decimals: number
}

export const CURRENCY = readCurrency()

function readCurrency(): Currency {
  const setting = document.querySelector<HTMLMetaElement>('meta[name="petstore-currency"]')
  return { code: setting?.content ?? 'EUR', decimals: Number(setting?.dataset['decimals'] ?? 2) }
}
