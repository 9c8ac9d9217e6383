// What an administrator has entered and not saved, and what another one has saved meanwhile.
import type { VersionedSettings } from '@petstore/client'

export type Values = Pick<
  VersionedSettings,
  'name' | 'address' | 'receiptText' | 'isTaxInvoice' | 'currency' | 'timeZone'
>
export type Name = keyof Values

/** The values that a person is changing, and the settings from which the change started. */
export interface Draft {
  base: VersionedSettings
  values: Values
}

/** In the order of the page. */
const LABELS: Record<Name, string> = {
  name: 'Name',
  address: 'Address',
  receiptText: 'Text of the receipt',
  isTaxInvoice: 'Tax invoice',
  currency: 'Currency',
  timeZone: 'Time zone',
}
const NAMES = Object.keys(LABELS) as Name[]

export function valuesOf(settings: Values): Values {
  return Object.fromEntries(NAMES.map((name) => [name, settings[name]])) as unknown as Values
}

export function changedNames(before: Values, after: Values): Name[] {
  return NAMES.filter((name) => before[name] !== after[name])
}

/** Only what differs, so that a change of another setting is never undone. */
export function changeOf({ base, values }: Draft): Partial<Values> {
  return Object.fromEntries(changedNames(base, values).map((name) => [name, values[name]]))
}

/** Undefined if nothing differs from the settings any more. */
export function edited(
  settings: VersionedSettings,
  draft: Draft | undefined,
  change: Partial<Values>,
): Draft | undefined {
  const { base, values } = draft ?? { base: settings, values: valuesOf(settings) }
  const next = { base, values: { ...values, ...change } }
  return changedNames(base, next.values).length === 0 ? undefined : next
}

/** The same change of the settings as they are now. */
export function rebased(draft: Draft, settings: VersionedSettings): Draft | undefined {
  return edited(settings, undefined, changeOf(draft))
}

/** What another person has saved since the draft started. */
export function savedByOthers({ base }: Draft, settings: VersionedSettings): Name[] {
  return base.etag === settings.etag ? [] : changedNames(base, settings)
}

/** Such as "Name, Address and Text of the receipt". */
export function labelsText(names: Name[]): string {
  const labels = names.map((name) => LABELS[name])
  return [labels.slice(0, -1).join(', '), labels.at(-1)].filter(Boolean).join(' and ')
}
