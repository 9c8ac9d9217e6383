// The rules of many changes in one request: each has the result of the operation for one pet.
import { expect } from 'vitest'
import { createPet, deletePet, type NewPet, updatePet } from './pets.ts'
import {
  type Caller,
  type Change,
  type Expected,
  type Id,
  once,
  reject,
  type Seen,
  type Store,
} from './store.ts'

type Optional<Fields> = { [Field in keyof Fields]: Fields[Field] | undefined }

export type PetChange =
  | { create: NewPet }
  | { update: Optional<Change> & { petId: Id; version?: number | undefined } }
  | { delete: { petId: Id; version?: number | undefined } }

export function changePets(
  store: Store,
  caller: Caller,
  changes: readonly PetChange[],
  key: string | undefined,
  seen: Seen,
): Expected {
  const ids = changes.flatMap((change) =>
    'create' in change ? [] : String(('update' in change ? change.update : change.delete).petId),
  )
  if (new Set(ids).size < ids.length) return reject('invalid_body')
  return once(store, caller, key, ['changePets', ...changes.map(valuesOf)], () => {
    const seenResults = (seen?.['results'] ?? []) as { pet?: Record<string, unknown> }[]
    const results = changes.map((change, index) =>
      toResult(changeOne(store, caller, change, seenResults[index]?.pet)),
    )
    return { status: 200, body: { results } }
  })
}

function changeOne(store: Store, caller: Caller, change: PetChange, seen: Seen): Expected {
  if ('delete' in change) return deletePet(store, caller, change.delete.petId, matchOf(change.delete.version))
  if ('update' in change) {
    const { petId, version, ...fields } = change.update
    return updateInBatch(store, caller, petId, fields, matchOf(version))
  }
  return createPet(store, caller, change.create, undefined, seen)
}

/** The result of an update that changes no value has no pet. */
export function updateInBatch(...[store, caller, petId, ...rest]: Parameters<typeof updatePet>): Expected {
  const before = store.pets.get(Number(petId))?.version
  const { body, ...updated } = updatePet(store, caller, petId, ...rest)
  return updated.etag === `"${before}"` ? updated : { ...updated, body }
}

function matchOf(version: number | undefined): string | undefined {
  return version === undefined ? undefined : `"${version}"`
}

function toResult({ status, code, body, etag }: Expected): Record<string, unknown> {
  if (code !== undefined) return { status, error: expect.objectContaining({ status, code }) }
  const version = etag === undefined ? {} : { version: Number(etag.slice(1, -1)) }
  return body === undefined ? { status, ...version } : { status, pet: body, ...version }
}

/** Of a change with an invalid value, only the fault counts, because it alone decides the result. */
function valuesOf(change: PetChange): string {
  let values: PetChange = change
  if ('create' in change) {
    const { name, categoryId, status = 'available', profile = {} } = change.create
    if (name.trim() === '') return `invalid name ${name}`
    values = { create: { name, categoryId, status, profile } }
  }
  return JSON.stringify(values, (_name, value: unknown) =>
    typeof value === 'bigint' ? String(value) : value,
  )
}
