// PATCH /v1/pets/{petId}: which changes are accepted, and how the others are rejected.
import { describe, expect, test } from 'vitest'
import { NOT_IDS, openApiFixture, openApiFixtureOn, UNKNOWN_ID } from '../support/api-fixture.ts'
import { faultyFields, type Pet } from '../support/pets.ts'

const api = await openApiFixture()
const STATUSES = ['available', 'pending', 'sold']

describe('updating a pet', () => {
  test.each([
    { change: { name: ' Zoë 🐕 ' } },
    { change: { categoryId: 9 } },
    { change: { status: 'sold' } },
    { change: { name: 'Rex', categoryId: 8, status: 'pending' } },
    { change: { name: 'n'.repeat(500), reason: 'r'.repeat(500) } },
    { change: { name: '🐕'.repeat(500), reason: '🐕'.repeat(500) } },
  ])('returns and stores the change $change, and adds it to the history', async ({ change }) => {
    const pet = await api.addPet()
    const { reason, ...fields } = change as Partial<Pet> & { reason?: string }
    const response = await api.patch(pet.id, change)
    expect(response.status).toBe(200)
    expect(response.body).toEqual({ ...pet, ...fields })
    expect(await api.findPet(pet.id)).toEqual({ ...pet, ...fields })
    const [entry] = await api.history(pet.id)
    const before = Object.keys(fields).map((field) => [field, pet[field as keyof Pet]])
    expect(entry).toEqual({
      at: expect.any(String),
      event: 'updated',
      from: Object.fromEntries(before),
      to: fields,
      actor: 'staff',
      requestId: response.headers.get('x-request-id'),
      ...(reason === undefined ? {} : { reason }),
    })
  })

  test('keeps a category id of 19 digits exactly', async () => {
    const { id } = await api.addPet()
    const response = await api.patch(id, '{"categoryId": 9223372036854775807}')
    expect(response.text).toContain('"categoryId":9223372036854775807')
    expect((await api.findPet(id))?.categoryId).toBe(9223372036854775807n)
    const same = await api.patch(id, '{"categoryId": 9223372036854775807}')
    expect(same.headers.get('etag')).toBe('"2"')
    const near = await api.patch(id, '{"categoryId": 9223372036854775806}')
    expect(near.headers.get('etag')).toBe('"3"')
  })

  test.each([
    { what: 'no fields', change: {} },
    { what: 'a reason alone', change: { reason: 'why not' } },
    { what: 'the same values', change: { name: 'Biscuit', categoryId: 1, status: 'available', reason: 'x' } },
  ])('with $what returns 200, and adds no version and no history entry', async ({ change }) => {
    const pet = await api.addPet()
    const response = await api.patch(pet.id, change)
    expect(response).toMatchObject({ status: 200, body: pet })
    expect(response.headers.get('etag')).toBe('"1"')
    expect(await api.history(pet.id)).toHaveLength(1)
  })

  test('with an unknown field returns 400, names the nearest field, and changes nothing', async () => {
    const pet = await api.addPet()
    const response = await api.patch(pet.id, { name: 'Mallory', id: 7, Name: 'x' })
    expect(response).toMatchObject({
      status: 400,
      body: {
        code: 'invalid_body',
        details: [
          { field: 'id', code: 'unknown_field' },
          {
            field: 'Name',
            code: 'unknown_field',
            message: 'Name is not a field of this body. Did you mean name?',
          },
        ],
      },
    })
    expect(await api.findPet(pet.id)).toEqual(pet)
  })

  test('records only the fields whose value changed', async () => {
    const pet = await api.addPet()
    const { id: _id, ...fields } = pet
    await api.patch(pet.id, { ...fields, name: 'Rex' })
    const [entry] = await api.history(pet.id)
    expect(entry).toMatchObject({ from: { name: 'Biscuit' }, to: { name: 'Rex' } })
    expect(entry?.to).toEqual({ name: 'Rex' })
  })

  test('applies all of 16 concurrent changes', async () => {
    const { id } = await api.addPet()
    const responses = await Promise.all(
      Array.from({ length: 16 }, (_, index) => api.patch(id, { name: `Name ${index}` })),
    )
    const tags = responses.map(({ headers }) => headers.get('etag'))
    expect(new Set(tags)).toEqual(new Set(Array.from({ length: 16 }, (_, index) => `"${index + 2}"`)))
    expect(await api.history(id)).toHaveLength(17)
  })
})

