// `petstore webhooks forward`, with a real receiver that verifies the signatures with the package standardwebhooks.
import { expect, test } from 'vitest'
import { type ForwardAttempt, forwardEvent } from '../../src/cli/forwarder.ts'
import { SCOPES } from '../../src/contract/scopes.ts'
import { freePort } from '../../src/data/demo/cluster.ts'
import { makeSecret, writeSecret } from '../../src/events/webhooks/signature.ts'
import { issueApiKey } from '../support/app.ts'
import { startDeliverer } from '../support/deliveries.ts'
import { openFeed } from '../support/feed.ts'
import { runInProcess } from '../support/in-process.ts'
import { startPetstore } from '../support/service.ts'
import { openReceiver, type Received } from '../support/webhook-receiver.ts'

const feed = await openFeed()
const { api } = feed
const { text } = await issueApiKey(api.db, { name: 'staff', scopes: SCOPES })
const environment = { PETSTORE_URL: api.origin, PETSTORE_API_KEY: text, TZ: 'UTC' }
const forward = (...args: string[]) => runInProcess(['webhooks', 'forward', ...args], environment)
const SECRET = writeSecret(makeSecret())

/** The position of the newest event. */
async function newest(): Promise<string> {
  await feed.sequence()
  const { headers } = await api.get('/events?after=latest')
  return /after=([\w-]+)/.exec(headers.get('link') ?? '')?.[1] ?? ''
}

const linesOf = (output: string) => output.trimEnd().split('\n')

test('sends exactly the bytes and the id that a webhook gets, signed', async () => {
  const [receiver, other] = [await openReceiver(), await openReceiver()]
  const deliverer = startDeliverer(api.databaseUrl)
  const start = await newest()
  expect((await api.post('/webhooks', { url: other.url })).status).toBe(201)
  await api.sql(`insert into pets (id, name, category_id) overriding system value
    values (9007199254740993, 'Größe "5" 🐕', 9223372036854775807)`)
  const order = await api.hold({ note: 'Ms Okafor, comes at noon' })
  await api.patch(order.petId, { name: 'Rex' })
  const count = 5
  const args = ['--after', start, '--limit', String(count), '--secret', SECRET]
  const { code, stdout, stderr } = await forward(receiver.url, ...args)
  expect(code).toBe(0)
  expect(stderr).toContain(`Sending events to ${receiver.url}. Press Ctrl-C to stop.\nDelivered 5 events.`)
  expect(receiver.received).toHaveLength(count)
  for (const message of receiver.received) receiver.verify(message, SECRET)
  await other.until(({ length }) => length >= count)
  const content = ({ id, text: body, headers }: Received) => ({ id, body, type: headers['content-type'] })
  const byId = (one: Received, two: Received) => (one.id < two.id ? -1 : 1)
  expect(receiver.received.toSorted(byId).map(content)).toEqual(other.received.toSorted(byId).map(content))
  expect(receiver.received.map(({ text: body }) => body).join()).not.toMatch(/Okafor|requestId|actor/)
  expect(linesOf(stdout)).toHaveLength(count)
  expect(linesOf(stdout)[0]).toMatch(/^\d\d:\d\d:\d\d {2}pet\.created {10}9007199254740993 {2}204 {2}\d+ ms$/)
  await deliverer.stop()
})

test('makes a secret and prints it, and --type filters', async () => {
  const receiver = await openReceiver()
  const start = await newest()
  const pet = await api.addPet()
  await api.remove(`/pets/${pet.id}`)
  const args = ['--after', start, '--limit', '1', '--type', 'pet.deleted', '--json']
  const { stdout, stderr } = await forward(receiver.url, ...args)
  const [message] = receiver.received
  if (message === undefined) throw new Error('nothing was received')
  expect(message.type).toBe('pet.deleted')
  receiver.verify(message, /whsec_\S+/.exec(stderr)?.[0] ?? '')
  expect(JSON.parse(stdout)).toMatchObject({
    messageId: message.id,
    kind: 'event',
    type: 'pet.deleted',
    petId: pet.id,
    attempt: 1,
    outcome: 'delivered',
    responseStatus: 204,
  })
})

