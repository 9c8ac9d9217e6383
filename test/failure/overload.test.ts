// More than can be done: whoever would wait too long is told so at once, and the others are answered.
import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { together } from '../../src/db/batch.ts'
import { type PetBatches, petBatches } from '../../src/pets/batches.ts'
import type { VersionedPet } from '../../src/pets/schema.ts'
import { issueApiKey, startApp } from '../support/app.ts'
import { createTestDatabase, openTestDatabase } from '../support/database.ts'

type FindPet = PetBatches['findPet']

/** The same, and how often it was called: the next request must not overtake those. */
function counted(work: FindPet): { findPet: FindPet; calls: () => number } {
  let calls = 0
  const findPet: FindPet = (id) => {
    calls += 1
    return work(id)
  }
  return { findPet, calls: () => calls }
}

test('beyond the longest queue a request is 503 overloaded at once; those in the queue are answered', async () => {
  const db = openTestDatabase(await createTestDatabase())
  const { promise: databaseIsBack, resolve: letGo } = Promise.withResolvers<void>()
  const findPets = async (ids: bigint[]) => {
    await databaseIsBack
    return ids.map((): VersionedPet | undefined => undefined)
  }
  const { findPet, calls } = counted(together(findPets, { sizeMax: 1, underWayMax: 1, waitingMax: 3 }))
  const petstore = await startApp(db, { pets: { ...petBatches(db, true, 1, () => {}), findPet } })

  const waiting = Array.from({ length: 4 }, () => petstore.get('/pets/1'))
  await expect.poll(calls).toBe(4)
  const refused = await petstore.get('/pets/1')
  expect([refused.status, refused.body]).toMatchObject([503, { code: 'overloaded' }])
  expect(refused.headers.get('retry-after')).toBe('1')

  letGo()
  const answers = await Promise.all(waiting)
  expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404])
  expect((await petstore.get('/pets/1')).status).toBe(404)
})

test('more requests at a time than can be done in good time: the next is 503 overloaded before anything else', async () => {
  const db = openTestDatabase(await createTestDatabase())
  const { promise: databaseIsBack, resolve: letGo } = Promise.withResolvers<undefined>()
  const { findPet, calls } = counted(() => databaseIsBack)
  const pets = { ...petBatches(db, true, 1, () => {}), findPet }
  let isDraining = false
  const petstore = await startApp(db, { pets, underWayMax: 2, isDraining: () => isDraining })
  const underWay = [petstore.get('/pets/1'), petstore.get('/pets/1')]
  await expect.poll(calls).toBe(2)

  const refused = await petstore.post('/pets', { name: 'Rex', categoryId: 1 }, { 'x-request-id': 'mine' })
  expect([refused.status, refused.body]).toMatchObject([503, { code: 'overloaded' }])
  expect(refused.headers.get('retry-after')).toBe('1')
  expect(refused.headers.get('x-request-id')).toBe('mine')
  expect(refused.headers.get('connection')).toBe('keep-alive')
  isDraining = true
  expect((await petstore.get('/pets')).headers.get('connection')).toBe('close')

  letGo(undefined)
  for (const answer of await Promise.all(underWay)) expect(answer.status).toBe(404)
  expect((await petstore.get('/pets')).status).toBe(200)
})

test('a client who goes away leaves its place to the next', async () => {
  const db = openTestDatabase(await createTestDatabase())
  const { findPet, calls } = counted(() => new Promise<undefined>(() => {}))
  const pets = { ...petBatches(db, true, 1, () => {}), findPet }
  const petstore = await startApp(db, { pets, underWayMax: 1 })
  const { text } = await issueApiKey(db)
  const gone = new AbortController()
  const abandoned = fetch(`${petstore.origin}/v1/pets/1`, {
    signal: gone.signal,
    headers: { authorization: `Bearer ${text}` },
  })
  await expect.poll(calls).toBe(1)
  expect((await petstore.get('/pets')).status).toBe(503)
  gone.abort()
  await expect(abandoned).rejects.toThrow()
  await expect.poll(async () => (await petstore.get('/pets')).status).toBe(200)
})

test('large bodies at a time have a limit of their own, and a small one passes beside them', async () => {
  const db = openTestDatabase(await createTestDatabase())
  const petstore = await startApp(db)
  const { text: apiKey } = await issueApiKey(db)
  const { hostname, port } = new URL(petstore.origin)
  const large = { name: 'x'.repeat(1_000_000), categoryId: 1 }
  // 64 would be enough if none of the requests below came before the last of them.
  const holding = Array.from({ length: 80 }, () => connect(Number(port), hostname))
  for (const socket of holding) {
    socket.on('error', () => {})
    socket.write(
      `POST /v1/pets HTTP/1.1\r\nHost: petstore\r\nAuthorization: Bearer ${apiKey}\r\n` +
        'Content-Type: application/json\r\nContent-Length: 1048576\r\n\r\n{',
    )
  }
  await expect.poll(async () => (await petstore.post('/pets', large)).status).toBe(503)
  expect((await petstore.post('/pets', large)).body).toMatchObject({ code: 'overloaded' })
  expect((await petstore.post('/pets', { name: 'Rex', categoryId: 1 })).status).toBe(201)

  for (const socket of holding) socket.destroy()
  await expect.poll(async () => (await petstore.post('/pets', large)).status).toBe(400)
})