describe('an invalid change', () => {
  test.each([
    { sent: { name: '' }, fields: ['name'] },
    { sent: { name: ' \t' }, fields: ['name'] },
    { sent: { name: 'n'.repeat(501) }, fields: ['name'] },
    { sent: { name: 'a\0b' }, fields: ['name'] },
    { sent: { name: null, categoryId: null, status: null }, fields: ['categoryId', 'name', 'status'] },
    { sent: { categoryId: 0 }, fields: ['categoryId'] },
    { sent: { categoryId: '5', status: 'gone' }, fields: ['categoryId', 'status'] },
    { sent: { reason: '' }, fields: ['reason'] },
    { sent: { reason: 'r'.repeat(501) }, fields: ['reason'] },
    { sent: { reason: 7 }, fields: ['reason'] },
    {
      sent: { name: 7, categoryId: 1.5, status: 1, reason: {} },
      fields: ['categoryId', 'name', 'reason', 'status'],
    },
  ])('$sent is rejected (400) with the fields $fields, and changes nothing', async ({ sent, fields }) => {
    const pet = await api.addPet()
    const response = await api.patch(pet.id, { name: 'Other', ...sent })
    expect(response).toMatchObject({ status: 400, body: { code: 'invalid_body' } })
    expect(faultyFields(response)).toEqual(fields)
    expect(await api.findPet(pet.id)).toEqual(pet)
  })

  test.each([
    { body: undefined, code: 'missing_body' },
    { body: '{', code: 'invalid_json' },
    { body: 'null', code: 'invalid_body' },
    { body: '[]', code: 'invalid_body' },
  ])('with the body $body is rejected (400 $code)', async ({ body, code }) => {
    const { id } = await api.addPet()
    const response = await api.call('PATCH', `/v1/pets/${id}`, { body })
    expect(response).toMatchObject({ status: 400, body: { code } })
  })

  test.each([UNKNOWN_ID, ...NOT_IDS])(
    'to the pet id %s, which does not exist, returns 404',
    async (petId) => {
      const response = await api.call('PATCH', `/v1/pets/${petId}`, { body: { name: 'Rex' } })
      expect(response).toMatchObject({ status: 404, body: { code: 'pet_not_found' } })
    },
  )

  test('to an unnamed category is rejected with CATEGORIES=strict (400); other fields can change', async () => {
    const strict = await openApiFixtureOn(api.databaseUrl, api.db, { categoryPolicy: 'strict' })
    await api.put('/categories/70', { name: 'Cats' })
    const { id } = await api.addPet({ categoryId: 71 })
    const rejected = await strict.patch(id, { categoryId: 72 })
    expect(rejected).toMatchObject({ status: 400, body: { code: 'unknown_category' } })
    expect(faultyFields(rejected)).toEqual(['categoryId'])
    expect((await strict.patch(id, { categoryId: 71, name: 'Rex' })).status).toBe(200)
    expect((await strict.patch(id, { categoryId: 70 })).status).toBe(200)
  })
})

describe('updating the status', () => {
  const transitions = STATUSES.flatMap((from) =>
    STATUSES.map((to) => ({ from, to, expected: from === 'sold' && to === 'pending' ? 409 : 200 })),
  )

  test.each(transitions)('from $from to $to returns $expected', async ({ from, to, expected }) => {
    const pet = await api.addPet({ status: from })
    const response = await api.patch(pet.id, { status: to, name: 'Rex' })
    if (expected === 409) {
      expect(response).toMatchObject({ status: 409, body: { code: 'invalid_transition' } })
      expect(await api.findPet(pet.id)).toEqual(pet)
    } else {
      expect(response).toMatchObject({ status: 200, body: { status: to, name: 'Rex' } })
    }
  })

  test.each(['available', 'sold'])('of a held pet to %s returns 409', async (status) => {
    const { id, petId } = await api.hold()
    const response = await api.patch(petId, { status, name: 'Rex' })
    expect(response).toMatchObject({ status: 409, body: { code: 'pet_on_hold' } })
    expect(await api.findPet(petId)).toMatchObject({ status: 'pending', name: 'Biscuit' })
    await api.end('cancel', id)
    expect((await api.patch(petId, { status: 'sold' })).status).toBe(200)
  })

  test('of a held pet to pending, together with its name and category, returns 200', async () => {
    const { id, petId } = await api.hold()
    const response = await api.patch(petId, { name: 'Rex', categoryId: 2, status: 'pending' })
    expect(response).toMatchObject({ status: 200, body: { name: 'Rex', status: 'pending' } })
    expect((await api.end('complete', id)).status).toBe(200)
    expect(await api.findPet(petId)).toEqual({ id: petId, name: 'Rex', categoryId: 2, status: 'sold' })
  })
})

