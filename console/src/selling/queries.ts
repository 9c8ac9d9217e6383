// What the pages about holds and sales read.
import type { Order, Pet, Petstore } from '@petstore/client'
import { LIST_ORDERS } from '@petstore/client/rules'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { KEYS } from '../session/query-keys.ts'
import { useScopes, useStore } from '../session/session.ts'
import type { OpenHolds } from '../live/open-holds.ts'
import { readOpenOrder } from './read-open-order.ts'

/** A page of holds that is longer than this helps nobody. */
export const HOLDS_MAX = 200
/** The max of the service for one request. */
const PAGE_SIZE = LIST_ORDERS.limit.maximum

/** The order that holds a pet, or null. */
export function openOrderQuery(store: Petstore, petId: string) {
  return queryOptions({
    queryKey: KEYS.openOrder(petId),
    queryFn: ({ signal }) => readOpenOrder(store, petId, signal),
  })
}

/** The last sale of a pet, or null if no order of it was completed. */
export function saleQuery(store: Petstore, petId: string) {
  return queryOptions({
    queryKey: KEYS.sale(petId),
    queryFn: async ({ signal }) => {
      const { items } = await store.orders.list({ petId, status: 'completed', limit: 1 }, { signal }).page()
      return items[0] ?? null
    },
  })
}

export function openHoldsQuery(store: Petstore) {
  return queryOptions({
    queryKey: KEYS.openHolds,
    queryFn: ({ signal }) => readOpenHolds(store, signal),
  })
}

/** Reads the holds that end first. */
async function readOpenHolds(store: Petstore, signal: AbortSignal): Promise<OpenHolds> {
  const orders: Order[] = []
  const query = { status: 'open', sort: 'expiresAt', limit: PAGE_SIZE } as const
  for await (const order of store.orders.list(query, { signal })) {
    if (orders.length === HOLDS_MAX) return { orders, hasMore: true }
    orders.push(order)
  }
  return { orders, hasMore: false }
}

export interface FoundOrder {
  order: Order | undefined
  isLoading: boolean
}

/**
 * The open order of a pet in a list. All rows share one request for the open holds. Only in a shop with more holds than
 * that request returns, a row reads its own order.
 */
export function useOpenOrder({ id, status }: Pet): FoundOrder {
  const store = useStore()
  const isWanted = useScopes().has('orders:read') && status === 'pending'
  const { data: shared, isLoading } = useQuery({
    ...openHoldsQuery(store),
    enabled: isWanted,
    select: ({ orders, hasMore }) => ({ order: orders.find(({ petId }) => petId === id), hasMore }),
  })
  const isUnknown = shared !== undefined && shared.order === undefined && shared.hasMore
  const own = useQuery({ ...openOrderQuery(store, id), enabled: isWanted && isUnknown })
  return { order: shared?.order ?? own.data ?? undefined, isLoading: isLoading || own.isLoading }
}
