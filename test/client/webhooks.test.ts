// Signatures of webhooks: the service, the client and the npm package `standardwebhooks` agree, and nothing else verifies.
import { createHmac, randomBytes } from 'node:crypto'
import * as fc from 'fast-check'
import { Webhook } from 'standardwebhooks'
import { expect, test } from 'vitest'
import { verifyWebhook, type WebhookErrorCode, WebhookVerificationError } from '@petstore/client/webhooks'
import { readJson } from '../../client/src/ids.ts'
import { makeSecret, readSecret, signMessage, writeSecret } from '../../src/events/webhooks/signature.ts'

const LARGEST = '9223372036854775807'
const PET = `{"id":9007199254740993,"name":"Żółw 🐢","categoryId":${LARGEST},"status":"sold"}`
/** `JSON.parse` would round its ids, and `JSON.stringify` would remove its spaces. */
const BODY = `{"type":"pet.updated", "timestamp":"2026-11-15T10:00:00.000Z",
  "data":{"position":"a-1","petId":9007199254740993,"pet":${PET},"changed":["status"]}}`
const ID = 'evt_3f2a-123'
const NOW = 1_794_736_800
const now = () => new Date(NOW * 1000 + 999)
const secret = makeSecret()
const secretText = writeSecret(secret)

interface Attempt {
  id?: string
  timestamp?: number
  body?: string
  secrets?: Buffer[]
}

function headersOf({ id = ID, timestamp = NOW, body = BODY, secrets = [secret] }: Attempt = {}) {
  return {
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signMessage({ id, timestamp, body }, secrets),
  }
}

/** The code of a verification that must fail. */
async function codeOf(verification: Promise<unknown>): Promise<WebhookErrorCode> {
  const error: unknown = await verification.then(
    (event) => new Error(`verified: ${JSON.stringify(event)}`),
    (thrown: unknown) => thrown,
  )
  if (error instanceof WebhookVerificationError) return error.code
  throw error
}

test('returns the event with its id, and every digit of the ids in it', async () => {
  const event = await verifyWebhook(BODY, headersOf(), secretText, { now })
  expect(event).toEqual({
    id: ID,
    type: 'pet.updated',
    timestamp: '2026-11-15T10:00:00.000Z',
    data: {
      position: 'a-1',
      petId: '9007199254740993',
      pet: { id: '9007199254740993', name: 'Żółw 🐢', categoryId: LARGEST, status: 'sold' },
      changed: ['status'],
    },
  })
})

const aBody = fc
  .tuple(
    fc.string({ unit: 'binary' }),
    fc.string({ unit: 'grapheme' }),
    fc.jsonValue(),
    fc.integer({ min: 0, max: 3 }),
  )
  .map(([type, timestamp, other, indent]) =>
    JSON.stringify({ type, timestamp, data: { other } }, null, indent),
  )
const anId = fc.stringMatching(/^evt_[\w-]{1,40}$/)
const aSecret = fc.uint8Array({ minLength: 24, maxLength: 64 }).map((bytes) => Buffer.from(bytes))

test('verifies what standardwebhooks signs', async () => {
  await fc.assert(
    fc.asyncProperty(anId, aBody, aSecret, async (id, body, key) => {
      const seconds = Math.floor(Date.now() / 1000)
      const signature = new Webhook(writeSecret(key)).sign(id, new Date(seconds * 1000), body)
      const headers = {
        'webhook-id': id,
        'webhook-timestamp': String(seconds),
        'webhook-signature': signature,
      }
      const event = await verifyWebhook(body, headers, writeSecret(key))
      expect(event).toEqual({ id, ...(readJson(body) as object) })
    }),
    { numRuns: 200 },
  )
})

test('standardwebhooks verifies what the service signs, exactly as it is sent', async () => {
  const timestamp = Math.floor(Date.now() / 1000)
  expect(new Webhook(secretText).verify(BODY, headersOf({ timestamp }))).toEqual(JSON.parse(BODY))
  await fc.assert(
    fc.asyncProperty(anId, aBody, aSecret, aSecret, async (id, body, one, two) => {
      const headers = headersOf({ id, timestamp, body, secrets: [one, two] })
      for (const key of [one, two]) {
        expect(new Webhook(writeSecret(key)).verify(body, headers)).toEqual(JSON.parse(body))
        expect(await verifyWebhook(body, headers, writeSecret(key))).toMatchObject({ id })
      }
    }),
    { numRuns: 200 },
  )
})

