// When and to whom a pet was sold.
import type { Order } from '@petstore/client'
import { dateTimeText } from '../layout/dates.ts'

/** Such as "Sold on 14 Nov 2026, 16:12 to Ms Okafor". */
export function soldText({ closedAt = '', note }: Order): string {
  return `Sold on ${dateTimeText(closedAt)}${note === undefined ? '' : ` to ${note}`}`
}
