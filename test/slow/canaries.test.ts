// Puts thousands of API keys into every part of a request. None may appear in a response, the log or the metrics.
import { expect, test } from 'vitest'
import { makeApiKeyText } from '../../src/access/api-keys/format.ts'
import { createTestDatabase } from '../support/database.ts'
import { sendBytes } from '../support/raw-http.ts'
import { petstore, startService } from '../support/service.ts'
import { volume } from '../support/volume.ts'

const CANARIES = volume(2_000, 5_000)
const AT_ONCE = 50

type Place = (canary: string, apiKey: string) => string

const http = (line: string, headers: string[], body = '') =>
  [`${line} HTTP/1.1`, 'Host: x', 'Connection: close', ...headers, '', body].join('\r\n')
const get = (target: string, apiKey: string, ...headers: string[]) =>
  http(`GET ${target}`, [`Authorization: Bearer ${apiKey}`, ...headers])
const post = (body: string, apiKey: string, ...headers: string[]) =>
  http(
    'POST /v1/pets',
    [
      `Authorization: Bearer ${apiKey}`,
      'Content-Type: application/json',
      `Content-Length: ${body.length}`,
      ...headers,
    ],
    body,
  )

const PLACES: Record<string, Place> = {
  'the bearer': (canary) => get('/v1/pets', canary),
  'another scheme': (canary) => http('GET /v1/pets', [`Authorization: Basic ${canary}`]),
  'two credentials': (canary, apiKey) => get('/v1/pets', apiKey, `Authorization: Bearer ${canary}`),
  'an unknown parameter': (canary, apiKey) => get(`/v1/pets?api_key=${canary}`, apiKey),
  'the name of a parameter': (canary, apiKey) => get(`/v1/pets?${canary}=1`, apiKey),
  'a known parameter': (canary, apiKey) => get(`/v1/pets?status=${canary}`, apiKey),
  'the limit': (canary, apiKey) => get(`/v1/pets?limit=${canary}`, apiKey),
  'the cursor': (canary, apiKey) => get(`/v1/pets?cursor=${canary}`, apiKey),
  'the id': (canary, apiKey) => get(`/v1/pets/${canary}`, apiKey),
  'the path': (canary, apiKey) => get(`/v1/${canary}`, apiKey),
  'the path without a key': (canary) => http(`GET /v1/${canary}`, []),
  'the path outside /v1': (canary) => http(`GET /${canary}`, []),
  'the fragment': (canary, apiKey) => get(`/v1/pets#${canary}`, apiKey),
  'the request id': (canary, apiKey) => get('/v1/pets', apiKey, `X-Request-Id: ${canary}`),
  'the request id, wrapped': (canary, apiKey) => get('/v1/pets', apiKey, `X-Request-Id: id=${canary}`),
  'any header': (canary, apiKey) => get('/v1/pets', apiKey, `X-Api-Key: ${canary}`),
  'the name of a header': (canary, apiKey) => get('/v1/pets', apiKey, `${canary}: 1`),
  'the user agent': (canary, apiKey) => get('/v1/pets', apiKey, `User-Agent: ${canary}`),
  'the referer': (canary, apiKey) => get('/v1/pets', apiKey, `Referer: http://x/?${canary}`),
  'a cookie': (canary, apiKey) => get('/v1/pets', apiKey, `Cookie: key=${canary}`),
  Accept: (canary, apiKey) => get('/v1/pets', apiKey, `Accept: ${canary}`),
  'the origin': (canary, apiKey) => get('/v1/pets', apiKey, `Origin: https://${canary}`),
  'a broken header': (canary, apiKey) => get('/v1/pets', apiKey, `${canary} : 1`),
  'the method': (canary) => http(`${canary} /v1/pets`, []),
  'malformed HTTP': (canary) => `${canary}\r\n\r\n`,
  'the Idempotency-Key': (canary, apiKey) =>
    post('{"name":"x","categoryId":1}', apiKey, `Idempotency-Key: ${canary}`),
  'the content type': (canary, apiKey) =>
    http(
      'POST /v1/pets',
      [`Authorization: Bearer ${apiKey}`, `Content-Type: ${canary}`, 'Content-Length: 1'],
      'x',
    ),
  'the charset': (canary, apiKey) =>
    http(
      'POST /v1/pets',
      [
        `Authorization: Bearer ${apiKey}`,
        `Content-Type: application/json; charset=${canary}`,
        'Content-Length: 1',
      ],
      'x',
    ),
  'a body that is not JSON': (canary, apiKey) => post(canary, apiKey),
  'an unknown field': (canary, apiKey) => post(`{"name":"x","categoryId":1,"key":"${canary}"}`, apiKey),
  'the name of a field': (canary, apiKey) => post(`{"name":"x","categoryId":1,"${canary}":1}`, apiKey),
  'the category id': (canary, apiKey) => post(`{"name":"x","categoryId":"${canary}"}`, apiKey),
  'the status': (canary, apiKey) => post(`{"name":"x","categoryId":1,"status":"${canary}"}`, apiKey),
  'a rejected name': (canary, apiKey) => post(`{"name":"${canary}\\u0000","categoryId":1}`, apiKey),
}

test(`no key appears in the log, a response or the metrics (${CANARIES} keys in ${Object.keys(PLACES).length} places)`, async () => {
  const DATABASE_URL = await createTestDatabase()
  const { stdout } = await petstore(['api-keys', 'create', '--name', 'x'], { DATABASE_URL })
  const apiKey = stdout.trim()
  const service = await startService({
    DATABASE_URL,
    LOG_LEVEL: 'trace',
    CORS_ORIGINS: 'https://shop.example',
  })

  const places = Object.entries(PLACES)
  const canaries = Array.from({ length: CANARIES }, () => makeApiKeyText('production'))
  const leaks: string[] = []
  let accepted = 0
  for (let from = 0; from < CANARIES; from += AT_ONCE) {
    await Promise.all(
      canaries.slice(from, from + AT_ONCE).map(async (canary, offset) => {
        const [place, bytes] = places[(from + offset) % places.length] as [string, Place]
        const responses = await sendBytes(service.origin, bytes(canary, apiKey))
        accepted += responses.length
        const seen = responses.map(({ headers, text }) => JSON.stringify([...headers]) + text).join()
        if (seen.includes(canary.slice(14))) leaks.push(`response: ${place}`)
      }),
    )
  }
  const metrics = await (await fetch(`${service.adminOrigin}/metrics`)).text()
  await service.stop()
  for (const [index, canary] of canaries.entries()) {
    const place = places[index % places.length]?.[0]
    // Even a part of the secret counts as a leak.
    if (service.log().includes(canary.slice(14, 40))) leaks.push(`log: ${place}`)
    if (metrics.includes(canary.slice(14, 40))) leaks.push(`metrics: ${place}`)
  }
  console.log(`${CANARIES} canaries, ${accepted} responses, ${service.log().split('\n').length} log lines`)
  expect([...new Set(leaks)]).toEqual([])
  expect(service.log()).not.toContain(apiKey.slice(14, 40))
  expect(accepted).toBe(CANARIES)
})
