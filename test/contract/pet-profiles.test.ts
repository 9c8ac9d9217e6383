// GET and PUT /v1/pets/{petId}/profile and GET /v1/pet-profiles: the price of a pet and facts about it.
import { randomUUID } from 'node:crypto'
import { describe, expect, inject, test } from 'vitest'
import { openTestClient } from '../support/client.ts'
import { addPet, faultyFields } from '../support/pets.ts'
import { FULL_PROFILE } from '../support/profile.ts'

const { origin, apiKey } = inject('contract')
const petstore = openTestClient({ origin, apiKey }, { retriesBusy: true })
/** The largest int64: the sequence never reaches it. */
const UNKNOWN_ID = '9223372036854775807'

const RUN = randomUUID()
const get = (petId: number | string) => petstore.get(`/pets/${petId}/profile`)
const put = (petId: number | string, body: unknown, headers: Record<string, string> = {}) =>
  petstore.call('PUT', `/v1/pets/${petId}/profile`, { body, headers })

/** A chip number that no other test uses. */
let chips = 0
const newChipNumber = () => `chip${Date.now()}x${(chips += 1)}`

/** No two pets can have the same reference. */
const ownProfile = (id: number | string) => ({ ...FULL_PROFILE, reference: `SKU-${id}-${RUN}` })

