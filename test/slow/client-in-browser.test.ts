// The client on a web page of another origin, in Chromium: compiled like the package, allowed by CORS_ORIGINS.
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, expect, test } from 'vitest'
import { openLocalServer } from '../../lab/parts/local-server.ts'
import { makeSecret, signMessage, writeSecret } from '../../src/events/webhooks/signature.ts'
import { issueApiKey, startApp } from '../support/app.ts'
import { openBrowser, visit } from '../support/browser.ts'
import { createTestDatabase, openTestDatabase } from '../support/database.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const LARGEST = '9223372036854775807'
const compiled = mkdtempSync(join(tmpdir(), 'petstore-client-'))
afterAll(() => rmSync(compiled, { recursive: true, force: true }))
await promisify(execFile)(join(ROOT, 'node_modules/.bin/tsc'), ['-p', 'client', '--outDir', compiled], {
  cwd: ROOT,
})

const db = openTestDatabase(await createTestDatabase())
const { text: apiKey } = await issueApiKey(db)
const shopOrigin = await startTestPage()
const browser = await openBrowser()

/** Serves one empty page and the files of the client, like a web shop. */
async function startTestPage(): Promise<string> {
  const { origin, close } = await openLocalServer(({ url = '/' }, response) => {
    const isScript = url.endsWith('.js')
    response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html')
    response.end(
      isScript
        ? readFileSync(join(compiled, basename(url)))
        : '<!doctype html><link rel="icon" href="data:,"><title>Shop</title>',
    )
  })
  afterAll(close)
  return origin
}

/** The program of the page: creates a pet, reads it back, and gets an error. */
const program = (origin: string) => `import('/petstore.js').then(async ({ Petstore }) => {
  const store = new Petstore({ baseUrl: '${origin}/v1', apiKey: '${apiKey}', deadlineMs: 5000 })
  const made = await store.pets.create({ name: 'Biscuit', categoryId: '9223372036854775807' })
  const listed = []
  for await (const pet of store.pets.list({ categoryId: made.categoryId })) listed.push(pet)
  const rejected = await store.pets.create({ name: '', categoryId: 1 }).catch((error) => error)
  return { made, listed, rejected: { code: rejected.code, hasId: rejected.requestId !== undefined } }
})`

interface Outcome {
  made: { id: string; etag: string }
  listed: unknown[]
  rejected: unknown
}

test('a page of an allowed origin creates and lists pets, and reads every digit, the ETag and error codes', async () => {
  const petstore = await startApp(db, { corsOrigins: [shopOrigin] })
  const { page } = await visit(browser, shopOrigin)
  const { made, listed, rejected } = await page.evaluate<Outcome>(program(petstore.origin))
  expect(made).toMatchObject({ name: 'Biscuit', categoryId: '9223372036854775807', etag: '"1"' })
  const { etag: _, ...pet } = made
  expect(listed).toEqual([pet])
  expect(rejected).toEqual({ code: 'invalid_body', hasId: true })
})

test('a page of any other origin reads nothing and changes nothing', async () => {
  const petstore = await startApp(db, { corsOrigins: ['https://shop.example'] })
  const before = (await petstore.get('/store/inventory')).body
  const { page } = await visit(browser, shopOrigin)
  const failure = await page.evaluate<string>(
    `${program(petstore.origin)}.then(() => 'it worked', ({ code }) => code)`,
  )
  expect(['network_error', 'timeout']).toContain(failure)
  expect((await petstore.get('/store/inventory')).body).toEqual(before)
})

test('a page verifies a webhook, and rejects a changed body and another secret', async () => {
  const [secret, id, timestamp] = [makeSecret(), 'evt_a-1', Math.floor(Date.now() / 1000)]
  const body = `{"type":"pet.deleted","timestamp":"2026-11-15T10:00:00.000Z","data":{"position":"a-1","petId":${LARGEST}}}`
  const message = {
    body,
    headers: {
      'webhook-id': id,
      'webhook-timestamp': String(timestamp),
      'webhook-signature': signMessage({ id, timestamp, body }, [makeSecret(), secret]),
    },
    secrets: [makeSecret(), secret].map(writeSecret),
    other: writeSecret(makeSecret()),
  }
  const { page, faults } = await visit(browser, shopOrigin)
  const outcome = await page.evaluate<unknown>(`import('/webhooks.js').then(async ({ verifyWebhook }) => {
    const { body, headers, secrets, other } = ${JSON.stringify(message)}
    const bytes = new TextEncoder().encode(body)
    const codeOf = (verified) => verified.then(() => 'verified', ({ name, code }) => name + ' ' + code)
    return {
      event: await verifyWebhook(bytes, new Headers(headers), secrets),
      changed: await codeOf(verifyWebhook(body + ' ', headers, secrets)),
      wrongSecret: await codeOf(verifyWebhook(body, headers, other)),
      old: await codeOf(verifyWebhook(body, headers, secrets, { now: () => new Date(Date.now() + 1e6) })),
    }
  })`)
  expect(outcome).toEqual({
    event: {
      id,
      type: 'pet.deleted',
      timestamp: '2026-11-15T10:00:00.000Z',
      data: { position: 'a-1', petId: LARGEST },
    },
    changed: 'WebhookVerificationError invalid_signature',
    wrongSecret: 'WebhookVerificationError invalid_signature',
    old: 'WebhookVerificationError timestamp_too_old',
  })
  expect(faults).toEqual([])
})
