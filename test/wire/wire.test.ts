// Every answer off the beaten track, seen as bytes: the exact status, the Error shape, and one answer at most.
import { assert, expect, inject, test } from 'vitest'
import { sendBytes } from '../support/wire.ts'
import { WIRE_CASES, type RawCase } from './cases.ts'

const { origin, apiKey } = inject('contract')

test('there are at least 200 cases, each with a name of its own', () => {
  expect(WIRE_CASES.length).toBeGreaterThanOrEqual(200)
  expect(new Set(WIRE_CASES.map(({ name }) => name)).size).toBe(WIRE_CASES.length)
})

test.concurrent.each(WIRE_CASES)(
  '$name -> $status',
  async ({ bytes, status, method = 'GET', later }: RawCase) => {
    const sent = Buffer.from(bytes.replaceAll(/\bK(?=[\s"!;,&]|$)|(?<=\u00e9)K/gm, apiKey), 'utf8')
    const responses = await sendBytes(origin, sent, { method, later })
    assert.deepEqual(
      responses.map((response) => response.status),
      [status],
      responses.map((response) => response.text).join('\n'),
    )
    for (const response of responses) {
      if (status >= 400 && method !== 'HEAD') {
        const body = JSON.parse(response.text) as { status: number; code: string; message: string }
        assert.equal(body.status, status)
        assert.match(body.code, /^[a-z_]+$/)
        assert.isString(body.message)
        assert.equal(response.headers.get('content-type'), 'application/json; charset=utf-8')
      }
    }
  },
)

test('garbage behind a good request waits for the answer to that request', async () => {
  const good = `GET /v1/pets?limit=1 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${apiKey}\r\n\r\n`
  const responses = await sendBytes(origin, `${good}garbage\r\n\r\n`, { count: 2 })
  expect(responses.map(({ status }) => status)).toEqual([200, 400])
})

test('pipelined requests are answered one by one, in their sequence', async () => {
  const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${apiKey}\r\n\r\n`
  const responses = await sendBytes(
    origin,
    get('/v1/pets?limit=1') + get('/v1/nothing') + get('/v1/pets?limit=0'),
    { count: 3 },
  )
  expect(responses.map(({ status }) => status)).toEqual([200, 404, 400])
})

test('whoever sends 20 MiB is told 413 while still sending', async () => {
  const body = Buffer.alloc(20 * 1024 * 1024, 'a')
  const statuses = await Promise.all(
    Array.from({ length: 4 }, async () => {
      const response = await fetch(`${origin}/v1/pets`, {
        method: 'POST',
        headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
        body,
      })
      return response.status
    }),
  )
  expect(new Set(statuses)).toEqual(new Set([413]))
})
