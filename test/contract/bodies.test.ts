// Request bodies must be JSON in UTF-8 of at most 1 MiB. Every other body is rejected with a documented error.
import { gzipSync } from 'node:zlib'
import { describe, expect, inject, test } from 'vitest'
import { openTestClient } from '../support/client.ts'
import { newCategoryId, newPet, petsOf } from '../support/pets.ts'
import { sendRequest } from '../support/raw-http.ts'

const { origin, apiKey } = inject('contract')
const petstore = openTestClient({ origin, apiKey }, { retriesBusy: true })
const MEBIBYTE = 1_048_576
const AUTHORIZATION = `Authorization: Bearer ${apiKey}`
const JSON_TYPE = 'Content-Type: application/json'

/** A pet as JSON, padded with spaces to exactly this size. */
function jsonOfBytes(bytes: number, categoryId = newCategoryId()): string {
  return JSON.stringify(newPet({ categoryId })).padEnd(bytes)
}

describe('a request without a body', () => {
  test.each([
    { what: 'neither Content-Type nor Content-Length', headers: [] },
    { what: 'a Content-Length of 0', headers: ['Content-Length: 0'] },
    { what: 'a Content-Type but no Content-Length', headers: [JSON_TYPE] },
    { what: 'a Content-Type and a Content-Length of 0', headers: [JSON_TYPE, 'Content-Length: 0'] },
    {
      what: 'a Content-Type and an empty chunked body',
      headers: [JSON_TYPE, 'Transfer-Encoding: chunked'],
      body: '0\r\n\r\n',
    },
  ])('with $what returns 400 missing_body', async ({ headers, body = '' }) => {
    const response = await sendRequest(origin, { method: 'POST', headers: [AUTHORIZATION, ...headers], body })
    expect(response).toMatchObject({ status: 400, body: { code: 'missing_body' } })
  })
})

test.each([
  ' ',
  '\n',
  '{',
  '}',
  '{"name": "Rex", "categoryId": 5',
  '{"name": "Rex',
  '{"name": "Rex", "categoryId": 5}}',
  "{'name': 'Rex', 'categoryId': 5}",
  '{name: "Rex", categoryId: 5}',
  '{"name": "Rex", "categoryId": 5,}',
  '{"name": "Rex", "categoryId": 05}',
  '{"name": "Rex", "categoryId": +5}',
  '{"name": "Rex", "categoryId": 0x10}',
  '{"name": "Rex", "categoryId": NaN}',
  '{"name": "Rex", "categoryId": Infinity}',
  '{"name": "Rex", "categoryId": 5.}',
  '{"name": "Rex", "categoryId": }',
  '// a pet\n{}',
  'name=Rex&categoryId=5',
  'undefined',
  '<pet/>',
  '\u0000',
  '{}{}',
  '{"name": "\\x41", "categoryId": 5}',
  '{"categoryId": 9007199254740993',
  '\ufeff{"name": "Rex", "categoryId": 5}',
])('the body %j returns 400 invalid_json', async (body) => {
  const response = await petstore.post('/pets', body)
  expect(response).toMatchObject({ status: 400, body: { code: 'invalid_json' } })
})

test.each([
  { what: 'a missing comma', body: '{"name": "Rex" "categoryId": 5}', line: 1, column: 16 },
  {
    what: 'characters of several bytes',
    body: '{\n  "name": "Zoë 🐕" "categoryId": 5\n}',
    line: 2,
    column: 19,
  },
  { what: 'a long id', body: '{"name": "Rex",\r\n "categoryId": 9007199254740993 x}', line: 2, column: 33 },
  { what: 'a missing end', body: '{"name": "Rex"', line: 1, column: 15 },
  {
    what: 'a byte that is not UTF-8',
    body: Buffer.from('{"name":\n"Zo\xff"}', 'latin1'),
    line: 2,
    column: 4,
  },
  { what: 'a large body', body: '{"name": "Rex"} x'.padStart(1_000_000), line: 1, column: 1_000_000 },
])('names the line and the column of the first mistake: $what', async ({ body, line, column }) => {
  const response = await petstore.post('/pets', body)
  expect(response.body).toEqual({
    code: 'invalid_json',
    message: `The request body is not valid JSON in UTF-8: the first mistake is at line ${line}, column ${column}.`,
    status: 400,
  })
})

test.each([
  '[]',
  '[{"name": "Rex", "categoryId": 5}]',
  '"Rex"',
  '""',
  '5',
  '9007199254740993',
  '1e400',
  'true',
  'false',
  'null',
])('the body %s, which is JSON but no object, returns 400', async (body) => {
  const response = await petstore.post('/pets', body)
  expect(response.status).toBe(400)
  // A framework may treat null as a missing body.
  expect(response.body).toMatchObject({
    code: body === 'null' ? expect.stringMatching(/^(invalid|missing)_body$/) : 'invalid_body',
  })
})

