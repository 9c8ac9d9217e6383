// What the pages read about the price and the facts of pets.
import type { Page, Pet, PetProfile, Petstore } from '@petstore/client'
import { queryOptions, useQueries, type UseQueryResult } from '@tanstack/react-query'
import { useMemo, useRef } from 'react'
import { petIdsOfChip, readInParts, readPets } from '../pets/queries.ts'
import { KEYS } from '../session/query-keys.ts'
import { useStore } from '../session/session.ts'
import { isChipNumber } from './profile-values.ts'

export type Profiles = Record<string, PetProfile>

export function profileQuery(store: Petstore, petId: string) {
  return queryOptions({
    queryKey: KEYS.profile(petId),
    queryFn: ({ signal }) => store.pets.profile(petId, { signal }),
  })
}

/** The profiles by the id of the pet. A pet without a profile is missing. */
export function profileListQuery(store: Petstore, petIds: string[]) {
  return queryOptions({
    queryKey: KEYS.profileList(petIds),
    queryFn: async ({ signal }): Promise<Profiles> => {
      const profiles = await readInParts(petIds, (petId) => store.pets.profiles({ petId }, { signal }))
      return Object.fromEntries(profiles.map((profile) => [profile.petId, profile]))
    },
  })
}

/** The profiles of a list of pets, with one request for each of its pages. */
export function useProfiles(pages: Page<Pet>[], isWanted: boolean): Profiles {
  const store = useStore()
  const read = useQueries({
    queries: pages.map(({ items }) => ({
      ...profileListQuery(
        store,
        items.map(({ id }) => id),
      ),
      enabled: isWanted && items.length > 0,
    })),
    combine: merged,
  })
  // A page that gets one more pet is read again. Until then, the other pets keep their profiles.
  const known = useRef<Profiles>({})
  return useMemo(() => {
    known.current = { ...known.current, ...read }
    return known.current
  }, [read])
}

function merged(results: UseQueryResult<Profiles>[]): Profiles {
  return Object.assign({}, ...results.map(({ data }) => data)) as Profiles
}

/** The other pets with this chip number that are not sold. */
export function chipQuery(store: Petstore, chipNumber: string, ownId: string | undefined) {
  return queryOptions({
    queryKey: KEYS.chip(chipNumber),
    queryFn: async ({ signal }) => {
      const pets = await readPets(store, await petIdsOfChip(store, chipNumber, signal), signal)
      return Object.values(pets)
    },
    enabled: isChipNumber(chipNumber),
    staleTime: 0,
    select: (pets: Pet[]) => pets.filter(({ id, status }) => id !== ownId && status !== 'sold'),
  })
}
