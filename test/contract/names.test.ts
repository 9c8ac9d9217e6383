// Names: any text of 1 to 500 code points that a person could have meant, kept exactly as it was sent.
import { expect, inject, test } from 'vitest'
import { openTestClient } from '../support/client.ts'
import { faultyFields, newCategoryId, type Pet, petsOf } from './pets.ts'

const petstore = openTestClient(inject('contract'))

test.each([
  { what: 'an accent as a character of its own', name: 'Zoe\u0301' },
  { what: 'the same accent composed', name: 'Zo\u00e9' },
  { what: 'many combining characters', name: `Z${'\u0336\u0349'.repeat(20)}` },
  { what: 'right to left', name: 'كلب \u202eabc\u202c כלב' },
  { what: 'Chinese, Thai and Devanagari', name: '小狗 หมา कुत्ता' },
  { what: 'a family of one glyph', name: '👩‍👩‍👧‍👦🏳️‍🌈' },
  { what: 'space before and after', name: '  Rex \t' },
  { what: 'lines', name: 'Rex\nthe\r\nSecond\u2028\u2029' },
  { what: 'a mark of byte order', name: '\ufeffRex' },
  { what: 'control characters', name: '\u0001\u001b[31mRex\u007f\u0085' },
  { what: 'quotes and backslashes', name: `"Rex" \\ 'O''Hara' \\u0000 %00 $1 {}` },
  { what: 'markup', name: '<script>alert(1)</script>&amp;' },
  { what: 'SQL', name: "Robert'); drop table pets;--" },
  { what: 'noncharacters and the replacement character', name: '\uffff\ufffd\u{10ffff}' },
  { what: 'an invisible character alone', name: '\u200b' },
  { what: 'a zero', name: '0' },
  { what: 'the word null', name: 'null' },
])('$what comes back exactly as it was sent', async ({ name }) => {
  const categoryId = newCategoryId()
  const created = await petstore.post('/pets', { name, categoryId })
  expect(created.status).toBe(201)
  const pet = created.body as Pet
  expect(pet.name).toBe(name)
  expect(((await petstore.get(`/pets/${pet.id}`)).body as Pet).name).toBe(name)
  expect(petsOf(await petstore.get(`/pets?categoryId=${categoryId}`)).map((found) => found.name)).toEqual([
    name,
  ])
})

test('a name may be sent in escapes', async () => {
  const { status, body } = await petstore.post(
    '/pets',
    '{"name": "\\ud83d\\udc15\\u00e9\\/", "categoryId": 5}',
  )
  expect(status).toBe(201)
  expect(body).toMatchObject({ name: '🐕é/' })
})

test.each([
  { what: '1 letter', name: 'x' },
  { what: '500 letters', name: 'x'.repeat(500) },
  { what: '500 emoji', name: '🐕'.repeat(500) },
  { what: '500 combining characters', name: `e${'\u0301'.repeat(499)}` },
])('$what are a name', async ({ name }) => {
  const { status, body } = await petstore.post('/pets', { name, categoryId: 5 })
  expect(status).toBe(201)
  expect((body as Pet).name).toBe(name)
})

test.each([
  { what: 'nothing', name: '' },
  { what: '501 letters', name: 'x'.repeat(501) },
  { what: '501 emoji', name: '🐕'.repeat(501) },
  { what: '100,000 letters', name: 'x'.repeat(100_000) },
  { what: 'a space', name: ' ' },
  { what: 'blanks of every kind', name: ' \t\r\n\u00a0\u3000\u2003\ufeff' },
  { what: 'NUL', name: '\0' },
  { what: 'a name with NUL in it', name: 'Rex\0' },
  { what: 'half of an emoji', name: '\ud83d' },
  { what: 'the other half', name: 'Rex \udc15 Rex' },
  { what: 'halves the wrong way round', name: '\udc15\ud83d' },
])('$what is no name', async ({ name }) => {
  const response = await petstore.post('/pets', { name, categoryId: 5 })
  expect(response).toMatchObject({ status: 400, body: { code: 'invalid_body' } })
  expect(faultyFields(response)).toEqual(['name'])
})

test.each([
  { what: 'a byte that is never UTF-8', bytes: [0xff] },
  { what: 'a lone continuation', bytes: [0x80] },
  { what: 'a character cut short', bytes: [0xf0, 0x9f, 0x90] },
  { what: 'an overlong slash', bytes: [0xc0, 0xaf] },
  { what: 'an overlong NUL', bytes: [0xc0, 0x80] },
  { what: 'half of an emoji', bytes: [0xed, 0xa0, 0xbd] },
  { what: 'beyond U+10FFFF', bytes: [0xf4, 0x90, 0x80, 0x80] },
  { what: 'Latin-1', bytes: [0x5a, 0x6f, 0xe9] },
])('$what is refused, not repaired', async ({ bytes }) => {
  const categoryId = newCategoryId()
  const body = Buffer.concat([
    Buffer.from('{"name": "Rex '),
    Buffer.from(bytes),
    Buffer.from(`", "categoryId": ${categoryId}}`),
  ])
  expect(await petstore.post('/pets', body)).toMatchObject({ status: 400, body: { code: 'invalid_json' } })
  expect(petsOf(await petstore.get(`/pets?categoryId=${categoryId}`))).toEqual([])
})

test('a raw line break or NUL inside the quotes is no JSON', async () => {
  for (const character of ['\n', '\0', '\t']) {
    const response = await petstore.post('/pets', `{"name": "Rex${character}", "categoryId": 5}`)
    expect(response).toMatchObject({ status: 400, body: { code: 'invalid_json' } })
  }
})
