import { expect, test } from 'vitest'
import { startApp } from '../support/app.ts'
import { createTestDatabase, openTestDatabase } from '../support/database.ts'
import { sendBytes } from '../support/raw-http.ts'

const db = openTestDatabase(await createTestDatabase())
const REMOVAL = new Date('2030-12-05T00:00:00Z')
const afterRemoval = startApp(db, { clock: () => REMOVAL })

test('getPet works until the last millisecond before 5 December 2030', async () => {
  const petstore = await startApp(db, { clock: () => new Date(REMOVAL.getTime() - 1) })
  const created = await petstore.post('/pets', { name: 'Biscuit', categoryId: 1 })
  const { id } = created.body as { id: number }
  const response = await petstore.get(`/pets/${id}`)
  expect(response.status).toBe(200)
  expect(response.body).toEqual({ id, name: 'Biscuit', categoryId: 1, status: 'available' })
  expect(created.headers.get('location')).toBe(`/v1/pets/${id}`)
})

test('from 5 December 2030 on, getPet returns 410 for any id and still links to its successor', async () => {
  const petstore = await afterRemoval
  const created = await petstore.post('/pets', { name: 'Biscuit', categoryId: 1 })
  const { id } = created.body as { id: number }
  for (const petId of [String(id), '999999', 'abc']) {
    const response = await petstore.get(`/pets/${petId}`)
    expect(response.status).toBe(410)
    expect(response.body).toMatchObject({ code: 'operation_removed' })
    expect(response.headers.get('sunset')).toBe('Thu, 05 Dec 2030 00:00:00 GMT')
    expect(response.headers.get('link')).toContain('rel="successor-version"')
  }
  const successor = await petstore.get(`/pets?id=${id}`)
  expect(successor.body).toEqual([{ id, name: 'Biscuit', categoryId: 1, status: 'available' }])
})

test('from 5 December 2030 on, the Location of a new pet is its list by id, which returns the ETag', async () => {
  const petstore = await startApp(db, { clock: () => REMOVAL, publicUrl: 'https://api.petstore.test' })
  const created = await petstore.post('/pets', { name: 'Biscuit', categoryId: 1 })
  const { id } = created.body as { id: number }
  const location = created.headers.get('location') ?? ''
  expect(location).toBe(`https://api.petstore.test/v1/pets?id=${id}`)
  const { pathname, search } = new URL(location)
  const found = await petstore.call('GET', pathname + search)
  expect(found.body).toEqual([created.body])
  expect(found.headers.get('etag')).toBe(created.headers.get('etag'))
})

test('the removed operation returns 401 without an API key', async () => {
  const petstore = await afterRemoval
  const response = await petstore.get('/pets/1', { apiKey: null })
  expect(response.status).toBe(401)
})

test('PUBLIC_URL makes every URL in a header absolute', async () => {
  const petstore = await startApp(db, { publicUrl: 'https://api.petstore.test' })
  const help = (code: string) => `<https://api.petstore.test/docs/errors#${code}>; rel="help"`
  expect((await petstore.get('/pets?limit=0')).headers.get('link')).toBe(help('invalid_parameter'))
  const [malformed] = await sendBytes(petstore.origin, 'hello there\r\n\r\n')
  expect(malformed?.headers.get('link')).toBe(help('malformed_request'))
  const full = await startApp(db, { publicUrl: 'https://api.petstore.test', inFlightMax: 0 })
  expect((await full.get('/pets')).headers.get('link')).toBe(help('overloaded'))
  const created = await petstore.post('/pets', { name: 'Luna', categoryId: 77 })
  const { id } = created.body as { id: number }
  expect(created.headers.get('location')).toBe(`https://api.petstore.test/v1/pets/${id}`)
  const got = await petstore.get(`/pets/${id}`)
  expect(got.headers.get('link')).toContain(`<https://api.petstore.test/v1/pets?id=${id}>`)
  await petstore.post('/pets', { name: 'Milo', categoryId: 77 })
  const page = await petstore.get('/pets?categoryId=77&limit=1')
  expect(page.headers.get('link')).toMatch(/^<https:\/\/api\.petstore\.test\/v1\/pets\?/)
})
