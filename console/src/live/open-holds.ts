// The open holds that a page has read, the one that ends first at the top.
import type { Order } from '@petstore/client'

export interface OpenHolds {
  orders: Order[]
  /** True if the shop has more open holds than the page reads. */
  hasMore: boolean
}

function byTimeLeft(one: Order, other: Order): number {
  return Date.parse(one.expiresAt) - Date.parse(other.expiresAt)
}

/** Adds, replaces or removes the order. Returns the same object if nothing changes. */
export function applyToHolds(holds: OpenHolds, order: Order): OpenHolds {
  const others = holds.orders.filter(({ id }) => id !== order.id)
  if (order.status === 'open') return { ...holds, orders: [...others, order].sort(byTimeLeft) }
  return others.length === holds.orders.length ? holds : { ...holds, orders: others }
}
