// POST /v1/pet-changes: many creates, updates and deletions in one request, with a result for each.
import { describe, expect, inject, test } from 'vitest'
import { openTestClient } from '../support/client.ts'
import { addPet, faultyFields } from '../support/pets.ts'

const { origin, apiKey } = inject('contract')
const petstore = openTestClient({ origin, apiKey }, { retriesBusy: true })
/** No test creates this many pets. */
const UNKNOWN_ID = Number.MAX_SAFE_INTEGER

interface Result {
  status: number
  pet?: { id: number; name: string; categoryId: number; status: string }
  version?: number
  error?: { code: string; status: number; details?: { field: string; code: string }[] }
}

const send = (changes: unknown, headers: Record<string, string> = {}) =>
  petstore.call('POST', '/v1/pet-changes', { body: { changes }, headers })

async function change(...changes: object[]): Promise<Result[]> {
  const response = await send(changes)
  expect(response.status, response.text).toBe(200)
  return (response.body as { results: Result[] }).results
}

const read = async (id: number) => (await petstore.get(`/pets?id=${id}`)).body
const newKey = () => ({ 'idempotency-key': crypto.randomUUID() })

describe('changes of many pets', () => {
  test('are made, with a result for each in the same order', async () => {
    const [toUpdate, toDelete] = [await addPet(petstore), await addPet(petstore)]
    const results = await change(
      { delete: { petId: toDelete.id } },
      { create: { name: 'Biscuit', categoryId: 3 } },
      { update: { petId: toUpdate.id, name: 'Rex', status: 'sold' } },
      { create: { name: 'Tom', categoryId: 4, status: 'pending' } },
    )
    const updated = { ...toUpdate, name: 'Rex', status: 'sold' }
    const [, biscuit, , tom] = results
    expect(results).toEqual([
      { status: 204 },
      {
        status: 201,
        pet: { id: biscuit?.pet?.id, name: 'Biscuit', categoryId: 3, status: 'available' },
        version: 1,
      },
      { status: 200, pet: updated, version: 2 },
      { status: 201, pet: { id: tom?.pet?.id, name: 'Tom', categoryId: 4, status: 'pending' }, version: 1 },
    ])
    for (const { pet } of results) if (pet !== undefined) expect(await read(pet.id)).toEqual([pet])
    expect(await read(toDelete.id)).toEqual([])
  })

  test('do not create a pet with a price in another currency than that of the store', async () => {
    const pet = { name: 'Biscuit', categoryId: 3 }
    const results = await change(
      { create: { ...pet, profile: { price: '129.00', currency: 'USD' } } },
      { create: { ...pet, profile: { price: '129.00', currency: 'EUR' } } },
    )
    expect(results).toMatchObject([
      {
        status: 400,
        error: {
          code: 'currency_mismatch',
          details: [{ field: 'profile.currency', code: 'currency_mismatch' }],
        },
      },
      { status: 201 },
    ])
  })

  test('create pets with their profiles', async () => {
    const profile = {
      price: '129.00',
      breed: 'Beagle',
      sex: 'female',
      bornOn: '2025-05-31',
      chipNumber: 'A1',
    }
    const results = await change(
      { create: { name: 'Biscuit', categoryId: 3, profile } },
      { create: { name: 'Tom', categoryId: 3, profile: {} } },
    )
    const [first, second] = results.map(({ pet }) => pet?.id as number)
    const stored = await petstore.get(`/pets/${first}/profile`)
    expect(stored.body).toEqual({ petId: first, currency: 'EUR', ...profile })
    expect(stored.headers.get('etag')).toBe('"1"')
    const { body: history } = await petstore.get(`/pets/${first}/history`)
    expect(history).toMatchObject([{ event: 'updated', to: profile }, { event: 'created' }])
    expect((await petstore.get(`/pets/${second}/profile`)).text).toBe(`{"petId":${second}}`)
    expect((await petstore.get(`/pets/${second}/history`)).body).toHaveLength(1)
  })

  test('have the version and the history of single changes', async () => {
    const pet = await addPet(petstore)
    const update = { petId: pet.id, categoryId: 9, reason: 'moved' }
    expect(await change({ update })).toMatchObject([{ status: 200, version: 2 }])
    expect((await petstore.get(`/pets?id=${pet.id}`)).headers.get('etag')).toBe('"2"')
    expect((await petstore.get(`/pets/${pet.id}/history`)).body).toMatchObject([
      { event: 'updated', from: { categoryId: pet.categoryId }, to: { categoryId: 9 }, reason: 'moved' },
      { event: 'created' },
    ])
    // Nothing changes, so there is no new version.
    expect(await change({ update })).toEqual([{ status: 200, version: 2 }])
  })

  test('of 100 pets are made at once', async () => {
    const created = await change(
      ...Array.from({ length: 100 }, (_, index) => ({ create: { name: `Pet ${index}`, categoryId: 5 } })),
    )
    expect(created.map(({ pet }) => pet?.name)).toEqual(created.map((_, index) => `Pet ${index}`))
    const updates = created.map(({ pet }) => ({ update: { petId: pet?.id, status: 'sold' } }))
    const updated = await change(...updates.toReversed())
    expect(updated.map(({ pet }) => pet?.id)).toEqual(created.map(({ pet }) => pet?.id).toReversed())
    expect(new Set(updated.map(({ status, version }) => `${status} ${version}`))).toEqual(new Set(['200 2']))
  })

  test('fail alone: a change that fails does not undo another one', async () => {
    const [pet, stale] = [await addPet(petstore), await addPet(petstore)]
    await petstore.call('PATCH', `/v1/pets/${stale.id}`, { body: { name: 'Other' } })
    const results = await change(
      { create: { name: '', categoryId: 3 } },
      { update: { petId: UNKNOWN_ID, name: 'Rex' } },
      { create: { name: 'Good', categoryId: 3 } },
      { update: { petId: stale.id, version: 1, name: 'Rex' } },
      { update: { petId: pet.id, version: 1, name: 'Rex' } },
      { delete: { petId: UNKNOWN_ID - 1 } },
    )
    expect(results.map(({ status, error }) => [status, error?.code])).toEqual([
      [400, 'invalid_body'],
      [404, 'pet_not_found'],
      [201, undefined],
      [412, 'precondition_failed'],
      [200, undefined],
      [404, 'pet_not_found'],
    ])
    expect(await read(pet.id)).toMatchObject([{ name: 'Rex' }])
    expect(await read(stale.id)).toMatchObject([{ name: 'Other' }])
  })

  test('have exactly the errors of the operations for one pet', async () => {
    const sold = await addPet(petstore, { status: 'sold' })
    const stale = await addPet(petstore)
    const bodies = [{ name: 5, categoryId: 0, status: 'lost' }, { name: 'x'.repeat(501), categoryId: 1 }, {}]
    for (const body of bodies) {
      const alone = await petstore.call('POST', '/v1/pets', { body })
      expect(await change({ create: body })).toEqual([{ status: alone.status, error: alone.body }])
    }
    const patch = await petstore.call('PATCH', `/v1/pets/${sold.id}`, { body: { status: 'pending' } })
    expect(await change({ update: { petId: sold.id, status: 'pending' } })).toEqual([
      { status: 409, error: patch.body },
    ])
    const deletion = await petstore.call('DELETE', `/v1/pets/${stale.id}`, { headers: { 'if-match': '"2"' } })
    expect(await change({ delete: { petId: stale.id, version: 2 } })).toEqual([
      { status: 412, error: deletion.body },
    ])
    const faulty = { price: '1', bornOn: '9999-01-01', sex: 'x' }
    const [result] = await change({ create: { name: 'x', categoryId: 1, profile: faulty } })
    expect(result?.error?.details?.map(({ field }) => field)).toEqual(['profile.sex'])
    const [second] = await change({
      create: { name: 'x', categoryId: 1, profile: { ...faulty, sex: 'male' } },
    })
    expect(second?.error?.details?.map(({ field }) => field)).toEqual(['profile.price', 'profile.bornOn'])
  })
})

