// Profiles: the price of pets and facts about them. `store.pets` has these methods.
import type { CallOptions, Send } from './call.ts'
import { idText } from './ids.ts'
import type { IdInput, ListPetProfilesQuery, NewPetProfile, PetProfile } from './interface.ts'
import { type IfMatchOptions, isOneVersion, type Versioned, versioned } from './versions.ts'

/** A profile with its own version, which you can pass as `ifMatch`. */
export type VersionedPetProfile = PetProfile & Versioned

export function profilesOf(send: Send) {
  return {
    /** Returns the profile of a pet with its `etag`. */
    profile: async (id: IdInput, options?: CallOptions): Promise<VersionedPetProfile> => {
      const path = `/pets/${idText(id)}/profile` as const
      const call = { operation: 'getPetProfile', method: 'GET', path, idempotent: true } as const
      return versioned(await send(call, options))
    },

    /** Replaces the whole profile: a field that is absent has no value afterwards. Retried like `update`. */
    setProfile: async (
      id: IdInput,
      profile: NewPetProfile,
      options: IfMatchOptions = {},
    ): Promise<VersionedPetProfile> => {
      const { ifMatch } = options
      const call = {
        operation: 'putPetProfile',
        method: 'PUT',
        path: `/pets/${idText(id)}/profile`,
        body: profile,
        headers: { 'if-match': ifMatch },
        idempotent: isOneVersion(ifMatch),
      } as const
      return versioned(await send(call, options))
    },

    /** Lists the stored profiles of up to 100 pets, or those with a chip number, newest pet first. */
    profiles: async (query: ListPetProfilesQuery, options?: CallOptions): Promise<PetProfile[]> => {
      const path = '/pet-profiles'
      const call = { operation: 'listPetProfiles', method: 'GET', path, query, idempotent: true } as const
      return (await send(call, options)).value
    },
  }
}
