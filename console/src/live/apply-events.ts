// Applies events to the cache of the pages. Events are collected for a moment and applied together, so that an import of
// thousands of pets does not render the page thousands of times.
import type { Order, Page, Pet, PetProfile, StoreEvent, VersionedPet } from '@petstore/client'
import type { InfiniteData, QueryClient } from '@tanstack/react-query'
import { KEYS } from '../session/query-keys.ts'
import { applyToHolds, type OpenHolds } from './open-holds.ts'
import { applyToPages, isReadAgain, type ListFilters } from './list-pages.ts'

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
    readAgain(cache, events)
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
      for (const { event } of recent)
        if (event.order !== undefined) applyToOrders(cache, event.order, hasMoney(event))
    if (queryKey[0] === KEYS.profileLists[0])
      for (const { event } of recent) if (event.profile !== undefined) applyToProfiles(cache, event.profile)
  })

  return {
    add: (event) => {
      // In the background, browsers delay timers by up to a minute.
      if (collected.length <= APPLIED_MAX) collected.push(event)
      timer ??= setTimeout(apply, COLLECTED_FOR_MS)
    },
    stop: () => {
      unsubscribe()
      clearTimeout(timer)
      clearTimeout(figuresTimer)
    },
  }
}

/** Shows a change that this tab has made, before its event arrives. */
export function applyChange(cache: QueryClient, pet: Pet, order: Order | undefined): void {
  const change = { position: '', occurredAt: '', petId: pet.id }
  const event: StoreEvent = { ...change, type: 'pet.updated', pet, changed: [] }
  applyEvent(cache, event)
  if (order !== undefined) applyToOrders(cache, order, true)
  readAgain(cache, [event])
}

function applyEvent(cache: QueryClient, event: StoreEvent): void {
  for (const [queryKey] of cache.getQueriesData({ queryKey: KEYS.petLists }))
    applyToList(cache, queryKey, event)
  if (event.pet !== undefined) applyToPet(cache, event.pet)
  if (event.type === 'pet.deleted') cache.setQueryData(KEYS.pet(event.petId), (cached) => cached && null)
  if (event.order !== undefined) applyToOrders(cache, event.order, hasMoney(event))
  if (event.profile !== undefined) applyToProfiles(cache, event.profile)
}

/** Reads what the events do not contain: the ETags and the history of a pet, other orders, and which pets a search finds. */
function readAgain(cache: QueryClient, events: StoreEvent[]): void {
  const changed = events.filter(({ type }) => type !== 'pet.deleted')
  for (const petId of new Set(changed.map((event) => event.petId))) {
    void cache.invalidateQueries({ queryKey: KEYS.pet(petId) })
    void cache.invalidateQueries({ queryKey: KEYS.profile(petId) })
  }
  void cache.invalidateQueries({
    queryKey: KEYS.petLists,
    predicate: ({ queryKey }) => isReadAgain(queryKey[1] as ListFilters),
  })
  if (events.every(({ order }) => order === undefined)) return
  void cache.invalidateQueries({ queryKey: KEYS.till })
  void cache.invalidateQueries({
    queryKey: KEYS.orders,
    predicate: ({ queryKey }) => queryKey[1] !== KEYS.openHolds[1],
  })
}

function applyToList(cache: QueryClient, queryKey: readonly unknown[], event: StoreEvent): void {
  cache.setQueryData<InfiniteData<Page<Pet>>>(queryKey, (data) => {
    if (data === undefined) return undefined
    const pages = applyToPages(data.pages, queryKey[1] as ListFilters, event)
    return pages === data.pages ? data : { ...data, pages }
  })
}

function applyToPet(cache: QueryClient, pet: Pet): void {
  cache.setQueryData<VersionedPet | null>(KEYS.pet(pet.id), (cached) => cached && { ...cached, ...pet })
  cache.setQueriesData<Record<string, Pet>>({ queryKey: KEYS.orderedPetLists }, (pets) =>
    pets?.[pet.id] === undefined ? pets : { ...pets, [pet.id]: pet },
  )
}

function applyToProfiles(cache: QueryClient, profile: PetProfile): void {
  const { petId } = profile
  for (const [queryKey] of cache.getQueriesData({ queryKey: KEYS.profileLists })) {
    if (!(queryKey[1] as string[]).includes(petId)) continue
    cache.setQueryData<Record<string, PetProfile>>(
      queryKey,
      (profiles) => profiles && { ...profiles, [petId]: profile },
    )
  }
}

/** Other events have the order without its deposit. */
function hasMoney({ type }: StoreEvent): boolean {
  return type === 'order.entry_added'
}

function applyToOrders(cache: QueryClient, changed: Order, isComplete: boolean): void {
  const key = KEYS.openOrder(changed.petId)
  const cached = cache.getQueryData<Order | null>(key)
  const holds = cache.getQueryData<OpenHolds>(KEYS.openHolds)
  const known = [...(holds?.orders ?? []), cached].find((one) => one?.id === changed.id)
  const order = isComplete ? changed : { ...(known?.deposit && { deposit: known.deposit }), ...changed }
  cache.setQueryData<OpenHolds>(KEYS.openHolds, (before) => before && applyToHolds(before, order))
  const isShown = cached !== undefined || cache.getQueryData(KEYS.pet(order.petId)) !== undefined
  if (order.status === 'open' && isShown) cache.setQueryData(key, order)
  if (order.status !== 'open' && cached?.id === order.id) cache.setQueryData(key, null)
}
