// Names: 1 to 500 code points, not blank, without NUL; stored exactly as sent.
import { expect, inject, test } from 'vitest'
import { openTestClient } from '../support/client.ts'
import { faultyFields, newCategoryId, type Pet, petsOf } from '../support/pets.ts'

const petstore = openTestClient(inject('contract'), { retriesBusy: true })

test.each([
  { what: 'a combining accent', name: 'Zoe\u0301' },
  { what: 'the same accent precomposed', name: 'Zo\u00e9' },
  { what: 'many combining characters', name: `Z${'\u0336\u0349'.repeat(20)}` },
  { what: 'right-to-left text', name: 'كلب \u202eabc\u202c כלב' },
  { what: 'Chinese, Thai and Devanagari', name: '小狗 หมา कुत्ता' },
  { what: 'emoji joined into one glyph', name: '👩‍👩‍👧‍👦🏳️‍🌈' },
  { what: 'leading and trailing white space', name: '  Rex \t' },
  { what: 'line breaks', name: 'Rex\nthe\r\nSecond\u2028\u2029' },
  { what: 'a byte order mark', name: '\ufeffRex' },
  { what: 'control characters', name: '\u0001\u001b[31mRex\u007f\u0085' },
  { what: 'quotes and backslashes', name: `"Rex" \\ 'O''Hara' \\u0000 %00 $1 {}` },
  { what: 'markup', name: '<script>alert(1)</script>&amp;' },
  { what: 'SQL', name: "Robert'); drop table pets;--" },
  { what: 'noncharacters and the replacement character', name: '\uffff\ufffd\u{10ffff}' },
  { what: 'a single invisible character', name: '\u200b' },
  { what: 'a zero', name: '0' },
  { what: 'the word null', name: 'null' },
])('stores and returns $what unchanged', async ({ name }) => {
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

test('accepts a name that is written in JSON escapes', async () => {
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
])('accepts a name of $what', async ({ name }) => {
  const { status, body } = await petstore.post('/pets', { name, categoryId: 5 })
  expect(status).toBe(201)
  expect((body as Pet).name).toBe(name)
})

test.each([
  { what: 'no characters', name: '' },
  { what: '501 letters', name: 'x'.repeat(501) },
  { what: '501 emoji', name: '🐕'.repeat(501) },
  { what: '100,000 letters', name: 'x'.repeat(100_000) },
  { what: 'a space', name: ' ' },
  { what: 'only white space', name: ' \t\r\n\u00a0\u3000\u2003\ufeff' },
  { what: 'only NUL', name: '\0' },
  { what: 'text and NUL', name: 'Rex\0' },
  { what: 'a high surrogate', name: '\ud83d' },
  { what: 'text and a low surrogate', name: 'Rex \udc15 Rex' },
  { what: 'surrogates in the wrong order', name: '\udc15\ud83d' },
])('rejects a name of $what (400)', async ({ name }) => {
  const response = await petstore.post('/pets', { name, categoryId: 5 })
  expect(response).toMatchObject({ status: 400, body: { code: 'invalid_body' } })
  expect(faultyFields(response)).toEqual(['name'])
})

test.each([
  { what: 'a byte that is never UTF-8', bytes: [0xff] },
  { what: 'a lone continuation byte', bytes: [0x80] },
  { what: 'a truncated character', bytes: [0xf0, 0x9f, 0x90] },
  { what: 'an overlong slash', bytes: [0xc0, 0xaf] },
  { what: 'an overlong NUL', bytes: [0xc0, 0x80] },
  { what: 'a surrogate', bytes: [0xed, 0xa0, 0xbd] },
  { what: 'a code point beyond U+10FFFF', bytes: [0xf4, 0x90, 0x80, 0x80] },
  { what: 'Latin-1', bytes: [0x5a, 0x6f, 0xe9] },
])('rejects invalid UTF-8 (400) instead of repairing it: $what', async ({ bytes }) => {
  const categoryId = newCategoryId()
  const body = Buffer.concat([
    Buffer.from('{"name": "Rex '),
    Buffer.from(bytes),
    Buffer.from(`", "categoryId": ${categoryId}}`),
  ])
  expect(await petstore.post('/pets', body)).toMatchObject({ status: 400, body: { code: 'invalid_json' } })
  expect(petsOf(await petstore.get(`/pets?categoryId=${categoryId}`))).toEqual([])
})

test('rejects an unescaped line break, tab or NUL in a name (400)', async () => {
  for (const character of ['\n', '\0', '\t']) {
    const response = await petstore.post('/pets', `{"name": "Rex${character}", "categoryId": 5}`)
    expect(response).toMatchObject({ status: 400, body: { code: 'invalid_json' } })
  }
})
