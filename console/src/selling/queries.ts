// What the pages about holds and sales read.
import type { Order, Pet, Petstore } from '@petstore/client'
import { LIST_ORDERS } from '@petstore/client/rules'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { signOf, subtract } from '../money/amounts.ts'
import { type Amount } from '../profile/price.ts'
import { KEYS } from '../session/query-keys.ts'
import { useScopes, useStore } from '../session/session.ts'
import type { OpenHolds } from '../live/open-holds.ts'
import { readOpenOrder } from './read-open-order.ts'

/** A page of holds that is longer than this helps nobody. */
export const HOLDS_MAX = 200
/** The max of the service for one request. */
const PAGE_SIZE = LIST_ORDERS.limit.maximum

/** Deposits are searched in this many orders. */
const ORDERS_MAX = 2_000

/** The order that holds a pet, or null. */
export function openOrderQuery(store: Petstore, petId: string) {
  return queryOptions({
    queryKey: KEYS.openOrder(petId),
    queryFn: ({ signal }) => readOpenOrder(store, petId, signal),
  })
}

/** The sale of a sold pet, or null if its status was only set to sold. */
export function saleQuery(store: Petstore, petId: string) {
  return queryOptions({
    queryKey: KEYS.sale(petId),
    queryFn: async ({ signal }) => {
      const { items } = await store.orders.list({ petId, status: 'completed', limit: 1 }, { signal }).page()
      const [last] = items
      return last === undefined || last.broughtBackAt !== undefined ? null : last
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

export interface HeldDeposits {
  /** Orders that have ended and hold a deposit, the newest first. */
  orders: Order[]
  /** The deposits that were not found among the newest orders. */
  missing: Amount[]
}

export function depositsQuery(store: Petstore) {
  return queryOptions({ queryKey: KEYS.deposits, queryFn: ({ signal }) => readDeposits(store, signal) })
}

/** The totals say how much is held. Reads orders, the newest first, until it has found all of it. */
async function readDeposits(store: Petstore, signal: AbortSignal): Promise<HeldDeposits> {
  let { deposits: missing } = await store.till.totals({}, { signal })
  const found: Order[] = []
  let read = 0
  const isFound = () => missing.every(({ amount }) => signOf(amount) <= 0)
  if (isFound()) return { orders: [], missing: [] }
  for await (const order of store.orders.list({ limit: PAGE_SIZE }, { signal })) {
    if (order.deposit !== undefined) {
      missing = withoutDeposit(missing, order)
      if (order.status !== 'open') found.push(order)
    }
    read += 1
    if (isFound() || read === ORDERS_MAX) break
  }
  return { orders: found, missing: missing.filter(({ amount }) => signOf(amount) > 0) }
}

function withoutDeposit(amounts: Amount[], { deposit = '0', currency }: Order): Amount[] {
  return amounts.map((one) =>
    one.currency === currency ? { ...one, amount: subtract(one.amount, deposit) } : one,
  )
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
