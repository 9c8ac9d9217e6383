// What keeps the currency and the time zone from changing, in words.
import { countOf } from '../../values/count-text.ts'
import type { OpenMoney } from './schema.ts'

/** Such as "1 hold, 2 open days"; undefined if nothing is open. */
export function describeOpenMoney({ holds, deposits, days }: OpenMoney): string | undefined {
  const open = [
    { count: holds, noun: 'hold' },
    { count: deposits, noun: 'held deposit' },
    { count: days, noun: 'open day' },
  ].filter(({ count }) => count > 0)
  return open.length === 0 ? undefined : open.map(({ count, noun }) => countOf(count, noun)).join(', ')
}
