// Many changes of pets in one call. `store.pets` has this method.
import { type OnceOptions, randomId, type Send } from './call.ts'
import type { PetChangeItem, PetChangeResult } from './interface.ts'

export function petChangesOf(send: Send) {
  return {
    /**
     * Makes up to 100 changes, and returns a result for each in the same order. A change that fails does not undo another
     * one: look at the `error` of each result. All attempts use one idempotency key, so each change is made at most once.
     */
    changeMany: async (
      changes: readonly PetChangeItem[],
      options: OnceOptions = {},
    ): Promise<PetChangeResult[]> => {
      const call = {
        operation: 'changePets',
        method: 'POST',
        path: '/pet-changes',
        body: { changes },
        headers: { 'idempotency-key': options.idempotencyKey ?? randomId() },
        idempotent: true,
      } as const
      return (await send(call, options)).value.results
    },
  }
}
