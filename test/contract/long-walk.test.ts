// A walk over thousands of animals while others are added: each that matched from its start to its end, exactly once.
import http from 'node:http'
import https from 'node:https'
import { setTimeout as sleep } from 'node:timers/promises'
import { beforeAll, expect, inject, test } from 'vitest'
import { openTestClient } from '../support/client.ts'
import { volume } from '../support/volume.ts'
import { addPet, idsOf, newCategoryId, newestFirst, newPet, type Pet, walk } from './pets.ts'

const ANIMALS = volume(3_000, 10_000)
const CREATES_AT_ONCE = 32
const ADDED_EVERY_MS = 5
const ADDED_MIN = 5
const STATUSES = ['sold', 'sold', 'sold', 'pending', 'available']

const { origin, apiKey } = inject('contract')
const petstore = openTestClient({ origin, apiKey })
const categoryId = newCategoryId()
let sold: number[]

beforeAll(async () => {
  const pets = await addAll(ANIMALS)
  expect(new Set(idsOf(pets)).size).toBe(ANIMALS)
  sold = newestFirst(idsOf(pets.filter((pet) => pet.status === 'sold')))
  expect(sold).toHaveLength(ANIMALS * 0.6)
})

function petNumber(index: number): Partial<Pet> {
  return { categoryId, status: STATUSES[index % STATUSES.length] as string }
}

/** Unchecked and without fetch, which takes three times as long; every animal is looked at in the walks. */
async function addAll(count: number): Promise<Pet[]> {
  const { Agent, request } = origin.startsWith('https:') ? https : http
  const agent = new Agent({ keepAlive: true, maxSockets: CREATES_AT_ONCE })
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' }
  const add = (index: number) => {
    const { promise, resolve, reject } = Promise.withResolvers<Pet>()
    const sent = request(`${origin}/v1/pets`, { agent, method: 'POST', headers }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
      response.on('end', () => {
        if (response.statusCode === 201) resolve(JSON.parse(text) as Pet)
        else reject(new Error(text))
      })
    })
    sent.on('error', reject)
    sent.end(JSON.stringify(newPet(petNumber(index))))
    return promise
  }
  const pets = await Promise.all(Array.from({ length: count }, (_, index) => add(index)))
  agent.destroy()
  return pets
}

/** Adds animals of every kind, half of them to the category of the walk, until it is told to stop. */
function keepAdding(): { count: () => number; stop: () => Promise<void> } {
  const stop = new AbortController()
  const others = newCategoryId()
  let added = 0
  const work = async () => {
    for (; !stop.signal.aborted; added++) {
      await addPet(petstore, { ...petNumber(added), ...(added % 2 === 0 && { categoryId: others }) })
      await sleep(ADDED_EVERY_MS)
    }
  }
  const working = work()
  return {
    count: () => added,
    stop: () => {
      stop.abort()
      return working
    },
  }
}

async function walkWhileOthersAreAdded(query: string): Promise<Pet[]> {
  const { count, stop } = keepAdding()
  let pages = 0
  const seen = await walk(petstore, `/v1/pets?${query}`, async () => {
    pages += 1
    // However slow the host is, some are added between the first pages.
    if (pages <= ADDED_MIN) await expect.poll(count).toBeGreaterThanOrEqual(pages)
  })
  await stop()
  expect(pages).toBeGreaterThan(ADDED_MIN)
  return seen
}

function expectEachOnce(seen: readonly Pet[]): void {
  const ids = idsOf(seen)
  expect(new Set(ids).size).toBe(ids.length)
  const known = new Set(sold)
  expect(ids.filter((id) => known.has(id))).toEqual(sold)
}

test('a walk of one status and category by 7 sees each of its animals exactly once', async () => {
  const seen = await walkWhileOthersAreAdded(`status=sold&categoryId=${categoryId}&limit=7`)
  expectEachOnce(seen)
  expect(seen.every((pet) => pet.status === 'sold' && pet.categoryId === categoryId)).toBe(true)
})

test('a walk of one status by 100 sees each of its animals exactly once', async () => {
  const seen = await walkWhileOthersAreAdded('status=sold&limit=100')
  expectEachOnce(seen)
  expect(seen.every((pet) => pet.status === 'sold')).toBe(true)
})

test('a walk of everything by 100 sees each animal exactly once', async () => {
  expectEachOnce(await walkWhileOthersAreAdded('limit=100'))
})
