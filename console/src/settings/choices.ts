// The currencies and time zones from which an administrator chooses. The service says if it does not know one of them.

const CURRENCY_NAMES = new Intl.DisplayNames('en', { type: 'currency' })

export interface Choice {
  value: string
  label: string
}

/** By name. `own` is that of the shop, which the browser may not know. */
export function currencies(own: string): Choice[] {
  const codes = new Set([own, ...Intl.supportedValuesOf('currency')])
  return [...codes]
    .map((value) => ({ value, label: currencyText(value) }))
    .toSorted((one, other) => one.label.localeCompare(other.label, 'en'))
}

export function timeZones(own: string): Choice[] {
  const names = new Set([own, 'UTC', ...Intl.supportedValuesOf('timeZone')])
  return [...names].toSorted().map((value) => ({ value, label: timeZoneText(value) }))
}

/** Such as "Euro, EUR". */
export function currencyText(code: string): string {
  const name = CURRENCY_NAMES.of(code)
  return name === undefined || name === code ? code : `${name}, ${code}`
}

/** Such as "America/New York". */
export function timeZoneText(name: string): string {
  return name.replaceAll('_', ' ')
}
