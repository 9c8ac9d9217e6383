// Pets. The comments on `create`, `update` and `delete` say whether the client retries them.
import { type CallOptions, type OnceOptions, randomId, type Send } from './call.ts'
import { idText } from './ids.ts'
import type {
  GetPetCountQuery,
  PetCount,
  GetPetHistoryQuery,
  IdInput,
  ListPetsQuery,
  NewPet,
  Pet,
  PetByReference,
  PetChange,
} from './interface.ts'
import { listOf } from './lists.ts'
import { petChangesOf } from './pet-changes.ts'
import { petExportOf } from './pet-export.ts'
import { profilesOf } from './profiles.ts'
import { type IfMatchOptions, isOneVersion, type Versioned, versioned } from './versions.ts'

/** A pet with its version, which you can pass as `ifMatch`. */
export type VersionedPet = Pet & Versioned

export interface FindOptions extends CallOptions {
  /** What to add to the pet: `profile`, `times`. */
  include?: ListPetsQuery['include']
}

export type Pets = ReturnType<typeof petsOf>

function petReadsOf(send: Send) {
  return {
    /**
     * Lists pets, newest first, or sorted by name with `name` or `sort`. With `word`, a page can be empty although another
     * page follows; `for await` reads on.
     */
    list: (query?: ListPetsQuery, options?: CallOptions) =>
      listOf(send, 'listPets', () => '/pets', query, options),

    /** Counts the pets that `list` has with these filters: exact up to 10,000, then `more` is true. */
    count: async (query?: GetPetCountQuery, options?: CallOptions): Promise<PetCount> => {
      const call = { operation: 'getPetCount', method: 'GET', path: '/pet-count', query } as const
      return (await send({ ...call, idempotent: true }, options)).value
    },

    /** Returns the pet with its `etag`, or undefined if no pet has this id. */
    find: async (id: IdInput, options?: FindOptions): Promise<VersionedPet | undefined> => {
      const query = { id: [id], include: options?.include }
      const call = { operation: 'listPets', method: 'GET', path: '/pets', query, idempotent: true } as const
      const { value, headers } = await send(call, options)
      return value[0] && versioned({ value: value[0], headers })
    },

    /**
     * Returns the pet with its `etag`. Fails with `pet_not_found` if no pet has this id.
     * @deprecated The operation will be removed on 5 December 2030. Use `find`.
     */
    get: async (id: IdInput, options?: FindOptions): Promise<VersionedPet> => {
      const path = `/pets/${idText(id)}` as const
      const query = { include: options?.include }
      return versioned(
        await send({ operation: 'getPet', method: 'GET', path, query, idempotent: true }, options),
      )
    },

    /** Lists the history of a pet, newest first. */
    history: (id: IdInput, query?: GetPetHistoryQuery, options?: CallOptions) =>
      listOf(send, 'getPetHistory', () => `/pets/${idText(id)}/history`, query, options),
  }
}

export function petsOf(send: Send) {
  return {
    ...petReadsOf(send),

    /** Adds a pet. All attempts use one idempotency key, so at most one pet is added. */
    create: async (pet: NewPet, options: OnceOptions = {}): Promise<VersionedPet> => {
      const headers = { 'idempotency-key': options.idempotencyKey ?? randomId() }
      return versioned(
        await send(
          { operation: 'createPet', method: 'POST', path: '/pets', body: pet, headers, idempotent: true },
          options,
        ),
      )
    },

    /**
     * Changes the given fields. If the outcome is unknown, the call is retried only with an `etag` as `ifMatch`:
     * without it, a retry could overwrite a later change by another client.
     */
    update: async (id: IdInput, change: PetChange, options: IfMatchOptions = {}): Promise<VersionedPet> => {
      const { ifMatch } = options
      return versioned(
        await send(
          {
            operation: 'updatePet',
            method: 'PATCH',
            path: `/pets/${idText(id)}`,
            body: change,
            headers: { 'if-match': ifMatch },
            idempotent: isOneVersion(ifMatch),
          },
          options,
        ),
      )
    },

    /**
     * Creates the pet with this reference, or changes its name, category and the given facts: `null` clears one. Never changes
     * the status of a pet that exists. Always safe to retry.
     */
    put: async (reference: string, pet: PetByReference, options?: CallOptions): Promise<VersionedPet> => {
      const path = `/pets/by-reference/${encodeURIComponent(reference)}` as const
      const call = {
        operation: 'putPetByReference',
        method: 'PUT',
        path,
        body: pet,
        idempotent: true,
      } as const
      return versioned(await send(call, options))
    },

    /** Deletes a pet that was added by mistake. Safe to retry, because ids are never reused. */
    delete: async (id: IdInput, options: IfMatchOptions = {}): Promise<void> => {
      await send(
        {
          operation: 'deletePet',
          method: 'DELETE',
          path: `/pets/${idText(id)}`,
          headers: { 'if-match': options.ifMatch },
          idempotent: true,
          successCode: 'pet_not_found',
        },
        options,
      )
    },

    ...petChangesOf(send),
    ...petExportOf(send),
    ...profilesOf(send),
  }
}
