// Who is let in: a bearer key in the Authorization header, and nobody else.
import { randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { describe, expect, inject, test } from 'vitest'
import { type TestResponse, openTestClient } from '../support/client.ts'
import { newPet } from './pets.ts'
import { sendRequest } from '../support/raw-http.ts'

const { origin, apiKey } = inject('contract')
const petstore = openTestClient({ origin, apiKey })
const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const CHECKSUM_LENGTH = 6

function base62(value: bigint, length: number): string {
  let digits = ''
  for (let rest = value; rest > 0n; rest /= 62n) digits = DIGITS.charAt(Number(rest % 62n)) + digits
  return digits.padStart(length, '0')
}

/** What a scanner would take for a key: the prefix, 256 bits, and the checksum of both. */
function withChecksum(text: string): string {
  return text + base62(BigInt(crc32(text)), CHECKSUM_LENGTH)
}

function inventedKey(prefix: string): string {
  return withChecksum(prefix + base62(BigInt(`0x${randomBytes(32).toString('hex')}`), 43))
}

function otherThan(character: string): string {
  return character === 'A' ? 'B' : 'A'
}

const OPERATIONS = [
  { method: 'GET', path: '/v1/pets' },
  { method: 'HEAD', path: '/v1/pets' },
  { method: 'POST', path: '/v1/pets', body: newPet() },
  { method: 'GET', path: '/v1/pets/1' },
  { method: 'HEAD', path: '/v1/pets/1' },
  { method: 'GET', path: '/v1/pets/abc' },
]

describe('without a key', () => {
  test.each(OPERATIONS)('$method $path is 401 with a challenge and no accusation', async (operation) => {
    const response = await petstore.call(operation.method, operation.path, { ...operation, apiKey: null })
    expect(response.status).toBe(401)
    expect(response.headers.get('www-authenticate')).toBe('Bearer realm="petstore"')
    if (operation.method !== 'HEAD') expect(response.body).toMatchObject({ code: 'missing_api_key' })
  })

  test.each([
    {
      what: 'in the query',
      path: `/v1/pets?api_key=${apiKey}&access_token=${apiKey}&key=${apiKey}`,
      headers: {},
    },
    { what: 'in a header of another name', path: '/v1/pets', headers: { 'x-api-key': apiKey } },
    { what: 'in a cookie', path: '/v1/pets', headers: { cookie: `authorization=Bearer ${apiKey}` } },
    { what: 'for a proxy', path: '/v1/pets', headers: { 'proxy-authorization': `Bearer ${apiKey}` } },
  ])('a key $what is no key', async ({ path, headers }) => {
    const response = await petstore.call('GET', path, { apiKey: null, headers })
    expect(response).toMatchObject({ status: 401, body: { code: 'missing_api_key' } })
    expect(response.text).not.toContain(apiKey)
  })
})

describe('with a key that is not one of ours', () => {
  const last = apiKey.at(-1) ?? ''

  test('the checksum of these tests is the one of the service', () => {
    expect(withChecksum(apiKey.slice(0, -CHECKSUM_LENGTH))).toBe(apiKey)
  })

  test.each([
    { what: 'a well-formed one that nobody was given', key: inventedKey('petstore_live_') },
    { what: 'a well-formed one of staging', key: inventedKey('petstore_test_') },
    { what: 'one with a wrong checksum', key: `petstore_live_${'A'.repeat(49)}` },
    { what: 'ours with the last letter changed', key: apiKey.slice(0, -1) + otherThan(last) },
    {
      what: 'ours with a letter changed and the checksum made to fit',
      key: withChecksum(apiKey.slice(0, -8) + otherThan(apiKey.at(-8) ?? '') + apiKey.at(-7)),
    },
    { what: 'ours cut short', key: apiKey.slice(0, -1) },
    { what: 'ours and one letter more', key: `${apiKey}A` },
    { what: 'ours in small letters', key: apiKey.toLowerCase() },
    { what: 'ours in quotes', key: `"${apiKey}"` },
    { what: 'ours twice', key: `${apiKey},${apiKey}` },
    { what: 'ours and another word', key: `${apiKey} x` },
    { what: 'a word', key: 'secret' },
    { what: 'a token of another kind', key: 'eyJhbGciOiJub25lIn0.e30.' },
    { what: 'SQL', key: "'or'1'='1" },
    { what: 'letters beyond ASCII', key: 'petstore_live_é' },
    { what: 'a very long one', key: 'A'.repeat(10_000) },
  ])('$what is 401, and is not repeated in the answer', async ({ key }) => {
    for (const operation of OPERATIONS) {
      const response = await petstore.call(operation.method, operation.path, { ...operation, apiKey: key })
      expect(response.status).toBe(401)
      expect(response.headers.get('www-authenticate')).toBe('Bearer realm="petstore", error="invalid_token"')
      if (operation.method !== 'HEAD') expect(response.body).toMatchObject({ code: 'invalid_api_key' })
      expect(response.text).not.toContain(key)
    }
  })
})

function authorised(...authorizations: string[]): Promise<TestResponse> {
  return sendRequest(origin, { headers: authorizations.map((value) => `Authorization: ${value}`) })
}

describe('the Authorization header', () => {
  test.each(['Bearer', 'bearer', 'BEARER', 'bEaReR'])('takes the scheme in any case: %s', async (scheme) => {
    expect((await authorised(`${scheme} ${apiKey}`)).status).toBe(200)
  })

  test('takes more than one space, and space around it', async () => {
    expect((await authorised(`Bearer   ${apiKey}`)).status).toBe(200)
    expect((await authorised(`   Bearer ${apiKey}  `)).status).toBe(200)
  })

  test.each([
    { what: 'nothing', value: '' },
    { what: 'a scheme alone', value: 'Bearer' },
    { what: 'a scheme and a space', value: 'Bearer ' },
    { what: 'a key alone', value: apiKey },
    { what: 'Basic', value: `Basic ${Buffer.from(`${apiKey}:`).toString('base64')}` },
    { what: 'Basic with a bare key', value: `Basic ${apiKey}` },
    { what: 'Digest', value: `Digest username="${apiKey}"` },
    { what: 'Token', value: `Token ${apiKey}` },
    { what: 'no space', value: `Bearer${apiKey}` },
    { what: 'an equals sign', value: `Bearer=${apiKey}` },
    { what: 'a colon', value: `Bearer: ${apiKey}` },
    { what: 'two schemes', value: `Basic abc, Bearer ${apiKey}` },
  ])('with $what is 401', async ({ value }) => {
    const response = await authorised(value)
    expect(response.status).toBe(401)
    expect(response.body).toMatchObject({ code: expect.stringMatching(/^(missing|invalid)_api_key$/) })
    expect(response.headers.get('www-authenticate')).toMatch(/^Bearer realm="petstore"/)
  })

  test('given twice is nobody: 401, whichever comes first', async () => {
    const ours = `Bearer ${apiKey}`
    for (const other of [ours, 'Bearer nonsense', 'Basic abc', `Bearer ${inventedKey('petstore_live_')}`]) {
      expect(await authorised(ours, other)).toMatchObject({ status: 401, body: { code: 'invalid_api_key' } })
      expect(await authorised(other, ours)).toMatchObject({ status: 401, body: { code: 'invalid_api_key' } })
    }
  })
})
