// Category ids are 64-bit integers and keep every digit in requests and responses.
import { expect, inject, test } from 'vitest'
import { openTestClient } from '../support/client.ts'
import { faultyFields, linkTo, type Pet, rows } from '../support/pets.ts'

const petstore = openTestClient(inject('contract'), { retriesBusy: true })

/** Takes the id as text, because JavaScript would round a large number. */
function create(categoryId: string) {
  return petstore.post('/pets', `{"name": "Biscuit", "categoryId": ${categoryId}, "status": "sold"}`)
}

test.each([
  '9223372036854775807',
  '9223372036854775806',
  '9007199254740993',
  '9007199254740992',
  '9007199254740991',
  '1234567890123456789',
  '1000000000000000001',
])('creates, reads, lists and filters category %s without rounding', async (categoryId) => {
  const field = `"categoryId":${categoryId},`
  const created = await create(categoryId)
  expect(created.status).toBe(201)
  expect(created.text).toContain(field)
  const { id } = created.body as Pet
  expect((await petstore.get(`/pets/${id}`)).text).toContain(field)
  expect((await petstore.get(`/pets?id=${id}&categoryId=${categoryId}`)).text).toContain(field)
  for (const query of ['', '&status=sold', '&limit=1']) {
    const { text, body } = await petstore.get(`/pets?categoryId=${categoryId}${query}`)
    expect(text).toContain(`"id":${id},`)
    expect((body as Pet[]).map((pet) => String(pet.categoryId))).toEqual(
      Array(text.split(field).length - 1).fill(categoryId),
    )
  }
})

test('distinguishes categories that JavaScript rounds to the same number', async () => {
  const id = ((await create('9007199254740993')).body as Pet).id
  for (const other of ['9007199254740992', '9007199254740994', '9007199254740991']) {
    const { text } = await petstore.get(`/pets?categoryId=${other}&limit=100`)
    expect(text).not.toContain('9007199254740993')
    expect((await petstore.get(`/pets?id=${id}&categoryId=${other}`)).body).toEqual([])
  }
})

test('pages of a category above 2^53 contain only its own pets', async () => {
  const categoryId = String(9_007_199_254_740_993n + BigInt(Math.trunc(Math.random() * 2 ** 52)) * 2n)
  const first = ((await create(categoryId)).body as Pet).id
  const second = ((await create(categoryId)).body as Pet).id
  const page = await petstore.get(`/pets?categoryId=${categoryId}&limit=1`)
  expect(page.text).toContain(`"id":${second},`)
  const next = linkTo('next', page, petstore.origin) ?? ''
  expect(next).toContain(categoryId)
  expect((await petstore.call('GET', next)).text).toContain(`"id":${first},`)
})

test.each([
  { sent: '5.0', stored: '5' },
  { sent: '1e3', stored: '1000' },
  { sent: '1E+3', stored: '1000' },
  { sent: '1.5e1', stored: '15' },
  { sent: '50e-1', stored: '5' },
  { sent: '0.5e1', stored: '5' },
  { sent: '1', stored: '1' },
  { sent: '5.0000000000000000000000', stored: '5' },
  { sent: '9007199254740991.0', stored: '9007199254740991' },
  { sent: '9007199254740991000e-3', stored: '9007199254740991' },
])('stores $sent as the integer $stored', async ({ sent, stored }) => {
  const { status, text } = await create(sent)
  expect(status).toBe(201)
  expect(text).toContain(`"categoryId":${stored},`)
})

test.each(
  rows([
    '"5"',
    '""',
    '1.5',
    'true',
    'false',
    'null',
    '[5]',
    '{}',
    '0',
    '-0',
    '0.0',
    '-1',
    '-9223372036854775808',
    '9223372036854775808',
    '18446744073709551617',
    '9'.repeat(400),
    '1e400',
    '-1e400',
    '1e-400',
    '1e19',
    '0.1',
    '1.0000000000000000001',
    '0.99999999999999999999',
    '9007199254740991.4',
    '4503599627370497.2',
    '"9007199254740993"',
  ]),
)('rejects the category $shown (400)', async ({ value }) => {
  const response = await create(value)
  expect(response).toMatchObject({ status: 400, body: { code: 'invalid_body' } })
  expect(faultyFields(response)).toEqual(['categoryId'])
})

test.each([
  '9007199254740993.0',
  '9007199254740992.0',
  '9.007199254740993e15',
  '9223372036854775807.0',
  '1e18',
])('rejects %s (400): a number with a point or an exponent is limited to 2^53-1', async (categoryId) => {
  const response = await create(categoryId)
  expect(response).toMatchObject({ status: 400, body: { code: 'invalid_body' } })
  expect(faultyFields(response)).toEqual(['categoryId'])
})

// Fewer than 16 digits in a row, but more digits than a double can hold.
test.each([
  '100000000000000.000000000000001',
  '900719925474099.14e1',
  '90071992.547409914e8',
  '0.000000000100000000000000000001e10',
])('rejects %s (400) instead of rounding it to an integer', async (categoryId) => {
  const response = await create(categoryId)
  expect(response).toMatchObject({ status: 400, body: { code: 'invalid_body' } })
  expect(faultyFields(response)).toEqual(['categoryId'])
})

test('ignores large numbers in unknown fields', async () => {
  const extra = '"age": 9007199254740993, "list": [1.00000000000000000001, 1e400]'
  const { status, text } = await petstore.post(
    '/pets',
    `{"name": "Rex", ${extra}, "categoryId": 1234567890123456789}`,
  )
  expect(status).toBe(201)
  expect(text).toContain('"categoryId":1234567890123456789,')
})

test('keeps a name that consists of digits as text', async () => {
  const { status, body } = await petstore.post('/pets', { name: '9007199254740993', categoryId: 5 })
  expect(status).toBe(201)
  expect(body).toMatchObject({ name: '9007199254740993' })
})
