// What the overview reads.
import {
  type Figures,
  type GetFiguresQuery,
  type Order,
  type Petstore,
  PetstoreError,
} from '@petstore/client'
import { GET_FIGURES } from '@petstore/client/rules'
import { queryOptions } from '@tanstack/react-query'
import { refreshEvery } from '../session/query-client.ts'
import { KEYS } from '../session/query-keys.ts'

const DAYS = 30
const NEXT_HOLDS = 5
/** A page that stays open shows the new day after midnight. */
const FIGURES_EVERY_MS = 600_000

export interface NextHold {
  order: Order
  /** Undefined if the pet was deleted in the meantime. */
  petName: string | undefined
}

/** The figures of the last days, or of as many as the service has. */
export function figuresQuery(store: Petstore, wantedDays = DAYS) {
  const timeZone = Intl.DateTimeFormat().resolvedOptions().timeZone
  const days = Math.min(wantedDays, GET_FIGURES.days.maximum)
  return queryOptions({
    queryKey: [...KEYS.figures, days, timeZone],
    queryFn: ({ signal }) => readFigures(store, { days, timeZone }, signal),
    refetchInterval: refreshEvery(FIGURES_EVERY_MS),
  })
}

/** Days in the time zone of the browser, or in UTC if the service does not know that time zone. */
async function readFigures(store: Petstore, query: GetFiguresQuery, signal: AbortSignal): Promise<Figures> {
  try {
    return await store.figures(query, { signal })
  } catch (error) {
    const isUnknown =
      error instanceof PetstoreError && error.details.some(({ field }) => field === 'timeZone')
    if (!isUnknown) throw error
    return store.figures({ ...query, timeZone: 'UTC' }, { signal })
  }
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
