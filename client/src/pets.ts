// Animals. Beside each change stands why it may be repeated, or not.
import { type CallOptions, randomId, type Send } from './call.ts'
import { idText } from './ids.ts'
import type { GetPetHistoryQuery, IdInput, ListPetsQuery, NewPet, Pet, PetChange } from './interface.ts'
import { listOf } from './lists.ts'

/** An animal, and the version of it that `ifMatch` wants. */
export interface VersionedPet extends Pet {
  etag: string
}

export interface OnceOptions extends CallOptions {
  /** Yours, to go on after this process has ended; a new one for each call otherwise. Kept for 24 hours. */
  idempotencyKey?: string | undefined
}

export interface IfMatchOptions extends CallOptions {
  /** The `etag` that you have seen: if the animal has changed since, it is `precondition_failed`. */
  ifMatch?: string | undefined
}

/** Not `*`, which any version matches, nor a list, of which a later one might. */
const ONE_VERSION = /^"[^"]*"$/

export type Pets = ReturnType<typeof petsOf>

export function petsOf(send: Send) {
  return {
    /** Newest first; with `name`, by name. */
    list: (query?: ListPetsQuery, options?: CallOptions) =>
      listOf(send, 'listPets', () => '/pets', query, options),

    /** The pet with its `etag`, or undefined if no pet has this id. */
    find: async (id: IdInput, options?: CallOptions): Promise<VersionedPet | undefined> => {
      const query = { id: [id] }
      const call = { operation: 'listPets', method: 'GET', path: '/pets', query, idempotent: true } as const
      const { value, headers } = await send(call, options)
      return value[0] && versioned({ value: value[0], headers })
    },

    /**
     * The animal with its `etag`; `pet_not_found` where none has this id.
     * @deprecated The service removes it on 5 December 2030: use `find`.
     */
    get: async (id: IdInput, options?: CallOptions): Promise<VersionedPet> => {
      const path = `/pets/${idText(id)}` as const
      return versioned(await send({ operation: 'getPet', method: 'GET', path, idempotent: true }, options))
    },

    /** Adds an animal, once: its idempotency key is the same in all attempts. */
    create: async (pet: NewPet, options: OnceOptions = {}): Promise<VersionedPet> => {
      const headers = { 'idempotency-key': options.idempotencyKey ?? randomId() }
      return versioned(
        await send(
          { operation: 'createPet', method: 'POST', path: '/pets', body: pet, headers, idempotent: true },
          options,
        ),
      )
    },

    /** Changes what is given. With `ifMatch` a second attempt cannot undo what somebody did after the first. */
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
            idempotent: ONE_VERSION.test(ifMatch ?? ''),
          },
          options,
        ),
      )
    },

    /** Removes a mistaken entry. An id is never given again, so a second attempt removes nothing else. */
    delete: async (id: IdInput, options: IfMatchOptions = {}): Promise<void> => {
      await send(
        {
          operation: 'deletePet',
          method: 'DELETE',
          path: `/pets/${idText(id)}`,
          headers: { 'if-match': options.ifMatch },
          idempotent: true,
          doneBy: 'pet_not_found',
        },
        options,
      )
    },

    /** What happened to the animal, newest first. */
    history: (id: IdInput, query?: GetPetHistoryQuery, options?: CallOptions) =>
      listOf(send, 'getPetHistory', () => `/pets/${idText(id)}/history`, query, options),
  }
}

function versioned({ value, headers }: { value: Pet; headers: Headers }): VersionedPet {
  // Without one, `ifMatch` must fail rather than be no condition: an empty one matches no version.
  return { ...value, etag: headers.get('etag') ?? '' }
}