describe('the version of a pet', () => {
  test('increases with each update and with each order', async () => {
    const created = await api.post('/pets', { name: 'Biscuit', categoryId: 1 })
    const { id: petId } = created.body as Pet
    const seen = [created.headers.get('etag')]
    const readVersion = async () => seen.push((await api.get(`/pets/${petId}`)).headers.get('etag'))
    await api.patch(petId, { name: 'Rex' })
    await readVersion()
    const order = await api.hold({ petId })
    await readVersion()
    await api.end('cancel', order.id)
    await readVersion()
    seen.push((await api.patch(petId, { status: 'sold' })).headers.get('etag'))
    expect(seen).toEqual(['"1"', '"2"', '"3"', '"4"', '"5"'])
  })

  test.each([
    { header: '"2"', status: 200 },
    { header: '*', status: 200 },
    { header: '"1", "2"', status: 200 },
    { header: '"7","2","9"', status: 200 },
    { header: '"1"', status: 412 },
    { header: '"3"', status: 412 },
    { header: 'W/"2"', status: 412 },
    { header: '"02"', status: 412 },
    { header: '"1", "3"', status: 412 },
    { header: '"*"', status: 412 },
    { header: '', status: 412 },
    { header: ' , ', status: 412 },
  ])('If-Match $header returns $status for version 2', async ({ header, status }) => {
    const pet = await api.addPet()
    await api.patch(pet.id, { name: 'Second' })
    const response = await api.patch(pet.id, { name: 'Third' }, { 'if-match': header })
    if (status === 200) {
      expect(response).toMatchObject({ status: 200, body: { name: 'Third' } })
      expect(response.headers.get('etag')).toBe('"3"')
    } else {
      expect(response).toMatchObject({ status: 412, body: { code: 'precondition_failed' } })
      expect(await api.findPet(pet.id)).toMatchObject({ name: 'Second' })
    }
  })

  test('a weak ETag returns 412, and the message says what to send', async () => {
    const { id } = await api.addPet()
    const { body } = await api.patch(id, { name: 'Second' }, { 'if-match': 'W/"1"' })
    expect(body).toMatchObject({
      code: 'precondition_failed',
      message: expect.stringContaining('without W/'),
    })
    const unknown = await api.patch(99_999, { name: 'Second' }, { 'if-match': 'W/"1"' })
    expect(unknown.status).toBe(404)
  })

  test.each(['2', 'nonsense', '"2', '2"', '**', '*, "2"', "'2'", '"1", 2', 'w/"2"', 'é'])(
    'If-Match %s, which is no ETag in quotes, returns 400 and changes nothing',
    async (header) => {
      const pet = await api.addPet()
      await api.patch(pet.id, { name: 'Second' })
      const message = 'If-Match must be an ETag in quotes, such as "3".'
      const rejection = {
        status: 400,
        body: { code: 'invalid_parameter', details: [{ field: 'if-match', code: 'invalid_etag', message }] },
      }
      expect(await api.patch(pet.id, { name: 'Third' }, { 'if-match': header })).toMatchObject(rejection)
      expect(await api.remove(`/pets/${pet.id}`, { 'if-match': header })).toMatchObject(rejection)
      expect(await api.findPet(pet.id)).toMatchObject({ name: 'Second' })
    },
  )

  test('lets one of 16 concurrent updates with the same If-Match succeed; the other 15 return 412', async () => {
    const { id } = await api.addPet()
    const responses = await Promise.all(
      Array.from({ length: 16 }, (_, index) => api.patch(id, { name: `${index}` }, { 'if-match': '"1"' })),
    )
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(responses.filter(({ status }) => status === 412)).toHaveLength(15)
  })

  test('must match If-Match even if the update changes nothing (412); an unknown pet returns 404', async () => {
    const { id } = await api.addPet()
    expect((await api.patch(id, {}, { 'if-match': '"9"' })).status).toBe(412)
    const unknown = await api.call('PATCH', `/v1/pets/${UNKNOWN_ID}`, {
      body: {},
      headers: { 'if-match': '*' },
    })
    expect(unknown.status).toBe(404)
  })
})
