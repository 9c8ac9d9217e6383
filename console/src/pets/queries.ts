// What the pages about pets read and change.
import type { Category, Page, Pet, Petstore } from '@petstore/client'
import { LIST_PETS } from '@petstore/client/rules'
import {
  infiniteQueryOptions,
  keepPreviousData,
  queryOptions,
  useMutation,
  useQueryClient,
} from '@tanstack/react-query'
import { KEYS } from '../session/query-keys.ts'
import { useStore } from '../session/session.ts'
import { listFilters, type PetSearch } from './filters.ts'
import { readOn } from './read-on.ts'

const PAGE_SIZE = 50
/** Longer than a look at a pet takes. If the pages were read again, the list would lose its place. */
const LIST_KEPT_FOR_MS = 60 * 60_000
const IDS_MAX = LIST_PETS.id.maxItems
/** A shop with more categories than this finds the others by their id. */
export const CATEGORIES_MAX = 1_000

export function petListQuery(store: Petstore, search: PetSearch) {
  const { chipNumber, ...filters } = listFilters(search)
  return infiniteQueryOptions({
    queryKey: KEYS.petList({ ...filters, chipNumber }),
    gcTime: LIST_KEPT_FOR_MS,
    queryFn: async ({ pageParam, signal }): Promise<Page<Pet>> => {
      const id = chipNumber === undefined ? filters.id : await petIdsOfChip(store, chipNumber, signal)
      return readOn(
        (cursor) =>
          store.pets
            .list({ ...filters, id, cursor, limit: PAGE_SIZE, include: ['times'] }, { signal })
            .page(),
        pageParam,
      )
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ nextCursor }) => nextCursor,
  })
}

/** Several pets can have the same chip number. */
export async function petIdsOfChip(
  store: Petstore,
  chipNumber: string,
  signal: AbortSignal,
): Promise<string[]> {
  const profiles = await store.pets.profiles({ chipNumber }, { signal })
  return profiles.map(({ petId }) => petId)
}

export function categoriesQuery(store: Petstore) {
  return queryOptions({
    queryKey: KEYS.categories,
    queryFn: async ({ signal }) => {
      const categories: Category[] = []
      for await (const category of store.categories.list({}, { signal })) {
        categories.push(category)
        if (categories.length === CATEGORIES_MAX) break
      }
      return categories
    },
  })
}

/** How many pets have each status. */
export function inventoryQuery(store: Petstore) {
  return queryOptions({ queryKey: KEYS.inventory, queryFn: ({ signal }) => store.inventory({ signal }) })
}

export function petQuery(store: Petstore, petId: string) {
  return queryOptions({
    queryKey: KEYS.pet(petId),
    queryFn: async ({ signal }) => (await store.pets.find(petId, { signal })) ?? null,
  })
}

/** The pets of orders by their id. */
export function orderedPetsQuery(store: Petstore, petIds: string[]) {
  const ids = [...new Set(petIds)].toSorted()
  return queryOptions({
    queryKey: KEYS.orderedPets(ids),
    queryFn: ({ signal }) => readPets(store, ids, signal),
    placeholderData: keepPreviousData,
  })
}

export async function readPets(
  store: Petstore,
  ids: string[],
  signal?: AbortSignal,
): Promise<Record<string, Pet>> {
  const pets = await readInParts(ids, async (id) => (await store.pets.list({ id }, { signal }).page()).items)
  return Object.fromEntries(pets.map((pet) => [pet.id, pet]))
}

/** Reads any number of ids, in as few requests as possible. */
export async function readInParts<Item>(
  ids: string[],
  read: (ids: string[]) => Promise<Item[]>,
): Promise<Item[]> {
  const parts = Array.from({ length: Math.ceil(ids.length / IDS_MAX) }, (_, index) =>
    ids.slice(index * IDS_MAX, (index + 1) * IDS_MAX),
  )
  return (await Promise.all(parts.map(read))).flat()
}

/** The name of a category, or its id if it has no name. */
export function categoryName(categories: Category[] | undefined, id: string): string {
  return categories?.find((category) => category.id === id)?.name ?? `Category ${id}`
}

export function useDeletePet() {
  const store = useStore()
  const cache = useQueryClient()
  const refresh = useRefresh()
  return useMutation({
    mutationFn: (id: string) => store.pets.delete(id),
    onSuccess: (_, id) => {
      cache.removeQueries({ queryKey: KEYS.pet(id) })
      cache.removeQueries({ queryKey: KEYS.profile(id) })
    },
    onSettled: () => void refresh(),
  })
}

/** Reads again what a change of a pet affects. The event stream does the same for changes by other people. */
export function useRefresh(): () => Promise<void> {
  const cache = useQueryClient()
  return async () => {
    const keys = [
      KEYS.petLists,
      KEYS.pets,
      KEYS.profiles,
      KEYS.profileLists,
      KEYS.orders,
      KEYS.openOrders,
      KEYS.categories,
      KEYS.inventory,
      KEYS.till,
      KEYS.figures,
    ]
    await Promise.all(keys.map((queryKey) => cache.invalidateQueries({ queryKey })))
  }
}