describe('a body of the wrong shape is rejected as a whole (400):', () => {
  const good = { create: { name: 'Never', categoryId: 1 } }
  test.each([
    { what: 'no list', changes: undefined, fields: ['changes'] },
    { what: 'an object', changes: {}, fields: ['changes'] },
    { what: 'no change', changes: [], fields: ['changes'] },
    { what: '101 changes', changes: Array.from({ length: 101 }, () => good), fields: ['changes'] },
    { what: 'an empty change', changes: [good, {}], fields: ['changes.1'] },
    {
      what: 'an unknown kind',
      changes: [good, { replace: {} }],
      fields: ['changes.1', 'changes.1.replace'],
    },
    { what: 'two kinds', changes: [good, { ...good, delete: { petId: 1 } }], fields: ['changes.1'] },
    { what: 'null', changes: [null, good], fields: ['changes.0'] },
    { what: 'a list instead of a pet', changes: [{ create: [] }, good], fields: ['changes.0.create'] },
    {
      what: 'two changes of one pet',
      changes: [{ update: { petId: 7, name: '' } }, good, { delete: { petId: 7 } }],
      fields: ['changes.2'],
    },
  ])('$what', async ({ changes, fields }) => {
    const response = await send(changes)
    expect(response).toMatchObject({ status: 400, body: { code: 'invalid_body' } })
    expect(faultyFields(response)).toEqual(fields)
  })
})

