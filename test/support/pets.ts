// Helpers for the contract tests, which use only HTTP. Pets are created in new categories, because the service may contain
// other pets.
import { randomInt } from 'node:crypto'
import { expect } from 'vitest'
import type { TestResponse, TestClient } from './client.ts'

const CONCURRENT_CREATES = 32

export interface Pet {
  id: number
  name: string
  categoryId: number | bigint
  status: string
}

/** A category that no other test uses. It has 15 digits, so that a JavaScript number holds it exactly. */
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

/** Creates pets concurrently and returns them in the order of `make`; their ids may be in another order. */
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
  await Promise.all(Array.from({ length: Math.min(count, CONCURRENT_CREATES) }, worker))
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

/** The path and query of the link with this relation, or undefined. The link may be absolute. */
export function linkTo(relation: string, { headers }: TestResponse, origin: string): string | undefined {
  const links = (headers.get('link') ?? '').matchAll(/<([^>]*)>; rel="([^"]*)"/g)
  const target = links.find(([, , rel]) => rel === relation)?.[1]
  if (target === undefined) return undefined
  const { pathname, search } = new URL(target, origin)
  return pathname + search
}

/** Yields each page from the first one, whose path is given. Fails if a list does not end, instead of following it forever. */
export async function* pagesFrom(client: TestClient, path: string): AsyncGenerator<TestResponse> {
  const followed = new Set<string>()
  for (let next: string | undefined = path; next !== undefined; ) {
    if (followed.has(next)) throw new Error(`the list does not end: it leads to ${next} again`)
    followed.add(next)
    const page: TestResponse = await client.call('GET', next)
    yield page
    next = linkTo('next', page, client.origin)
  }
}

/** Follows `rel="next"` to the last page and returns all pets. */
export async function walk(
  petstore: TestClient,
  path: string,
  onPage: (pets: Pet[]) => Promise<unknown> | void = () => {},
): Promise<Pet[]> {
  const seen: Pet[] = []
  for await (const page of pagesFrom(petstore, path)) {
    const pets = petsOf(page)
    seen.push(...pets)
    await onPage(pets)
  }
  return seen
}

/** The fields in the `details` of an error, without duplicates. */
export function faultyFields({ body }: TestResponse): string[] {
  const { details = [] } = body as { details?: { field: string }[] }
  return [...new Set(details.map(({ field }) => field))].sort()
}

/** Rows for `test.each`, with a short form of each value for the title. */
export function rows(values: readonly string[]): { value: string; shown: string }[] {
  return values.map((value) => ({
    value,
    shown: value.length <= 60 ? value : `${value.slice(0, 10)}… of ${value.length} characters`,
  }))
}
