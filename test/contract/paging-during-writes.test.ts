// Paging through thousands of pets while others are created: each pet that existed before the first page is returned once.
import { setTimeout as sleep } from 'node:timers/promises'
import { beforeAll, expect, inject, test } from 'vitest'
import { openTestClient, type TestClient } from '../support/client.ts'
import { openConnection, retryWhileBusy } from '../support/load.ts'
import { addPet, idsOf, newCategoryId, newestFirst, newPet, type Pet, walk } from '../support/pets.ts'
import { volume } from '../support/volume.ts'

const PETS = volume(2_000, 10_000)
const CONCURRENT_CREATES = 32
const CREATE_EVERY_MS = 5
/** The number of pages during each of which at least one pet is created. */
const PAGES_WITH_CREATES = 5
const STATUSES = ['sold', 'sold', 'sold', 'pending', 'available']

const { origin, apiKey } = inject('contract')
const client = openTestClient({ origin, apiKey }, { retriesBusy: true })
/** Also retries writes with an unknown outcome. A retried create may add a second pet, which no test counts. */
const petstore: TestClient = {
  ...client,
  call: (...request) => retryWhileBusy(() => client.call(...request), isUnavailable),
  post: (...request) => retryWhileBusy(() => client.post(...request), isUnavailable),
}
const categoryId = newCategoryId()
let sold: number[]

function isUnavailable({ status }: { status: number }): boolean {
  return status === 503
}

beforeAll(async () => {
  const pets = await createPets(PETS)
  expect(new Set(idsOf(pets)).size).toBe(PETS)
  sold = newestFirst(idsOf(pets.filter((pet) => pet.status === 'sold')))
  expect(sold).toHaveLength(PETS * 0.6)
})

function petNumber(index: number): Partial<Pet> {
  return { categoryId, status: STATUSES[index % STATUSES.length] as string }
}

/** Does not use fetch, which takes three times as long. The tests check every pet, so responses are not checked here. */
async function createPets(count: number): Promise<Pet[]> {
  const sender = openConnection({ origin, apiKey }, CONCURRENT_CREATES)
  const create = async (index: number) => {
    const body = newPet(petNumber(index))
    const created = await retryWhileBusy(() => sender.send('POST', '/v1/pets', body), isUnavailable)
    if (created.status !== 201) throw new Error(JSON.stringify(created.body))
    return created.body as Pet
  }
  const pets = await Promise.all(Array.from({ length: count }, (_, index) => create(index)))
  sender.close()
  return pets
}

/** Creates pets of every status until it is stopped, half of them in the category of the tests. */
function keepCreating(): { count: () => number; stop: () => Promise<void> } {
  const stop = new AbortController()
  const otherCategoryId = newCategoryId()
  let created = 0
  const work = async () => {
    for (; !stop.signal.aborted; created++) {
      const other = created % 2 === 0 && { categoryId: otherCategoryId }
      await addPet(petstore, { ...petNumber(created), ...other })
      await sleep(CREATE_EVERY_MS)
    }
  }
  const working = work()
  return {
    count: () => created,
    stop: () => {
      stop.abort()
      return working
    },
  }
}

async function pageWhileCreating(query: string): Promise<Pet[]> {
  const { count, stop } = keepCreating()
  let pages = 0
  const seen = await walk(petstore, `/v1/pets?${query}`, async () => {
    pages += 1
    if (pages <= PAGES_WITH_CREATES) await expect.poll(count).toBeGreaterThanOrEqual(pages)
  })
  await stop()
  expect(pages).toBeGreaterThan(PAGES_WITH_CREATES)
  return seen
}

function expectEachOnce(seen: readonly Pet[]): void {
  const ids = idsOf(seen)
  expect(new Set(ids).size).toBe(ids.length)
  const known = new Set(sold)
  expect(ids.filter((id) => known.has(id))).toEqual(sold)
}

test('pages of 7, filtered by status and category, return each pet exactly once', async () => {
  const seen = await pageWhileCreating(`status=sold&categoryId=${categoryId}&limit=7`)
  expectEachOnce(seen)
  expect(seen.every((pet) => pet.status === 'sold' && pet.categoryId === categoryId)).toBe(true)
})

test('pages of 100, filtered by status, return each pet exactly once', async () => {
  const seen = await pageWhileCreating('status=sold&limit=100')
  expectEachOnce(seen)
  expect(seen.every((pet) => pet.status === 'sold')).toBe(true)
})

test('pages of 100 without a filter return each pet exactly once', async () => {
  expectEachOnce(await pageWhileCreating('limit=100'))
})
