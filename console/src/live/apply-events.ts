// Applies events to the cache of the pages. Events are collected for a moment and applied together, so that an import of
// thousands of pets does not render the page thousands of times.
import type { Order, Page, Pet, StoreEvent } from '@petstore/client'
import type { InfiniteData, QueryClient } from '@tanstack/react-query'
import { KEYS } from '../query-keys.ts'
import { applyToPages, type ListFilters } from './list-pages.ts'

const COLLECTED_FOR_MS = 100
/** More events than this at once are not applied one by one. The lists are read again instead. */
const APPLIED_MAX = 200
/** Figures and counts are read again at most this often. */
const FIGURES_EVERY_MS = 1_000

export interface EventApplier {
  add: (event: StoreEvent) => void
  stop: () => void
}

/** `onChanged` gets the ids of the pets that have just changed. */
export function eventApplier(cache: QueryClient, onChanged: (petIds: string[]) => void): EventApplier {
  let collected: StoreEvent[] = []
  let timer: ReturnType<typeof setTimeout> | undefined
  let figuresTimer: ReturnType<typeof setTimeout> | undefined

  function apply(): void {
    timer = undefined
    const events = collected
    collected = []
    if (events.length > APPLIED_MAX) {
      void cache.invalidateQueries()
      return
    }
    for (const event of events) applyEvent(cache, event)
    onChanged(events.map(({ petId }) => petId))
    figuresTimer ??= setTimeout(() => {
      figuresTimer = undefined
      for (const queryKey of [KEYS.inventory, KEYS.figures, KEYS.categories])
        void cache.invalidateQueries({ queryKey })
    }, FIGURES_EVERY_MS)
  }

  return {
    add: (event) => {
      collected.push(event)
      timer ??= setTimeout(apply, COLLECTED_FOR_MS)
    },
    stop: () => {
      clearTimeout(timer)
      clearTimeout(figuresTimer)
    },
  }
}

function applyEvent(cache: QueryClient, event: StoreEvent): void {
  for (const [queryKey] of cache.getQueriesData({ queryKey: KEYS.petLists })) {
    const filters = queryKey[1] as ListFilters
    if (filters.name !== undefined) void cache.invalidateQueries({ queryKey, exact: true })
    cache.setQueryData<InfiniteData<Page<Pet>>>(queryKey, (data) => {
      if (data === undefined) return undefined
      const pages = applyToPages(data.pages, filters, event)
      return pages === data.pages ? data : { ...data, pages }
    })
  }
  // The cached pet has an ETag, which the event does not contain.
  void cache.invalidateQueries({ queryKey: KEYS.pet(event.petId) })
  if (event.order !== undefined) applyOrder(cache, event.order)
}

function applyOrder(cache: QueryClient, order: Order): void {
  void cache.invalidateQueries({ queryKey: KEYS.orders })
  cache.setQueryData<Order | null>(KEYS.openOrder(order.petId), order.status === 'open' ? order : null)
}
