// What the overview reads.
import type { Figures, Order, Petstore } from '@petstore/client'
import { queryOptions } from '@tanstack/react-query'
import { addDays } from '../layout/dates.ts'
import type { Amount } from '../profile/price.ts'
import { refreshEvery } from '../session/query-client.ts'
import { KEYS } from '../session/query-keys.ts'
import { shopTimeZone } from '../shop/shop.ts'
import { salesOf } from '../till/day-totals.ts'
import { type OverviewDay, salesOfDay } from './overview-days.ts'

const DAYS = 30
const NEXT_HOLDS = 5
/** A page that stays open shows the new day after midnight. */
const FIGURES_EVERY_MS = 600_000

export interface NextHold {
  order: Order
  /** Undefined if the pet was deleted in the meantime. */
  petName: string | undefined
}

export interface OverviewFigures extends Pick<Figures, 'countedSince' | 'timeZone'> {
  days: OverviewDay[]
  /** The net sales of all these days. */
  sales: Amount[]
}

/** The figures of the last days, or of as many as the service has. What was sold comes from the ledger if the key can read it. */
export function figuresQuery(store: Petstore, canReadOrders: boolean) {
  return queryOptions({
    queryKey: [...KEYS.figures, canReadOrders],
    queryFn: ({ signal }) => (canReadOrders ? readWithSales(store, signal) : readFigures(store, signal)),
    refetchInterval: refreshEvery(FIGURES_EVERY_MS),
  })
}

/** The days of the shop, with net sales. */
async function readWithSales(store: Petstore, signal: AbortSignal): Promise<OverviewFigures> {
  const { today, timeZone } = await store.till.totals({}, { signal })
  const from = addDays(today, 1 - DAYS)
  const [{ days, countedSince }, { groups = [], totals }] = await Promise.all([
    store.figures({ days: DAYS, timeZone }, { signal }),
    store.till.totals({ from, to: today, by: 'day' }, { signal }),
  ])
  return {
    timeZone,
    ...(countedSince !== undefined && { countedSince }),
    days: days.map(({ day, added }) => ({ day, added, ...salesOfDay(day, groups) })),
    sales: totals.map(salesOf),
  }
}

async function readFigures(store: Petstore, signal: AbortSignal): Promise<OverviewFigures> {
  return { ...(await store.figures({ days: DAYS, timeZone: shopTimeZone() }, { signal })), sales: [] }
}

/** The holds that end next, with the names of their pets. */
export function nextHoldsQuery(store: Petstore) {
  return queryOptions({
    queryKey: KEYS.nextHolds,
    queryFn: async ({ signal }): Promise<NextHold[]> => {
      const { items: orders } = await store.orders
        .list({ status: 'open', sort: 'expiresAt', limit: NEXT_HOLDS }, { signal })
        .page()
      const { items: pets } = await store.pets
        .list({ id: orders.map(({ petId }) => petId) }, { signal })
        .page()
      return orders.map((order) => ({ order, petName: pets.find(({ id }) => id === order.petId)?.name }))
    },
  })
}
