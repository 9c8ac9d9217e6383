// The specification of one pet and its orders for the linearizability checker, with the rules of the reference model.
import { isDeepStrictEqual } from 'node:util'
import type { Operation, Specification } from '../../support/linearizability.ts'
import { endOrder, getOrder, placeOrder } from './reference/orders.ts'
import { getProfile, putProfile } from './reference/profiles.ts'
import { updateInBatch } from './reference/pet-changes.ts'
import { deletePet, getPet, petBody, updatePet } from './reference/pets.ts'
import { correctOrder, refundOrder, settleDeposit, voidEntry } from './reference/till.ts'
import { emptyStore, type Expected, type PetStatus, type Seen, type Store } from './reference/store.ts'

/** `isInBatch`: sent as a change of changePets. */
export type PetCall =
  | { call: 'get' | 'list' | 'getProfile' }
  | { call: 'place'; price?: string | undefined; deposit?: string | undefined }
  | {
      call: 'update'
      change: { name?: string; status?: PetStatus }
      ifMatch: string | undefined
      isInBatch?: boolean
    }
  | { call: 'putProfile'; profile: { price?: string; breed: string }; ifMatch: string | undefined }
  | { call: 'delete'; ifMatch: string | undefined; isInBatch?: boolean }
  | { call: 'complete' | 'correct'; orderId: number; price?: string | undefined }
  | { call: 'refund'; orderId: number; amount: string; takeBack: boolean }
  | { call: 'settle'; orderId: number; amount: string }
  | { call: 'void'; entryId: number }
  | { call: 'cancel' | 'getOrder'; orderId: number }

export interface PetResponse {
  status: number
  body: unknown
  /** The version in the ETag, or 0. */
  etag: number
}

export type PetOperation = Operation<PetCall, PetResponse>

/** The caller matters only for the history of a pet, which is not checked here. */
export function specificationOf(
  pet: { id: number; name: string; categoryId: number },
  callerName: string,
): Specification<Store, PetCall, PetResponse> {
  const caller = { actorId: 1, name: callerName, scopes: ['till:write'], requestId: '' }
  const initial = emptyStore()
  initial.pets.set(pet.id, {
    ...pet,
    status: 'available',
    version: 1,
    profile: {},
    profileVersion: 0,
    history: [],
  })

  function response(store: Store, input: PetCall, seen: Seen): Expected {
    switch (input.call) {
      case 'get':
        return getPet(store, pet.id)
      case 'list':
        return { status: 200, body: [...store.pets.values()].map(petBody) }
      case 'update':
        return (input.isInBatch ? updateInBatch : updatePet)(
          store,
          caller,
          pet.id,
          input.change,
          input.ifMatch,
        )
      case 'getProfile':
        return getProfile(store, pet.id)
      case 'putProfile':
        return putProfile(store, caller, pet.id, input.profile, input.ifMatch)
      case 'delete':
        return deletePet(store, caller, pet.id, input.ifMatch)
      case 'place':
        return placeOrder(store, caller, { ...input, petId: pet.id }, undefined, seen)
      case 'complete':
        return endOrder(store, caller, input.orderId, { as: 'completed', price: input.price }, seen)
      case 'correct':
        return correctOrder(store, caller, input.orderId, { price: input.price ?? '' })
      case 'refund':
        return refundOrder(store, caller, input.orderId, input, undefined, seen)
      case 'settle':
        return settleDeposit(store, caller, input.orderId, { refund: input.amount }, undefined, seen)
      case 'void':
        return voidEntry(store, caller, input.entryId, seen)
      case 'cancel':
        return endOrder(store, caller, input.orderId, { as: 'cancelled' }, seen)
      case 'getOrder':
        break
    }
    return getOrder(store, input.orderId)
  }

  return {
    initial,
    step: (state, input, output) => {
      const store = copyOf(state)
      try {
        const expected = response(store, input, output.body as Seen)
        return agrees(expected, output) ? store : undefined
      } catch {
        // The response lacks an id or a time that the model needs, so the responses differ.
        return undefined
      }
    },
    changesNothing: ({ call }, { status }) => status >= 400 || !isWrite(call),
    keyOf: ({ pets: ofStore, orders, entries }) =>
      JSON.stringify([
        ...ofStore.values(),
        ...[...orders.values()].map(({ id, status, price }) => [id, status, price]),
        ...entries.map(({ id, orderId, kind, paid, pets }) => [id, orderId, kind, String(paid), pets]),
      ]),
  }
}

export function isWrite(call: PetCall['call']): boolean {
  return !['get', 'list', 'getProfile', 'getOrder'].includes(call)
}

/** Omits the newest ids, so that a new order may have any id: ids of concurrent orders may be in either order. */
function copyOf({ pets, orders, entries }: Store): Store {
  const copy = emptyStore()
  for (const [id, pet] of pets) copy.pets.set(id, { ...pet, history: [] })
  for (const [id, order] of orders) copy.orders.set(id, { ...order })
  copy.entries.push(...entries)
  return copy
}

function agrees(expected: Expected, { status, body, etag }: PetResponse): boolean {
  if (status !== expected.status) return false
  if (expected.code !== undefined) return (body as { code?: string }).code === expected.code
  if (expected.etag !== undefined && expected.etag !== `"${etag}"`) return false
  return expected.body === undefined || isDeepStrictEqual(comparable(body), comparable(expected.body))
}

/** Without the time and the day of an entry, which the model cannot know, and without fields that have no value. */
function comparable(body: unknown): unknown {
  if (Array.isArray(body)) return body.map(comparable)
  const { at: _at, day: _day, broughtBackAt, ...fields } = body as Record<string, unknown>
  const given = Object.entries(fields).filter(([, value]) => value !== undefined)
  return { ...Object.fromEntries(given), isBroughtBack: broughtBackAt !== undefined }
}

export function describeOperation({ input, output, calledAt, returnedAt }: PetOperation): string {
  const { call, ...what } = input
  const code = (output.body as { code?: string } | undefined)?.code
  const got = `${output.status} ${code ?? JSON.stringify(output.body)}, version ${output.etag}`
  return `${calledAt.toFixed(2)} to ${returnedAt.toFixed(2)} ms: ${call} ${JSON.stringify(what)} -> ${got}`
}