/** The codes of a changed body or header. */
const REJECTIONS = ['invalid_signature', 'invalid_timestamp', 'missing_header']

const isSameKey = (key: Buffer = Buffer.alloc(0)) =>
  Buffer.concat([key], 64).equals(Buffer.concat([secret], 64))

test('rejects any change of the body, the id, the timestamp, the signature or the secret', async () => {
  const parts = ['body', 'webhook-id', 'webhook-timestamp', 'webhook-signature', 'secret'] as const
  const aChange = fc.tuple(fc.constantFrom(...parts), fc.nat(), fc.string({ minLength: 1, maxLength: 4 }))
  await fc.assert(
    fc.asyncProperty(aBody, fc.nat({ max: 2 }), aChange, async (body, removed, [part, at, text]) => {
      const message: Record<string, string> = { ...headersOf({ body }), body, secret: secretText }
      const before = message[part] ?? ''
      const start = at % before.length
      const changed = before.slice(0, start) + text + before.slice(start + removed)
      // A second signature does not invalidate the first, and signatures of other versions are ignored.
      fc.pre(changed !== before && !changed.split(' ').includes(message['webhook-signature'] ?? ''))
      // HMAC pads keys with zeros: the key with another zero is the same key.
      fc.pre(part !== 'secret' || !isSameKey(readSecret(changed)))
      const { body: sent = '', secret: used = '', ...headers } = { ...message, [part]: changed }
      const code = await codeOf(verifyWebhook(sent, headers, used, { now, toleranceSeconds: Infinity }))
      expect(part === 'secret' ? ['invalid_secret', 'invalid_signature'] : REJECTIONS).toContain(code)
    }),
    { numRuns: 1_000 },
  )
})
test('rejects a signature with one flipped bit, and the body of another message', async () => {
  const [, signature = ''] = headersOf()['webhook-signature'].split(',')
  const bytes = Buffer.from(signature, 'base64')
  for (let bit = 0; bit < bytes.length * 8; bit += 1) {
    const flipped = Buffer.from(bytes)
    flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7))
    const headers = { ...headersOf(), 'webhook-signature': `v1,${flipped.toString('base64')}` }
    expect(await codeOf(verifyWebhook(BODY, headers, secretText, { now }))).toBe('invalid_signature')
  }
  const other = headersOf({ body: BODY.replace('sold', 'pending') })
  expect(await codeOf(verifyWebhook(BODY, other, secretText, { now }))).toBe('invalid_signature')
})

test('rejects JSON that was parsed and serialized again, and says what to pass instead', async () => {
  const again = JSON.stringify(JSON.parse(BODY))
  const failure = verifyWebhook(again, headersOf(), secretText, { now })
  await expect(failure).rejects.toMatchObject({
    name: 'WebhookVerificationError',
    code: 'invalid_signature',
    message: expect.stringContaining('pass the raw body'),
  })
  for (const parsed of [JSON.parse(BODY), undefined, null, 5, [1, 2]]) {
    const wrong = verifyWebhook(parsed as string, headersOf(), secretText, { now })
    await expect(wrong).rejects.toMatchObject({
      code: 'invalid_body',
      message: expect.stringContaining('not the parsed JSON'),
    })
  }
})

test('accepts the body as text, as bytes, as part of a larger buffer and as an ArrayBuffer', async () => {
  const bytes = new TextEncoder().encode(BODY)
  const larger = Buffer.concat([randomBytes(5), bytes, randomBytes(5)])
  const bodies = [BODY, bytes, Buffer.from(BODY), larger.subarray(5, 5 + bytes.length), bytes.buffer]
  for (const body of bodies) {
    expect(await verifyWebhook(body, headersOf(), secretText, { now })).toMatchObject({ id: ID })
  }
})

