// The programs of examples/webhook-receivers, each on a port of its own, with requests as the service sends them.
import { once } from 'node:events'
import type { IncomingMessage, Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { WebhookEvent } from '@petstore/client/webhooks'
import { buildReceiver as buildExpress } from '../../examples/webhook-receivers/express.ts'
import { buildReceiver as buildFastify } from '../../examples/webhook-receivers/fastify.ts'
import fetchHandler, { buildReceiver as buildFetch } from '../../examples/webhook-receivers/fetch-handler.ts'
import { type Handler, onceById, readSecrets } from '../../examples/webhook-receivers/handling.ts'
import { openLocalServer } from '../../lab/parts/local-server.ts'
import { makeSecret, signMessage, writeSecret } from '../../src/events/webhooks/signature.ts'

const secret = makeSecret()
const next = makeSecret()
const secrets = [secret, next].map(writeSecret)
const BODY = `{"type":"pet.deleted","timestamp":"2026-11-15T10:00:00.000Z","data":{"position":"a-1","petId":9007199254740993}}`
let ids = 0
const newId = () => `evt_test-${(ids += 1)}`

async function originOf(server: Server): Promise<string> {
  afterAll(() => server.close())
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** Serves a `fetch` handler, like Deno and Bun. */
async function serveFetch(handler: (request: Request) => Promise<Response>): Promise<string> {
  const respond = async (incoming: IncomingMessage) => {
    const headers = Object.entries(incoming.headers) as [string, string][]
    const init = { method: 'POST', headers, body: incoming, duplex: 'half' } as unknown as RequestInit
    return handler(new Request(`http://localhost${incoming.url}`, init))
  }
  const { origin, close } = await openLocalServer((incoming, outgoing) => {
    respond(incoming).then(
      ({ status }) => outgoing.writeHead(status).end(),
      () => outgoing.writeHead(500).end(),
    )
  })
  afterAll(close)
  return origin
}

const RECEIVERS: Record<string, (handle: Handler) => Promise<string>> = {
  'fastify.ts': async (handle) => {
    const app = buildFastify(secrets, handle)
    afterAll(() => app.close())
    return app.listen({ port: 0, host: '127.0.0.1' })
  },
  'express.ts': (handle) => originOf(buildExpress(secrets, handle).listen(0, '127.0.0.1')),
  'fetch-handler.ts': (handle) => serveFetch(buildFetch(() => secrets, handle)),
}

interface Attempt {
  id?: string
  secondsAgo?: number
  signedWith?: Buffer[]
  /** The body that is sent, if it is not the signed one. */
  sent?: string
}

async function send(origin: string, attempt: Attempt = {}): Promise<number> {
  const { id = newId(), secondsAgo = 0, signedWith = [secret], sent = BODY } = attempt
  const timestamp = Math.floor(Date.now() / 1000) - secondsAgo
  const response = await fetch(`${origin}/hook`, {
    method: 'POST',
    body: sent,
    headers: {
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': String(timestamp),
      'webhook-signature': signMessage({ id, timestamp, body: BODY }, signedWith),
    },
  })
  await response.arrayBuffer()
  return response.status
}

beforeEach(() => void vi.spyOn(console, 'error').mockImplementation(() => {}))
afterEach(() => vi.restoreAllMocks())

describe.each(Object.entries(RECEIVERS))('%s', async (_, start) => {
  const handled: WebhookEvent[] = []
  let failure: Error | undefined
  const origin = await start(async (event) => {
    if (failure !== undefined) throw failure
    handled.push(event)
  })
  const timesHandled = (id: string) => handled.filter((event) => event.id === id).length

  test('handles a signed message, and responds with 204', async () => {
    expect(await send(origin, { id: 'evt_first-1' })).toBe(204)
    expect(handled.at(-1)).toEqual({
      id: 'evt_first-1',
      type: 'pet.deleted',
      timestamp: '2026-11-15T10:00:00.000Z',
      data: { position: 'a-1', petId: '9007199254740993' },
    })
  })

  test('accepts both secrets during a rotation', async () => {
    const before = handled.length
    for (const signedWith of [[secret], [next], [secret, next]])
      expect(await send(origin, { signedWith })).toBe(204)
    expect(handled).toHaveLength(before + 3)
  })

  test.each([
    ['a changed body', { sent: BODY.replace('993', '994') }, 'invalid_signature'],
    ['a body with other spaces', { sent: BODY.replaceAll(':', ': ') }, 'invalid_signature'],
    ['the secret of another webhook', { signedWith: [makeSecret()] }, 'invalid_signature'],
    ['an old timestamp', { secondsAgo: 3_600 }, 'timestamp_too_old'],
    ['a timestamp in the future', { secondsAgo: -3_600 }, 'timestamp_too_new'],
    ['no signature', { signedWith: [] }, 'missing_header'],
  ])('rejects %s with 400, logs the reason, and handles nothing', async (_case, attempt, code) => {
    const before = handled.length
    expect(await send(origin, attempt)).toBe(400)
    expect(console.error).toHaveBeenCalledExactlyOnceWith(expect.stringContaining(`${code}: `))
    expect(handled).toHaveLength(before)
  })

  test('handles a message once, even if its attempts arrive at the same time', async () => {
    const id = newId()
    const attempts = Array.from({ length: 5 }, () => send(origin, { id }))
    expect(await Promise.all(attempts)).toEqual([204, 204, 204, 204, 204])
    expect(await send(origin, { id })).toBe(204)
    expect(timesHandled(id)).toBe(1)
  })

  test('responds with 500 if the handler fails, and handles the retry', async () => {
    const id = newId()
    failure = new Error('the database is unreachable')
    expect(await send(origin, { id })).toBe(500)
    failure = undefined
    expect(await send(origin, { id })).toBe(204)
    expect(timesHandled(id)).toBe(1)
  })

  test('rejects a body that is too large with 413', async () => {
    expect(await send(origin, { sent: ' '.repeat(70_000) })).toBe(413)
  })
})

test('a receiver without a secret fails with a message that says what to set', async () => {
  expect(() => readSecrets(undefined)).toThrow('Set WEBHOOK_SECRETS')
  expect(readSecrets(secrets.join(','))).toEqual(secrets)
  expect((await fetchHandler.fetch(new Request('http://localhost/hook'))).status).toBe(405)
  const post = fetchHandler.fetch(new Request('http://localhost/hook', { method: 'POST', body: BODY }))
  await expect(post).rejects.toThrow('Set WEBHOOK_SECRETS')
})

test('the handler remembers only the last messages', async () => {
  const handled: string[] = []
  const handle = onceById(async ({ id }) => void handled.push(id), 2)
  for (const id of ['1', '2', '2', '1', '3', '2', '3', '1'])
    await handle({ id, type: 'webhook.test', timestamp: '', data: { webhookId: '1' } })
  expect(handled).toEqual(['1', '2', '3', '1'])
})