describe('rejects extremely deep nesting (400) and continues to serve requests:', () => {
  const depth = 400_000
  test.each([
    { what: 'nested arrays as the whole body', body: '['.repeat(depth) + ']'.repeat(depth) },
    {
      what: 'nested arrays as a name',
      body: `{"name": ${'['.repeat(depth)}${']'.repeat(depth)}, "categoryId": 5}`,
    },
    { what: 'nested objects that are never closed', body: '{"a":'.repeat(depth / 4) },
    {
      what: 'nested arrays in an unknown field, next to a large number',
      body: `{"x": ${'['.repeat(depth)}${']'.repeat(depth)}, "categoryId": 9007199254740993}`,
    },
  ])('$what', async ({ body }) => {
    expect((await petstore.post('/pets', body)).status).toBe(400)
    expect((await petstore.get('/pets?limit=1')).status).toBe(200)
  })
})

describe('the content type', () => {
  test.each([
    'application/json',
    'application/json; charset=utf-8',
    'application/json;charset=UTF-8',
    'application/json; charset="utf-8"',
    'APPLICATION/JSON',
    'application/json; profile=x',
    'application/json ; charset=utf-8',
    'application/json\t; charset=utf-8',
  ])('%s is accepted', async (type) => {
    expect((await petstore.post('/pets', newPet(), { 'content-type': type })).status).toBe(201)
  })

  test.each([
    'text/plain',
    'text/plain; charset=utf-8',
    'text/json',
    'application/xml',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/octet-stream',
    'application/jsonp',
    'application/jsonx',
    'application/json-patch+json',
    'application/merge-patch+json',
    'application/vnd.api+json',
    'application/*',
    '*/*',
    'json',
    'nonsense;;;',
    ';;;',
    'application/json; charset=utf-16',
    'application/json; charset=iso-8859-1',
    'application/json;charset=latin1',
    'application/json; charset="utf-16"',
    'application/json; charset=',
    'text/plain; application/json',
  ])('%s returns 415', async (type) => {
    const response = await petstore.post('/pets', newPet(), { 'content-type': type })
    expect(response).toMatchObject({ status: 415, body: { code: 'unsupported_media_type' } })
  })

  test.each([{ headers: [] }, { headers: ['Content-Type:'] }])(
    'returns 415 if it is missing or empty: %j',
    async ({ headers }) => {
      const body = JSON.stringify(newPet())
      const all = [AUTHORIZATION, ...headers, `Content-Length: ${body.length}`]
      const response = await sendRequest(origin, { method: 'POST', headers: all, body })
      expect(response).toMatchObject({ status: 415, body: { code: 'unsupported_media_type' } })
    },
  )
})

describe('the content encoding', () => {
  test.each(['gzip', 'GZIP', 'deflate', 'br', 'zstd', 'x', 'gzip, identity'])(
    '%s returns 415 and creates nothing',
    async (encoding) => {
      const categoryId = newCategoryId()
      const body = gzipSync(JSON.stringify(newPet({ categoryId })))
      const response = await petstore.post('/pets', body, { 'content-encoding': encoding })
      expect(response).toMatchObject({ status: 415, body: { code: 'unsupported_media_type' } })
      expect(petsOf(await petstore.get(`/pets?categoryId=${categoryId}`))).toEqual([])
    },
  )

  test('identity is accepted', async () => {
    expect((await petstore.post('/pets', newPet(), { 'content-encoding': 'identity' })).status).toBe(201)
  })
})

describe('a body', () => {
  test('of exactly 1 MiB is accepted', async () => {
    expect((await petstore.post('/pets', jsonOfBytes(MEBIBYTE))).status).toBe(201)
    const wrong = JSON.stringify(newPet({ status: 'gone' })).padEnd(MEBIBYTE)
    expect(await petstore.post('/pets', wrong)).toMatchObject({ status: 400, body: { code: 'invalid_body' } })
  })

  test('of one byte over 1 MiB returns 413 and creates nothing', async () => {
    const categoryId = newCategoryId()
    const response = await petstore.post('/pets', jsonOfBytes(MEBIBYTE + 1, categoryId))
    expect(response).toMatchObject({ status: 413, body: { code: 'body_too_large' } })
    expect(petsOf(await petstore.get(`/pets?categoryId=${categoryId}`))).toEqual([])
  })

  test.each([MEBIBYTE + 1, 20 * MEBIBYTE, Number.MAX_SAFE_INTEGER])(
    'with a Content-Length of %d returns 413 before it is sent',
    async (bytes) => {
      const headers = [AUTHORIZATION, JSON_TYPE, `Content-Length: ${bytes}`]
      const response = await sendRequest(origin, { method: 'POST', headers })
      expect(response).toMatchObject({ status: 413, body: { code: 'body_too_large' } })
    },
  )

  test('is measured in bytes, not in characters', async () => {
    const body = JSON.stringify({ ...newPet(), note: '🐕'.repeat(MEBIBYTE / 4) })
    expect(await petstore.post('/pets', body)).toMatchObject({
      status: 413,
      body: { code: 'body_too_large' },
    })
  })

  test.each([
    { bytes: MEBIBYTE, status: 201 },
    { bytes: MEBIBYTE + 1, status: 413 },
  ])('of $bytes bytes that is sent in chunks returns $status', async ({ bytes, status }) => {
    const json = jsonOfBytes(bytes)
    const body = `${json.length.toString(16)}\r\n${json}\r\n0\r\n\r\n`
    const headers = [AUTHORIZATION, JSON_TYPE, 'Transfer-Encoding: chunked']
    expect((await sendRequest(origin, { method: 'POST', headers, body })).status).toBe(status)
  })
})
