// Overload: requests beyond a limit are rejected at once, and the others complete.
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { connect } from 'node:net'
import { expect, onTestFinished, test, vi } from 'vitest'
import { apiKeyVerifier } from '../../src/access/api-keys/api-keys.ts'
import { batched } from '../../src/db/batch.ts'
import { type PetTable, openPetTable } from '../../src/store/pets/table.ts'
import type { VersionedPet } from '../../src/store/pets/schema.ts'
import { issueApiKey, startApp } from '../support/app.ts'
import { createTestDatabase, openTestDatabase } from '../support/database.ts'
import { until } from '../support/until.ts'

type FindPet = PetTable['findPet']

const db = openTestDatabase(await createTestDatabase())

/** Counts the calls, so that a test can wait until its first requests have arrived. */
function counted(work: FindPet): { findPet: FindPet; calls: () => number } {
  let calls = 0
  const findPet: FindPet = (id) => {
    calls += 1
    return work(id)
  }
  return { findPet, calls: () => calls }
}

test('rejects a request at once if the queue is full (503 overloaded); queued requests complete', async () => {
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  const findPets = async (ids: bigint[]) => {
    await released
    return ids.map((): VersionedPet | undefined => undefined)
  }
  // Stops the timer after which a batch has stalled and the next one starts.
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const { findPet, calls } = counted(batched(findPets, { sizeMax: 1, inFlightMax: 1, waitingMax: 3 }))
  const petstore = await startApp(db, { petTable: { ...openPetTable(db, true, 1, () => {}), findPet } })

  const waiting = Array.from({ length: 4 }, () => petstore.get('/pets/1'))
  await until(() => calls() === 4)
  const rejected = await petstore.get('/pets/1')
  expect([rejected.status, rejected.body]).toMatchObject([503, { code: 'overloaded' }])
  expect(rejected.headers.get('retry-after')).toBe('1')

  release()
  const responses = await Promise.all(waiting)
  expect(responses.map(({ status }) => status)).toEqual([404, 404, 404, 404])
  expect((await petstore.get('/pets/1')).status).toBe(404)
})

test('rejects a request beyond inFlightMax before any other check (503 overloaded)', async () => {
  const { promise: released, resolve: release } = Promise.withResolvers<undefined>()
  const { findPet, calls } = counted(() => released)
  const petTable = { ...openPetTable(db, true, 1, () => {}), findPet }
  let isDraining = false
  const petstore = await startApp(db, { petTable, inFlightMax: 2, isDraining: () => isDraining })
  const inFlight = [petstore.get('/pets/1'), petstore.get('/pets/1')]
  await expect.poll(calls).toBe(2)

  const rejected = await petstore.post('/pets', { name: 'Rex', categoryId: 1 }, { 'x-request-id': 'mine' })
  expect([rejected.status, rejected.body]).toMatchObject([503, { code: 'overloaded' }])
  expect(rejected.headers.get('retry-after')).toBe('1')
  expect(rejected.headers.get('x-request-id')).toBe('mine')
  expect(rejected.headers.get('connection')).toBe('keep-alive')
  isDraining = true
  expect((await petstore.get('/pets')).headers.get('connection')).toBe('close')

  release(undefined)
  for (const response of await Promise.all(inFlight)) expect(response.status).toBe(404)
  expect((await petstore.get('/pets')).status).toBe(200)
})

test('limits writes to three quarters of inFlightMax, so that reads succeed while every write waits', async () => {
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  const petTable = openPetTable(db, true, 1, () => {})
  const insertPet: typeof petTable.insertPet = async (pet) => {
    await released
    return petTable.insertPet(pet)
  }
  const petstore = await startApp(db, { petTable: { ...petTable, insertPet }, inFlightMax: 4 })
  const create = () => petstore.post('/pets', { name: 'Rex', categoryId: 1 })
  const writes = [create(), create(), create()]
  // This write is rejected, or one of the three if it arrives later.
  const fourth = create()
  const rejected = await Promise.race([fourth, ...writes])
  expect([rejected.status, rejected.body]).toMatchObject([503, { code: 'overloaded' }])
  for (let round = 0; round < 5; round += 1) expect((await petstore.get('/pets')).status).toBe(200)

  release()
  const statuses = (await Promise.all([fourth, ...writes])).map(({ status }) => status)
  expect(statuses.toSorted((one, other) => one - other)).toEqual([201, 201, 201, 503])
  expect((await create()).status).toBe(201)
})