describe('the profile of a pet', () => {
  test('is empty and has the ETag "0" before its first change', async () => {
    const { id } = await addPet(petstore)
    const response = await get(id)
    expect(response).toMatchObject({ status: 200, body: { petId: id } })
    expect(response.text).toBe(`{"petId":${id}}`)
    expect(response.headers.get('etag')).toBe('"0"')
  })

  test('has all fields that were sent, and the currency of the price', async () => {
    const { id } = await addPet(petstore)
    const profile = ownProfile(id)
    const changed = await put(id, profile)
    expect(changed).toMatchObject({ status: 200 })
    expect(changed.body).toEqual({ petId: id, currency: 'EUR', ...profile })
    expect(changed.headers.get('etag')).toBe('"1"')
    const read = await get(id)
    expect(read.text).toBe(changed.text)
    expect(read.headers.get('etag')).toBe('"1"')
  })

  test('is replaced as a whole: a field that is absent has no value afterwards', async () => {
    const { id } = await addPet(petstore)
    await put(id, ownProfile(id))
    const response = await put(id, { breed: 'Pug' })
    expect(response.body).toEqual({ petId: id, breed: 'Pug' })
    expect((await put(id, {})).body).toEqual({ petId: id })
    const read = await get(id)
    expect(read.body).toEqual({ petId: id })
    expect(read.headers.get('etag')).toBe('"3"')
  })

  test.each([
    { what: 'the same values', first: ownProfile('same'), second: ownProfile('same'), etag: '"1"' },
    { what: 'no values, before the first change', first: {}, second: {}, etag: '"0"' },
  ])('does not change with $what', async ({ first, second, etag }) => {
    const { id } = await addPet(petstore)
    const before = await put(id, first)
    const after = await put(id, second)
    expect(after).toMatchObject({ status: 200, text: before.text })
    expect(after.headers.get('etag')).toBe(etag)
  })

  test.each(['0.00', '0.01', '9999999999.99'])('keeps the digits of the price %s', async (price) => {
    const { id } = await addPet(petstore)
    expect((await put(id, { price })).body).toMatchObject({ price, currency: 'EUR' })
    expect((await get(id)).body).toMatchObject({ price })
  })

  test.each([
    ['129', 'price must have 2 decimal places, such as 129.00, because its currency is EUR.'],
    ['129.0', 'price must have 2 decimal places, such as 129.00, because its currency is EUR.'],
    ['129.000', 'price must have 2 decimal places, such as 129.00, because its currency is EUR.'],
    ...[
      '',
      '-1.00',
      '+1.00',
      '1,00',
      '01.00',
      '1e2',
      '.50',
      '1.',
      ' 1.00',
      '1.00\n',
      '10000000000.00',
      'NaN',
    ].map((price) => [
      price,
      'price must be an amount as text, such as 129.00, with at most 10 digits before the point.',
    ]),
  ])('rejects the price %j (400) and says what to send', async (price, message) => {
    const { id } = await addPet(petstore)
    const response = await put(id, { price })
    expect(response).toMatchObject({ status: 400, body: { code: 'invalid_body' } })
    expect(response.body).toMatchObject({ details: [{ field: 'price', code: 'invalid_format', message }] })
    expect((await get(id)).headers.get('etag')).toBe('"0"')
  })

  test.each([{ price: '5.00', currency: 'USD' }, { price: '5', currency: 'JPY' }, { currency: 'USD' }])(
    'rejects %j, because the store has another currency (400)',
    async (fields) => {
      const { id } = await addPet(petstore)
      const before = await put(id, ownProfile(id))
      const response = await put(id, { ...ownProfile(id), ...fields })
      expect(response).toMatchObject({ status: 400, body: { code: 'currency_mismatch' } })
      expect(response.body).toMatchObject({ details: [{ field: 'currency', code: 'currency_mismatch' }] })
      expect((await get(id)).text).toBe(before.text)
    },
  )

  test('accepts the currency of the store', async () => {
    const { id } = await addPet(petstore)
    const fields = { price: '5.00', currency: 'EUR' }
    expect((await put(id, fields)).body).toEqual({ petId: id, ...fields })
  })

  test.each(
    [
      { price: 129 },
      { breed: '' },
      { breed: ' \t' },
      { breed: 'x'.repeat(101) },
      { breed: 'Bea\ngle' },
      { breed: 'Bea\u0007gle' },
      { sex: 'f' },
      { bornOn: '2025-02-29' },
      { bornOn: '1899-12-31' },
      { bornOn: '2025-5-31' },
      { bornOn: '31.05.2025' },
      { bornOn: 'infinity' },
      { bornOn: '9999-12-31' },
      { chipNumber: '' },
      { chipNumber: 'x'.repeat(41) },
      { chipNumber: '276 098' },
      { chipNumber: 'é1' },
      { description: '\n' },
      { description: 'x'.repeat(2_001) },
      { description: 'a\tb' },
      { description: 'a\0b' },
      { breed: null },
    ].map((fields) => [JSON.stringify(fields).slice(0, 30), fields] as const),
  )('rejects %s (400)', async (_text, fields) => {
    const { id } = await addPet(petstore)
    const response = await put(id, fields)
    expect(response).toMatchObject({ status: 400, body: { code: 'invalid_body' } })
    expect(faultyFields(response)).toEqual(Object.keys(fields))
  })

  test.each(
    [
      { breed: '🐕'.repeat(100) },
      { sex: 'unknown' },
      { bornOn: '1900-01-01' },
      { bornOn: '2024-02-29' },
      { chipNumber: 'aZ09'.repeat(10) },
      { description: '🐕'.repeat(2_000) },
    ].map((fields) => [JSON.stringify(fields).slice(0, 30), fields] as const),
  )('accepts and returns %s', async (_text, fields) => {
    const { id } = await addPet(petstore)
    expect((await put(id, fields)).body).toEqual({ petId: id, ...fields })
    expect((await get(id)).body).toEqual({ petId: id, ...fields })
  })

  test('accepts the date of today in every time zone, and rejects the day after (400)', async () => {
    const { id } = await addPet(petstore)
    const dateIn = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString().slice(0, 10)
    expect((await put(id, { bornOn: dateIn(13.9) })).status).toBe(200)
    const response = await put(id, { bornOn: dateIn(40), price: '1' })
    expect(response).toMatchObject({ status: 400, body: { code: 'invalid_body' } })
    expect(faultyFields(response)).toEqual(['bornOn', 'price'])
  })

  test.each([UNKNOWN_ID, '0', 'abc'])('of the pet %s is not found (404)', async (petId) => {
    expect(await get(petId)).toMatchObject({ status: 404, body: { code: 'pet_not_found' } })
    expect(await put(petId, {})).toMatchObject({ status: 404, body: { code: 'pet_not_found' } })
  })

  test('is deleted with its pet', async () => {
    const { id } = await addPet(petstore)
    await put(id, ownProfile(id))
    expect((await petstore.call('DELETE', `/v1/pets/${id}`)).status).toBe(204)
    expect((await get(id)).status).toBe(404)
    expect((await petstore.get(`/pet-profiles?petId=${id}`)).body).toEqual([])
  })
})

