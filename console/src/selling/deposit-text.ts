// The deposit that an order holds.
import type { Order } from '@petstore/client'
import { priceText } from '../profile/price.ts'

/** Such as "deposit €20.00". Undefined without one. */
export function depositText({ deposit, currency }: Order): string | undefined {
  const amount = priceText({ price: deposit, currency })
  return amount && `deposit ${amount}`
}
