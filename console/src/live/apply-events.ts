// Applies events to the cache of the pages. Events are collected for a moment and applied together, so that an import of
// thousands of pets does not render the page thousands of times.
import type { Order, Page, Pet, StoreEvent } from '@petstore/client'
import type { InfiniteData, QueryClient } from '@tanstack/react-query'
import { KEYS } from '../query-keys.ts'
import { applyToHolds, type OpenHolds } from '../selling/open-holds.ts'
import { applyToPages, type ListFilters } from './list-pages.ts'

const COLLECTED_FOR_MS = 100
/** More events than this at once are not applied one by one. The lists are read again instead. */
const APPLIED_MAX = 200
/** Figures and counts are read again at most this often. */
const FIGURES_EVERY_MS = 1_000
/** Longer than a read takes. */
const KEPT_FOR_MS = 20_000

export interface EventApplier {
  add: (event: StoreEvent) => void
  stop: () => void
}

/** `onChanged` gets the ids of the pets that have just changed. */
export function eventApplier(cache: QueryClient, onChanged: (petIds: string[]) => void): EventApplier {
  let collected: StoreEvent[] = []
  let recent: { event: StoreEvent; at: number }[] = []
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
    const now = Date.now()
    recent = [...recent, ...events.map((event) => ({ event, at: now }))]
      .filter(({ at }) => at > now - KEPT_FOR_MS)
      .slice(-APPLIED_MAX)
    for (const event of events) applyEvent(cache, event)
    onChanged(events.map(({ petId }) => petId))
    figuresTimer ??= setTimeout(() => {
      figuresTimer = undefined
      for (const queryKey of [KEYS.inventory, KEYS.figures, KEYS.categories])
        void cache.invalidateQueries({ queryKey })
    }, FIGURES_EVERY_MS)
  }

  // The result of a read replaces the changes that were applied while the read was in flight. Apply them again.
  const unsubscribe = cache.getQueryCache().subscribe((change) => {
    if (change.type !== 'updated' || change.action.type !== 'success' || change.action.manual === true) return
    if (recent.length === 0) return
    const { queryKey } = change.query
    if (queryKey[0] === KEYS.petLists[0]) for (const { event } of recent) applyToList(cache, queryKey, event)
    if (queryKey[0] === KEYS.openHolds[0] || queryKey[0] === KEYS.openOrders[0])
      for (const { event } of recent) if (event.order !== undefined) applyToOrders(cache, event.order)
  })

  return {
    add: (event) => {
      collected.push(event)
      timer ??= setTimeout(apply, COLLECTED_FOR_MS)
    },
    stop: () => {
      unsubscribe()
      clearTimeout(timer)
      clearTimeout(figuresTimer)
    },
  }
}

function applyEvent(cache: QueryClient, event: StoreEvent): void {
  for (const [queryKey] of cache.getQueriesData({ queryKey: KEYS.petLists })) {
    const { name } = queryKey[1] as ListFilters
    if (name !== undefined) void cache.invalidateQueries({ queryKey, exact: true })
    applyToList(cache, queryKey, event)
  }
  if (event.pet !== undefined) applyToHeldPets(cache, event.pet)
  // The cached pet has an ETag, which the event does not contain.
  void cache.invalidateQueries({ queryKey: KEYS.pet(event.petId) })
  if (event.order !== undefined) applyOrder(cache, event.order)
}

/** Shows a change that this tab has made, before its event arrives. */
export function applyPet(cache: QueryClient, pet: Pet): void {
  const change = { position: '', occurredAt: '', petId: pet.id, pet, changed: [] }
  applyEvent(cache, { type: 'pet.updated', ...change })
}

export function applyOrder(cache: QueryClient, order: Order): void {
  const isOpenHolds = (queryKey: readonly unknown[]) => queryKey[1] === KEYS.openHolds[1]
  void cache.invalidateQueries({
    queryKey: KEYS.orders,
    predicate: ({ queryKey }) => !isOpenHolds(queryKey),
  })
  applyToOrders(cache, order)
}

function applyToList(cache: QueryClient, queryKey: readonly unknown[], event: StoreEvent): void {
  cache.setQueryData<InfiniteData<Page<Pet>>>(queryKey, (data) => {
    if (data === undefined) return undefined
    const pages = applyToPages(data.pages, queryKey[1] as ListFilters, event)
    return pages === data.pages ? data : { ...data, pages }
  })
}

function applyToOrders(cache: QueryClient, order: Order): void {
  cache.setQueryData<OpenHolds>(KEYS.openHolds, (holds) => holds && applyToHolds(holds, order))
  cache.setQueryData<Order | null>(KEYS.openOrder(order.petId), (current) => {
    if (current === undefined || order.status === 'open') return current === undefined ? undefined : order
    return current?.id === order.id ? null : current
  })
}

function applyToHeldPets(cache: QueryClient, pet: Pet): void {
  cache.setQueriesData<Record<string, Pet>>({ queryKey: KEYS.heldPetLists }, (pets) =>
    pets?.[pet.id] === undefined ? pets : { ...pets, [pet.id]: pet },
  )
}