describe('If-Match', () => {
  test('replaces the profile only if it has this version (412)', async () => {
    const { id } = await addPet(petstore)
    expect((await put(id, { breed: 'one' }, { 'if-match': '"0"' })).status).toBe(200)
    const stale = await put(id, { breed: 'two' }, { 'if-match': '"0"' })
    expect(stale).toMatchObject({ status: 412, body: { code: 'precondition_failed' } })
    expect((await get(id)).body).toEqual({ petId: id, breed: 'one' })
    expect((await put(id, { breed: 'two' }, { 'if-match': '"1"' })).headers.get('etag')).toBe('"2"')
  })

  test('lets one of 16 concurrent changes of the same version succeed', async () => {
    const { id } = await addPet(petstore)
    for (let version = 0; version < 3; version += 1) {
      const changes = Array.from({ length: 16 }, (_, index) =>
        put(id, { breed: `${version} ${index}` }, { 'if-match': `"${version}"` }),
      )
      const statuses = (await Promise.all(changes)).map(({ status }) => status)
      expect(statuses.filter((status) => status === 200)).toHaveLength(1)
      expect(statuses.filter((status) => status === 412)).toHaveLength(15)
    }
  })
})

test('a profile changes neither the pet nor its ETag, byte for byte', async () => {
  const pet = await addPet(petstore)
  const paths = [
    `/pets?id=${pet.id}`,
    `/pets/${pet.id}`,
    `/pets?categoryId=${pet.categoryId}`,
    `/pets?categoryId=${pet.categoryId}&status=available`,
  ]
  const readAll = () =>
    Promise.all(
      paths.map(async (path) => {
        const { status, headers, text } = await petstore.get(path)
        const own = [...headers].filter(([name]) => !['x-request-id', 'date'].includes(name))
        return { status, headers: own, text }
      }),
    )
  const before = await readAll()
  await put(pet.id, ownProfile(pet.id))
  await put(pet.id, { breed: 'Pug' })
  expect(await readAll()).toEqual(before)
  const response = await petstore.call('PATCH', `/v1/pets/${pet.id}`, {
    body: { name: 'Rex' },
    headers: { 'if-match': '"1"' },
  })
  expect(response.status).toBe(200)
})

describe('the list of profiles', () => {
  test('has the stored profiles of the given pets, newest pet first', async () => {
    const pets = [await addPet(petstore), await addPet(petstore), await addPet(petstore)] as const
    await put(pets[2].id, { breed: 'two' })
    await put(pets[0].id, { breed: 'zero', price: '1.00' })
    const ids = pets.map(({ id }) => `petId=${id}`).join('&')
    const response = await petstore.get(`/pet-profiles?${ids}&petId=${pets[0].id}&petId=${UNKNOWN_ID}`)
    expect(response.body).toEqual([
      { petId: pets[2].id, breed: 'two' },
      { petId: pets[0].id, price: '1.00', currency: 'EUR', breed: 'zero' },
    ])
  })

  test('has the profiles with exactly the chip number, newest pet first', async () => {
    const chipNumber = newChipNumber()
    const pets = [await addPet(petstore), await addPet(petstore), await addPet(petstore)] as const
    await put(pets[1].id, { chipNumber })
    await put(pets[0].id, { chipNumber })
    await put(pets[2].id, { chipNumber: `${chipNumber}0` })
    const find = async () => (await petstore.get(`/pet-profiles?chipNumber=${chipNumber}`)).body
    expect(await find()).toEqual([
      { petId: pets[1].id, chipNumber },
      { petId: pets[0].id, chipNumber },
    ])
    await put(pets[1].id, {})
    expect(await find()).toEqual([{ petId: pets[0].id, chipNumber }])
    expect((await petstore.get(`/pet-profiles?chipNumber=${chipNumber.toUpperCase()}`)).body).toEqual([])
  })

  test.each([
    { what: 'no parameter', query: '', field: 'petId' },
    { what: 'both parameters', query: 'petId=1&chipNumber=x', field: 'petId' },
    { what: 'an empty id', query: 'petId=', field: 'petId' },
    { what: 'the id 0', query: 'petId=0', field: 'petId' },
    { what: '101 ids', query: 'petId=1&'.repeat(101), field: 'petId' },
    { what: 'an empty chip number', query: 'chipNumber=', field: 'chipNumber' },
    { what: 'a chip number with a dash', query: 'chipNumber=a-b', field: 'chipNumber' },
    { what: 'two chip numbers', query: 'chipNumber=a&chipNumber=b', field: 'chipNumber' },
  ])('rejects $what (400)', async ({ query, field }) => {
    const response = await petstore.get(`/pet-profiles?${query}`)
    expect(response).toMatchObject({ status: 400, body: { code: 'invalid_parameter' } })
    expect([...new Set(faultyFields(response))]).toEqual([field])
  })
})
