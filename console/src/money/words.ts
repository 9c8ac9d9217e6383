// The words for how money moves, and why.
import type { Entry } from '@petstore/client'

export type Method = NonNullable<Entry['method']>
export type Reason = NonNullable<Entry['reason']>

export const METHODS: Method[] = ['cash', 'card', 'transfer', 'other']
export const REASONS: Reason[] = ['changed_mind', 'ill', 'wrong_price', 'discount', 'other']

const METHOD_TEXTS: Record<Method, string> = {
  cash: 'Cash',
  card: 'Card',
  transfer: 'Transfer',
  other: 'Other',
}
/** After an amount. */
const BY_TEXTS: Record<Method, string> = {
  cash: 'in cash',
  card: 'by card',
  transfer: 'by transfer',
  other: 'in another way',
}
const REASON_TEXTS: Record<Reason, string> = {
  changed_mind: 'Changed mind',
  ill: 'Ill',
  wrong_price: 'Wrong price',
  discount: 'Discount',
  other: 'Other',
}

export function methodText(method: Method): string {
  return METHOD_TEXTS[method]
}

/** Such as "by card"; empty if no request said how. */
export function byText(method: Method | undefined): string {
  return method === undefined ? '' : BY_TEXTS[method]
}

export function reasonText(reason: Reason): string {
  return REASON_TEXTS[reason]
}
