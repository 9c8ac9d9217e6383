// DELETE /v1/pets/{petId}: deletes a pet unless it has ever been ordered.
import { openLog } from '../../src/telemetry/log.ts'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { NOT_IDS, openApiFixture, openApiFixtureOn, UNKNOWN_ID } from '../support/api-fixture.ts'

const api = await openApiFixture()

test('returns 204 without a body, and no operation finds the pet afterwards', async () => {
  const { id } = await api.addPet({ name: 'Gone', categoryId: 50 })
  await api.patch(id, { status: 'sold' })
  const response = await api.remove(`/pets/${id}`)
  expect(response).toMatchObject({ status: 204, text: '' })
  expect(await api.findPet(id)).toBeUndefined()
  expect((await api.get('/pets?categoryId=50')).body).toEqual([])
  expect((await api.get('/pets?name=gone')).body).toEqual([])
  const responses = [
    await api.get(`/pets/${id}`),
    await api.get(`/pets/${id}/history`),
    await api.patch(id, { name: 'Rex' }),
    await api.remove(`/pets/${id}`),
    await api.post('/store/orders', { petId: id }),
  ]
  for (const { status, body } of responses) {
    expect({ status, body }).toMatchObject({ status: 404, body: { code: 'pet_not_found' } })
  }
  expect(await api.sql('select 1 from pet_history where pet_id = $1', [id])).toEqual([])
})

test('logs a deletion with the pet, the actor and the request id; logs no rejected deletion', async () => {
  const lines: Record<string, unknown>[] = []
  const stream = { write: (line: string) => lines.push(JSON.parse(line) as Record<string, unknown>) }
  const { writer } = openLog('silent')
  const log = Object.assign(pino({ base: null }, stream), { writeLine: () => {}, writer })
  const logging = await openApiFixtureOn(api.databaseUrl, api.db, { log })
  const { id } = await logging.addPet()
  const { id: apiKeyId, actorId } = (await logging.get('/api-keys/self')).body as {
    id: number
    actorId: number
  }
  await logging.remove(`/pets/${id}`, { 'if-match': '"9"', 'x-request-id': 'too-late' })
  await logging.remove(`/pets/${id}`, { 'x-request-id': 'mistake' })
  await logging.remove(`/pets/${id}`, { 'x-request-id': 'retry' })
  const deletions = lines.filter(({ msg }) => msg === 'pet deleted')
  expect(deletions).toEqual([
    {
      level: 30,
      time: expect.any(Number),
      actorId,
      requestId: 'mistake',
      apiKeyId,
      petId: id,
      msg: 'pet deleted',
    },
  ])
})

test('does not reuse the id of a deleted pet', async () => {
  const { id } = await api.addPet()
  await api.remove(`/pets/${id}`)
  expect((await api.addPet()).id).toBeGreaterThan(id)
})

test.each(['available', 'pending', 'sold'])('deletes a pet that is %s and has no orders', async (status) => {
  const { id } = await api.addPet({ status })
  expect((await api.remove(`/pets/${id}`)).status).toBe(204)
})

test.each([
  { when: 'while it is held', end: undefined },
  { when: 'after the order was cancelled', end: 'cancel' },
  { when: 'after it was sold', end: 'complete' },
] as const)('a pet that was ordered cannot be deleted $when (409)', async ({ end }) => {
  const { id, petId } = await api.hold()
  if (end !== undefined) await api.end(end, id)
  const pet = await api.findPet(petId)
  const response = await api.remove(`/pets/${petId}`)
  expect(response).toMatchObject({ status: 409, body: { code: 'pet_has_orders' } })
  expect(await api.findPet(petId)).toEqual(pet)
  expect((await api.history(petId)).length).toBeGreaterThan(1)
})

test.each([
  { header: '"2"', status: 204 },
  { header: '*', status: 204 },
  { header: '"1", "2"', status: 204 },
  { header: '"1"', status: 412 },
  { header: 'W/"2"', status: 412 },
  { header: '"x"', status: 412 },
])('If-Match $header for version 2 returns $status', async ({ header, status }) => {
  const { id } = await api.addPet()
  await api.patch(id, { name: 'Second' })
  const response = await api.remove(`/pets/${id}`, { 'if-match': header })
  expect(response.status).toBe(status)
  if (status === 412) expect(response.body).toMatchObject({ code: 'precondition_failed' })
  expect((await api.findPet(id)) === undefined).toBe(status === 204)
})

test.each([UNKNOWN_ID, ...NOT_IDS])('returns 404 for the pet id %s', async (petId) => {
  const response = await api.remove(`/pets/${petId}`, { 'if-match': '*' })
  expect(response).toMatchObject({ status: 404, body: { code: 'pet_not_found' } })
})

test.each([
  { what: 'an empty body with a JSON content type', body: '' },
  { what: 'an empty object', body: '{}' },
])('accepts $what', async ({ body }) => {
  const { id } = await api.addPet()
  expect((await api.call('DELETE', `/v1/pets/${id}`, { body })).status).toBe(204)
})

test('if an order and a deletion are concurrent, exactly one succeeds', async () => {
  for (let round = 0; round < 10; round += 1) {
    const { id: petId } = await api.addPet()
    const [placed, deleted] = await Promise.all([
      api.post('/store/orders', { petId }),
      api.remove(`/pets/${petId}`),
    ])
    expect([`201 409`, `404 204`]).toContain(`${placed.status} ${deleted.status}`)
    expect((await api.findPet(petId))?.status).toBe(placed.status === 201 ? 'pending' : undefined)
  }
})

test('returns 204 to one of 8 concurrent requests and 404 to the others', async () => {
  const { id } = await api.addPet()
  const responses = await Promise.all(Array.from({ length: 8 }, () => api.remove(`/pets/${id}`)))
  expect(responses.filter(({ status }) => status === 204)).toHaveLength(1)
  expect(responses.filter(({ status }) => status === 404)).toHaveLength(7)
})