test('accepts Headers, names in any case, and arrays', async () => {
  const headers = headersOf({ secrets: [makeSecret(), secret] })
  const signatures = headers['webhook-signature'].split(' ')
  const upper = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value]),
  )
  const arrays = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]]))
  const forms = [
    new Headers(headers),
    headers,
    { host: 'x', 'set-cookie': ['a', 'b'], ...upper },
    { ...arrays, connection: undefined },
    { ...headers, 'webhook-signature': signatures },
  ]
  for (const form of forms) {
    expect(await verifyWebhook(BODY, form, secretText, { now })).toMatchObject({ id: ID })
  }
})

test.each(['webhook-id', 'webhook-timestamp', 'webhook-signature'] as const)(
  'rejects a request without %s (missing_header)',
  async (name) => {
    const { [name]: _, ...others } = headersOf()
    const empty = [
      { ...others, [name]: '' },
      { ...others, [name]: [] },
      { ...others, [name]: undefined },
    ]
    for (const headers of [others, new Headers(others), ...empty]) {
      expect(await codeOf(verifyWebhook(BODY, headers, secretText, { now }))).toBe('missing_header')
    }
    await expect(verifyWebhook(BODY, others, secretText, { now })).rejects.toThrow(name)
  },
)

test.each([
  { off: -300, code: undefined },
  { off: 300, code: undefined },
  { off: -301, code: 'timestamp_too_old' },
  { off: 301, code: 'timestamp_too_new' },
  { off: 0, toleranceSeconds: 0, code: undefined },
  { off: -1, toleranceSeconds: 0, code: 'timestamp_too_old' },
  { off: 1, toleranceSeconds: 0, code: 'timestamp_too_new' },
  { off: -NOW, toleranceSeconds: Infinity, code: undefined },
  { off: 0, toleranceSeconds: Number.NaN, code: 'timestamp_too_old' },
])('a timestamp that is off by $off s with the tolerance $toleranceSeconds: $code', async (row) => {
  const { off, toleranceSeconds, code } = row
  const headers = headersOf({ timestamp: NOW + off })
  const verified = verifyWebhook(BODY, headers, secretText, { now, toleranceSeconds })
  if (code === undefined) expect(await verified).toMatchObject({ id: ID })
  else expect(await codeOf(verified)).toBe(code)
})

test('uses the system clock, and rejects every message if the clock is invalid', async () => {
  expect(await codeOf(verifyWebhook(BODY, headersOf({ timestamp: 1 }), secretText))).toBe('timestamp_too_old')
  const timestamp = Math.floor(Date.now() / 1000)
  expect(await verifyWebhook(BODY, headersOf({ timestamp }), secretText)).toMatchObject({ id: ID })
  const broken = { now: () => new Date(Number.NaN) }
  expect(await codeOf(verifyWebhook(BODY, headersOf(), secretText, broken))).toBe('timestamp_too_old')
})

test.each(['x', '-1', '1.5', '1e9', ` ${NOW}`, `+${NOW}`, `0${NOW}`, `${NOW}, ${NOW}`, '9'.repeat(16)])(
  'rejects the timestamp "%s" (invalid_timestamp)',
  async (text) => {
    const headers = { ...headersOf(), 'webhook-timestamp': text }
    expect(await codeOf(verifyWebhook(BODY, headers, secretText, { now }))).toBe('invalid_timestamp')
  },
)

test('accepts a signature of any of several secrets, as in a rotation', async () => {
  const [before, after, other] = [makeSecret(), makeSecret(), makeSecret()]
  const both = [before, after].map(writeSecret)
  for (const secrets of [[before], [after], [before, after], [other, after]]) {
    expect(await verifyWebhook(BODY, headersOf({ secrets }), both, { now })).toMatchObject({ id: ID })
  }
  const foreign = verifyWebhook(BODY, headersOf({ secrets: [other] }), both, { now })
  expect(await codeOf(foreign)).toBe('invalid_signature')
})

