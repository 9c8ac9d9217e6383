// What the files of this suite share: animals in categories of their own, since the service may hold others,
// and the way from page to page. Knows the service by HTTP alone.
import { randomInt } from 'node:crypto'
import { expect } from 'vitest'
import type { TestResponse, TestClient } from '../support/client.ts'

const CREATES_AT_ONCE = 32

export interface Pet {
  id: number
  name: string
  categoryId: number | bigint
  status: string
}

/** A category that no other test uses; 15 digits, so that it is an ordinary number here. */
export function newCategoryId(): number {
  return randomInt(100_000_000_000_000, 380_000_000_000_000)
}

export function newPet(values: Partial<Pet> = {}): Omit<Pet, 'id'> {
  return { name: 'Biscuit', categoryId: newCategoryId(), status: 'available', ...values }
}

export async function addPet(petstore: TestClient, values: Partial<Pet> = {}): Promise<Pet> {
  const response = await petstore.post('/pets', newPet(values))
  expect(response.status).toBe(201)
  return response.body as Pet
}

/** Adds many at once; answers them in the sequence of `make`, which is not that of their ids. */
export async function addPets(
  petstore: TestClient,
  count: number,
  make: (index: number) => Partial<Pet>,
): Promise<Pet[]> {
  const pets: Pet[] = []
  let next = 0
  const worker = async () => {
    while (next < count) {
      const index = next++
      pets[index] = await addPet(petstore, make(index))
    }
  }
  await Promise.all(Array.from({ length: Math.min(count, CREATES_AT_ONCE) }, worker))
  return pets
}

export function petsOf(response: TestResponse): Pet[] {
  expect(response.status).toBe(200)
  return response.body as Pet[]
}

export function idsOf(pets: readonly Pet[]): number[] {
  return pets.map((pet) => pet.id)
}

export function newestFirst(ids: readonly number[]): number[] {
  return ids.toSorted((a, b) => b - a)
}

/** The address of a link of this relation below `/v1`, or undefined; whether it is absolute does not matter. */
export function linkTo(relation: string, { headers }: TestResponse, origin: string): string | undefined {
  const links = (headers.get('link') ?? '').matchAll(/<([^>]*)>; rel="([^"]*)"/g)
  const target = links.find(([, , rel]) => rel === relation)?.[1]
  if (target === undefined) return undefined
  const { pathname, search } = new URL(target, origin)
  return pathname + search
}

/** Follows `rel="next"` to its end. */
export async function walk(
  petstore: TestClient,
  path: string,
  onPage: (pets: Pet[]) => Promise<unknown> | void = () => {},
): Promise<Pet[]> {
  const seen: Pet[] = []
  for (let next: string | undefined = path; next !== undefined; ) {
    const page: TestResponse = await petstore.call('GET', next)
    const pets = petsOf(page)
    seen.push(...pets)
    await onPage(pets)
    next = linkTo('next', page, petstore.origin)
  }
  return seen
}

/** Which fields an Error names in its details, each once. */
export function faultyFields({ body }: TestResponse): string[] {
  const { details = [] } = body as { details?: { field: string }[] }
  return [...new Set(details.map(({ field }) => field))].sort()
}

/** Rows for a table of tests whose values may be too long for a name. */
export function rows(values: readonly string[]): { value: string; shown: string }[] {
  return values.map((value) => ({
    value,
    shown: value.length <= 60 ? value : `${value.slice(0, 10)}… of ${value.length} characters`,
  }))
}
