// The sums of some days, as the till shows them. All of them are sums of the ledger, which the service adds up.
import type { Totals } from '@petstore/client'
import { counted } from '../layout/counted.ts'
import { type Amount, sumAmounts } from '../profile/price.ts'
import type { Method } from '../money/words.ts'
import { NO_METHOD, paymentText } from './entry-text.ts'

/** The totals of the same days by everything that the page shows. */
export interface TillTotals extends Omit<Totals, 'totals' | 'groups'> {
  sums: Totals['totals']
  byKind: Group[]
  byMethod: Group[]
  byCategory: Group[]
  bySeller: Group[]
}

export type Group = NonNullable<Totals['groups']>[number]

/** A line of a list of sums. */
export interface SumLine {
  label: string
  amount: Amount
}

/** More categories or sellers than this share the last line. */
const LINES_MAX = 6

const METHODS: (Method | undefined)[] = ['card', 'cash', 'transfer', 'other', undefined]

const KIND_LABELS: { kind: Group['kind']; label: (group: Group) => string }[] = [
  { kind: 'sale', label: () => 'Sold' },
  { kind: 'deposit', label: () => 'Deposits' },
  { kind: 'correction', label: () => 'Corrections' },
  {
    kind: 'refund',
    label: ({ pets }) => (pets === 0 ? 'Refunds' : `Refunds, ${counted(-pets, 'return')}`),
  },
  { kind: 'void', label: () => 'Undone' },
]

/** What came into the till and left it, by what it was for. A deposit that the shop keeps moves no money. */
export function kindLines(groups: Group[]): SumLine[] {
  return KIND_LABELS.flatMap(({ kind, label }) =>
    groups
      .filter((group) => group.kind === kind)
      .map((group) => ({ label: label(group), amount: paidOf(group) })),
  )
}

export interface MethodLine extends SumLine {
  method: Method | undefined
}

/** In a fixed order, so that each has its place and its colour. */
export function methodLines(groups: Group[]): MethodLine[] {
  return METHODS.flatMap((method) =>
    groups
      .filter((group) => group.method === method)
      .map((group) => ({
        method,
        label: paymentText(method),
        amount: paidOf(group),
      })),
  )
}

/** `nameOf` returns the name of a category. */
export function categoryLines(groups: Group[], nameOf: (categoryId: string) => string): SumLine[] {
  return largestFirst(groups, ({ categoryId = '' }) => nameOf(categoryId))
}

export function sellerLines(groups: Group[]): SumLine[] {
  return largestFirst(groups, ({ seller }) => seller ?? NO_METHOD)
}

function largestFirst(groups: Group[], labelOf: (group: Group) => string): SumLine[] {
  const lines = groups
    // Only the order of the lines depends on the number.
    .toSorted((a, b) => Number(b.paid) - Number(a.paid))
    .map((group) => ({ label: labelOf(group), amount: paidOf(group) }))
  if (lines.length <= LINES_MAX) return lines
  const others = lines.slice(LINES_MAX - 1)
  const label = `${others.length} others`
  return [
    ...lines.slice(0, LINES_MAX - 1),
    ...sumAmounts(others.map(({ amount }) => amount)).map((amount) => ({ label, amount })),
  ]
}

/** How long each part of the bar is. Undefined if the parts are no shares of one amount. */
export function shares(lines: SumLine[]): number[] | undefined {
  const numbers = lines.map(({ amount }) => Number(amount.amount))
  const currencies = new Set(lines.map(({ amount }) => amount.currency))
  return currencies.size === 1 &&
    numbers.every((number) => number >= 0) &&
    numbers.some((number) => number > 0)
    ? numbers
    : undefined
}

export function paidOf({ currency, paid }: Group | Totals['totals'][number]): Amount {
  return { currency, amount: paid }
}

export function salesOf({ currency, sales }: Group | Totals['totals'][number]): Amount {
  return { currency, amount: sales }
}