test('a request with an Expect header counts against the limit', async () => {
  const { promise: released, resolve: release } = Promise.withResolvers<undefined>()
  const petTable = { ...openPetTable(db, true, 1, () => {}), findPet: () => released }
  const petstore = await startApp(db, { petTable, inFlightMax: 2 })
  const { text: apiKey } = await issueApiKey(db)
  async function get(path: string, expectation: string) {
    const headers = { authorization: `Bearer ${apiKey}`, expect: expectation }
    const sent = request(`${petstore.origin}/v1${path}`, { headers, agent: false })
    let continued = false
    sent.on('continue', () => {
      continued = true
    })
    const [response] = (await once(sent.end(), 'response')) as [IncomingMessage]
    response.resume()
    return { status: response.statusCode, connection: response.headers.connection, continued }
  }

  const inFlight = [get('/pets/1', 'a-miracle'), get('/pets/1', '100-continue')]
  await expect.poll(async () => (await petstore.get('/pets')).status).toBe(503)
  expect(await get('/pets', 'a-miracle')).toMatchObject({ status: 503 })
  // A client that gets no 100 Continue may omit the body, so the service must close the connection.
  expect(await get('/pets', '100-continue')).toEqual({ status: 503, connection: 'close', continued: false })

  release(undefined)
  expect(await Promise.all(inFlight)).toMatchObject([
    { status: 404, continued: false },
    { status: 404, continued: true },
  ])
  expect((await petstore.get('/pets')).status).toBe(200)
})

test('closing a connection frees the slots of all its pipelined requests', async () => {
  const petTable = {
    ...openPetTable(db, true, 1, () => {}),
    findPet: () => new Promise<undefined>(() => {}),
  }
  const petstore = await startApp(db, { petTable, inFlightMax: 5 })
  const { text: apiKey } = await issueApiKey(db)
  const { hostname, port } = new URL(petstore.origin)
  const socket = connect(Number(port), hostname.replaceAll(/[[\]]/g, ''))
  socket.write(`GET /v1/pets/1 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${apiKey}\r\n\r\n`.repeat(5))
  await expect.poll(async () => (await petstore.get('/pets')).status).toBe(503)
  socket.destroy()
  await expect.poll(async () => (await petstore.get('/pets')).status).toBe(200)
})

test('aborting a request frees its slot', async () => {
  const { findPet, calls } = counted(() => new Promise<undefined>(() => {}))
  const petTable = { ...openPetTable(db, true, 1, () => {}), findPet }
  const petstore = await startApp(db, { petTable, inFlightMax: 1 })
  const { text } = await issueApiKey(db)
  const controller = new AbortController()
  const abandoned = fetch(`${petstore.origin}/v1/pets/1`, {
    signal: controller.signal,
    headers: { authorization: `Bearer ${text}` },
  })
  await expect.poll(calls).toBe(1)
  expect((await petstore.get('/pets')).status).toBe(503)
  controller.abort()
  await expect(abandoned).rejects.toThrow()
  await expect.poll(async () => (await petstore.get('/pets')).status).toBe(200)
})

test('limits concurrent large bodies separately, and still accepts a small one', async () => {
  const petstore = await startApp(db)
  const { text: apiKey } = await issueApiKey(db)
  const { hostname, port } = new URL(petstore.origin)
  const large = { name: 'x'.repeat(1_000_000), categoryId: 1 }
  // 64 are enough to reach the limit. More are sent, because some may arrive after the requests below.
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

test('clients that go away while their key is checked take no memory for their bodies', async () => {
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  const verify = apiKeyVerifier(db, 'production')
  let held = 0
  const petstore = await startApp(db, {
    verifyApiKey: async (text, beforeLookUp) => {
      if (held < 64) {
        held += 1
        await released
      }
      return verify(text, beforeLookUp)
    },
  })
  const { text: apiKey } = await issueApiKey(db)
  const { hostname, port } = new URL(petstore.origin)
  const leaving = Array.from({ length: 64 }, () => connect(Number(port), hostname))
  for (const socket of leaving) {
    socket.write(
      `POST /v1/pets HTTP/1.1\r\nHost: petstore\r\nAuthorization: Bearer ${apiKey}\r\n` +
        'Content-Type: application/json\r\nContent-Length: 1048576\r\n\r\n',
    )
  }
  await until(() => held === 64)
  for (const socket of leaving) socket.destroy()
  // The service reads the ends of the connections before a later request.
  await petstore.get('/pets')
  release()
  const large = { name: 'x'.repeat(1_000_000), categoryId: 1 }
  expect((await petstore.post('/pets', large)).status).toBe(400)
  expect((await petstore.post('/pets', large)).status).toBe(400)
})