test('retries a failed event before the next one, and says once what to do', async () => {
  const receiver = await openReceiver()
  const start = await newest()
  const [first, second] = [await api.addPet(), await api.addPet()]
  let failures = 0
  receiver.respond(() => (failures++ < 2 ? 401 : 204))
  const { code, stdout, stderr } = await forward(receiver.url, '--after', start, '--limit', '2')
  expect(code).toBe(0)
  expect(receiver.received.map(({ data }) => data.petId)).toEqual([first.id, first.id, first.id, second.id])
  expect(new Set(receiver.received.map(({ id }) => id)).size).toBe(2)
  const results = linesOf(stdout).map((line) => line.split(/ {2,}/).slice(3))
  const ms = expect.stringMatching(/^\d+ ms$/)
  expect(results).toEqual([
    ['401', ms, 'retry in 1 s'],
    ['401', ms, 'retry in 3 s'],
    ['204', ms],
    ['204', ms],
  ])
  expect(stderr.match(/If the signature was rejected, check the secret/g)).toHaveLength(1)
})

test('gives up after the last attempt, and does not follow redirects', async () => {
  const [receiver, target] = [await openReceiver(), await openReceiver()]
  receiver.respond(() => ({ status: 307, headers: { location: target.url } }))
  const attempts: ForwardAttempt[] = []
  const event = {
    position: '3f1c9a52be07-18',
    type: 'pet.deleted',
    occurredAt: '2026-11-15T10:00:00.000Z',
    petId: '42',
  } as const
  const options = {
    secret: makeSecret(),
    signal: new AbortController().signal,
    pausesMs: [1, 1],
    onAttempt: async (attempt: ForwardAttempt) => void attempts.push(attempt),
  }
  expect(await forwardEvent(event, { ...options, url: receiver.url })).toBe(false)
  expect(attempts).toMatchObject([
    { attempt: 1, outcome: 'failed', responseStatus: 307, retryMs: 1 },
    { attempt: 2, outcome: 'failed', responseStatus: 307, retryMs: 1 },
    { attempt: 3, outcome: 'given_up', responseStatus: 307, retryMs: undefined },
  ])
  expect(target.received).toEqual([])
  await forwardEvent(event, { ...options, url: `http://127.0.0.1:${await freePort()}/hook`, pausesMs: [] })
  expect(attempts.at(-1)).toMatchObject({ outcome: 'given_up', failure: 'connection_refused' })
})

test('sends events from now on; Ctrl-C ends it with 0, even during a pause, and names the position', async () => {
  const receiver = await openReceiver()
  const command = startPetstore(['webhooks', 'forward', receiver.url, '--secret', SECRET], environment)
  const printed = () => command.printed()
  await expect.poll(() => printed().stderr).toContain('Sending events to')
  await api.addPet()
  await expect.poll(() => printed().stdout).toContain('  204  ')
  await receiver.close()
  await api.addPet()
  await expect.poll(() => printed().stdout).toContain('connection_refused')
  command.kill('SIGINT')
  const { code, signal, stderr } = await command.finished
  expect({ code, signal }).toEqual({ code: 0, signal: null })
  expect(stderr).toContain(`No program listens on ${receiver.url}. Start your receiver.`)
  const position = receiver.received[0]?.data.position
  expect(stderr).toContain(`Delivered 1 event. To continue, use --after ${position}\n`)
})

test('rejects a URL, a secret and an API key that cannot work', async () => {
  for (const url of ['localhost:4000', 'ftp://localhost/hook', 'http://me:secret@localhost/hook', 'hook']) {
    const { code, stderr } = await forward(url)
    expect(code).toBe(1)
    expect(stderr).toContain('such as http://localhost:4000/hook.')
  }
  expect((await forward('http://localhost:4000/hook', '--secret', 'whsec_short')).stderr).toContain(
    'Use "whsec_" and 24 to 64 bytes in base64',
  )
  const { text: weak } = await issueApiKey(api.db, { scopes: ['webhooks:write'] })
  const args = ['webhooks', 'forward', 'http://localhost:4000/hook']
  const { code, stdout, stderr } = await runInProcess(args, { ...environment, PETSTORE_API_KEY: weak })
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  expect(stderr).toContain('The command needs the scope events:read.')
})