test('ignores signatures of other versions, malformed ones, and all after the tenth', async () => {
  const valid = headersOf()['webhook-signature']
  const base64 = valid.slice('v1,'.length)
  const others = [
    `v1a,${base64}`,
    `v2,${base64}`,
    `V1,${base64}`,
    `v1;${base64}`,
    base64,
    'v1',
    'v1,',
    'v1,@@@@',
    '',
  ]
  const malformed = [base64.slice(0, -1), `${base64}=`, `\t${base64}`, `_${base64.slice(1)}`, 'AAAA']
  const ignored = [...others, ...malformed.map((text) => `v1,${text}`)]
  const verify = (signatures: string[]) =>
    verifyWebhook(BODY, { ...headersOf(), 'webhook-signature': signatures.join(' ') }, secretText, { now })
  for (const signature of ignored.filter(Boolean)) {
    expect(await codeOf(verify([signature])), signature).toBe('invalid_signature')
    expect(await verify([signature, valid]), signature).toMatchObject({ id: ID })
  }
  const wrong = `v1,${randomBytes(32).toString('base64')}`
  expect(await verify([...Array<string>(9).fill(wrong), valid])).toMatchObject({ id: ID })
  expect(await codeOf(verify([...Array<string>(10).fill(wrong), valid]))).toBe('invalid_signature')
})

const written = (bytes: number) => writeSecret(randomBytes(bytes))
const NOT_SECRETS = [
  '',
  'whsec_',
  secretText.slice('whsec_'.length),
  secretText.replace('whsec_', 'WHSEC_'),
  `${secretText}\n`,
  ` ${secretText}`,
  secretText.slice(0, -1),
  secretText.slice(0, -2),
  `${secretText.slice(0, 20)}%${secretText.slice(21)}`,
  written(23),
  written(65),
]

test('rejects an invalid secret, no secret, and never shows one', async () => {
  const wrong: unknown[] = [...NOT_SECRETS, ...NOT_SECRETS.map((text) => [secretText, text]), [], undefined]
  for (const secrets of wrong) {
    const failure = verifyWebhook(BODY, headersOf(), secrets as string, { now })
    const { code, message } = await failure.then(
      () => ({ code: 'verified', message: '' }),
      (error: unknown) => error as WebhookVerificationError,
    )
    expect(code, String(secrets)).toBe('invalid_secret')
    expect(message).not.toContain(secretText.slice(6, 14))
  }
})

test('the service reads the secrets that it writes, of 24 to 64 bytes, and no other text', () => {
  expect(makeSecret()).toHaveLength(32)
  expect(makeSecret()).not.toEqual(makeSecret())
  fc.assert(fc.property(aSecret, (bytes) => readSecret(writeSecret(bytes))?.equals(bytes) === true))
  expect(NOT_SECRETS.map(readSecret)).toEqual(NOT_SECRETS.map(() => undefined))
})

test.each([
  ['is empty', ''],
  ['is not JSON', `${BODY},`],
  ['starts with a byte order mark', `\uFEFF${BODY}`],
  ['is null', 'null'],
  ['is an array', '[]'],
  ['is an empty object', '{}'],
  ['has no data', '{"type":"pet.deleted","timestamp":"x"}'],
  ['has the data null', '{"type":"pet.deleted","timestamp":"x","data":null}'],
  ['has a number as its type', '{"type":5,"timestamp":"x","data":{}}'],
  ['has a number as its timestamp', '{"type":"pet.deleted","timestamp":5,"data":{}}'],
])('rejects a signed body that %s (invalid_body)', async (_, body) => {
  expect(await codeOf(verifyWebhook(body, headersOf({ body }), secretText, { now }))).toBe('invalid_body')
})

test('rejects a body that is not UTF-8', async () => {
  const body = Buffer.from(BODY.replace('🐢', 'x'))
  body[body.indexOf('x')] = 0xff
  const hmac = createHmac('sha256', secret).update(`${ID}.${NOW}.`).update(body).digest('base64')
  const headers = { ...headersOf(), 'webhook-signature': `v1,${hmac}` }
  expect(await codeOf(verifyWebhook(body, headers, secretText, { now }))).toBe('invalid_body')
})

test('rejects a body of more than 64 KiB, even if its signature is valid', async () => {
  const ofLength = (bytes: number) => BODY + ' '.repeat(bytes - Buffer.byteLength(BODY))
  const verify = (body: string) => verifyWebhook(body, headersOf({ body }), secretText, { now })
  expect(await verify(ofLength(65_536))).toMatchObject({ id: ID })
  expect(await codeOf(verify(ofLength(65_537)))).toBe('invalid_body')
  // Fewer characters than the limit, but more bytes.
  expect(await codeOf(verify('ż'.repeat(40_000)))).toBe('invalid_body')
})