describe('with an Idempotency-Key, changes', () => {
  test('are made once, and a retry gets the same bytes', async () => {
    const [pet, toDelete] = [await addPet(petstore), await addPet(petstore)]
    const changes = [
      { create: { name: 'Once', categoryId: 6, profile: { price: '5.00' } } },
      { create: { name: '', categoryId: 6 } },
      { update: { petId: pet.id, name: 'Once' } },
      { delete: { petId: toDelete.id } },
    ]
    const headers = newKey()
    const first = await send(changes, headers)
    const retry = await send(changes, headers)
    expect(retry.text).toBe(first.text)
    expect(retry.headers.get('idempotency-replayed')).toBe('true')
    expect(first.headers.get('idempotency-replayed')).toBeNull()
    expect((await petstore.get(`/pets?id=${pet.id}`)).headers.get('etag')).toBe('"2"')
  })

  test.each([
    {
      what: 'a profile',
      changes: [
        { create: { name: 'A', categoryId: 6, profile: { breed: 'Pug' } } },
        { delete: { petId: UNKNOWN_ID } },
      ],
    },
    {
      what: 'another order',
      changes: [{ delete: { petId: UNKNOWN_ID } }, { create: { name: 'A', categoryId: 6 } }],
    },
    { what: 'one change less', changes: [{ create: { name: 'A', categoryId: 6 } }] },
    {
      what: 'another fault',
      changes: [{ create: { name: 'A', categoryId: 0 } }, { delete: { petId: UNKNOWN_ID } }],
    },
  ])('reject a request with the same key and $what (422)', async ({ changes }) => {
    const headers = newKey()
    const own = [{ create: { name: 'A', categoryId: 6 } }, { delete: { petId: UNKNOWN_ID } }]
    expect(await send(own, headers)).toMatchObject({ status: 200 })
    expect(await send(changes, headers)).toMatchObject({
      status: 422,
      body: { code: 'idempotency_key_reused' },
    })
  })

  test('ignore the order of fields', async () => {
    const headers = newKey()
    const first = await send([{ create: { name: 'A', categoryId: 6 } }], headers)
    const retry = await send([{ create: { status: 'available', categoryId: 6, name: 'A' } }], headers)
    expect(retry).toMatchObject({ status: 200, text: first.text })
  })
})
