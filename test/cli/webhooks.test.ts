// `petstore webhooks`, except forward: see webhooks-forward.process.test.ts.
import { expect, test } from 'vitest'
import { SCOPES } from '../../src/contract/scopes.ts'
import { issueApiKey } from '../support/app.ts'
import { parseExactly } from '../support/client.ts'
import { startDeliverer } from '../support/deliveries.ts'
import { openFeed } from '../support/feed.ts'
import { runInProcess } from '../support/in-process.ts'
import { openReceiver } from '../support/webhook-receiver.ts'
import { cellsOf } from './fixture.ts'

const feed = await openFeed()
const { api } = feed
startDeliverer(api.databaseUrl)
const { text } = await issueApiKey(api.db, { name: 'staff', scopes: SCOPES })
const environment = { PETSTORE_URL: api.origin, PETSTORE_API_KEY: text, TZ: 'UTC' }
const run = (...args: string[]) => runInProcess(['webhooks', ...args], environment)

interface Webhook {
  id: number
  url: string
  secret?: string
  position: string
  [field: string]: unknown
}

async function json<Value = Webhook>(...args: string[]): Promise<Value> {
  const { code, stdout, stderr } = await run(...args, '--json')
  if (code !== 0) throw new Error(stderr)
  return parseExactly(stdout) as Value
}

const create = async (url: string, ...args: string[]) => json('create', url, ...args)
const minute = (instant: unknown) => String(instant).slice(0, 16).replace('T', ' ')
const URL_OF_SHOP = 'https://shop.example/hooks'

test('create prints only the secret on standard output, and says to store it', async () => {
  const { code, stdout, stderr } = await run('create', URL_OF_SHOP)
  expect(code).toBe(0)
  expect(stdout).toMatch(/^whsec_[\w+/]{43}=\n$/)
  expect(stderr).toMatch(/^Created webhook \d+ for https:\/\/shop\.example\/hooks\.\nStore its secret/)
  expect(stderr).toContain('It is shown only once:\n')
})

test('create, list and show print the webhook as a table and as JSON', async () => {
  const types = ['--type', 'pet.created', 'pet.deleted']
  const { secret, ...webhook } = await create(URL_OF_SHOP, ...types, '--description', 'shop \u001b[2J')
  expect(secret).toMatch(/^whsec_/)
  expect(webhook).toMatchObject({ types: ['pet.created', 'pet.deleted'], enabled: true, waiting: 0 })
  expect(await json<Webhook[]>('list')).toContainEqual(webhook)
  const [heads, ...rows] = cellsOf((await run('list')).stdout)
  expect(heads).toEqual(['ID', 'STATE', 'LAST DELIVERED', 'WAITING', 'TYPES', 'URL', 'DESCRIPTION'])
  const row = [
    String(webhook.id),
    'enabled',
    '-',
    '0',
    'pet.created,pet.deleted',
    URL_OF_SHOP,
    'shop \\u001b[2J',
  ]
  expect(rows.map((cells) => cells.map((cell) => cell.trim()))).toContainEqual(row)
  expect(rows.at(-1)?.[4]).toBe('all')
  const shown = await run('show', String(webhook.id))
  expect(Object.fromEntries(cellsOf(shown.stdout))).toEqual({
    ID: String(webhook.id),
    URL: URL_OF_SHOP,
    DESCRIPTION: 'shop \\u001b[2J',
    TYPES: 'pet.created, pet.deleted',
    STATE: 'enabled',
    POSITION: webhook.position,
    WAITING: '0 messages',
    CREATED: minute(webhook['createdAt']),
  })
  expect(await json('get', String(webhook.id))).toEqual(webhook)
})

test('update changes the given fields only', async () => {
  const { id } = await create(URL_OF_SHOP, '--description', 'shop')
  const changed = await json(
    'update',
    String(id),
    '--receiver',
    `${URL_OF_SHOP}/new`,
    '--type',
    'pet.created',
  )
  expect(changed).toMatchObject({
    id,
    url: `${URL_OF_SHOP}/new`,
    types: ['pet.created'],
    description: 'shop',
  })
  expect((await run('update', String(id), '--description', 'till')).stdout).toMatch(/^DESCRIPTION +till$/m)
  const nothing = await run('update', String(id))
  expect(nothing.code).toBe(1)
  expect(nothing.stderr).toContain('give at least one of --receiver, --type and --description')
})

test('disable and enable say what happens to the events, and test names the command for a disabled webhook', async () => {
  const id = String((await create(URL_OF_SHOP)).id)
  const disabled = await run('disable', id)
  expect(disabled).toMatchObject({ code: 0, stdout: '' })
  expect(disabled.stderr).toBe(
    `Webhook ${id} is disabled. Its events wait until you run: petstore webhooks enable ${id}\n`,
  )
  expect((await run('show', id)).stdout).toMatch(/^STATE +disabled\n/m)
  const rejected = await run('test', id)
  expect(rejected.code).toBe(1)
  expect(rejected.stderr).toContain('Fix the receiver, then run: petstore webhooks enable <id>\n')
  expect((await run('enable', id)).stderr).toBe(`Webhook ${id} is enabled. It continues where it stopped.\n`)
  expect(await json('disable', id)).toMatchObject({ enabled: false, disabledReason: 'caller' })
})

test('delete removes the webhook; the commands then say how to list the others', async () => {
  const id = String((await create(URL_OF_SHOP)).id)
  expect(await run('delete', id)).toMatchObject({ code: 0, stdout: '', stderr: `Deleted webhook ${id}.\n` })
  const { code, stderr } = await run('show', id)
  expect(code).toBe(1)
  expect(stderr).toContain('No webhook has this id.\nList all webhooks with: petstore webhooks list\n')
})

test('rotate-secret prints a new secret, and the messages have both signatures during the overlap', async () => {
  const receiver = await openReceiver()
  const { id, secret = '' } = await create(receiver.url)
  const rotated = await run('rotate-secret', String(id), '--overlap', '1h')
  expect(rotated.stderr).toContain('The former secret signs the messages too for 3,600 seconds.')
  expect((await run('test', String(id), '--wait')).code).toBe(0)
  const [message] = receiver.received
  if (message === undefined) throw new Error('nothing was received')
  receiver.verify(message, secret)
  receiver.verify(message, rotated.stdout.trim())
  const long = await run('rotate-secret', String(id), '--overlap', '31d')
  expect(long.stderr).toContain('the max is 30d.')
})

test('test --wait prints the delivery, and fails if the receiver fails', async () => {
  const receiver = await openReceiver()
  const id = String((await create(receiver.url)).id)
  // Earlier deliveries are no result of the test.
  await json('test', id, '--wait')
  receiver.respond(() => ({ status: 500, delayMs: 700 }))
  const failed = await run('test', id, '--wait')
  expect(failed.code).toBe(1)
  const [heads, row = []] = cellsOf(failed.stdout)
  expect(heads).toEqual([
    'ID',
    'AT',
    'KIND',
    'TYPE',
    'PET',
    'ATTEMPT',
    'OUTCOME',
    'RESPONSE',
    'MS',
    'NEXT ATTEMPT',
  ])
  expect(row.slice(2, 8).map((cell) => cell.trim())).toEqual([
    'test',
    'webhook.test',
    '-',
    '1',
    'failed',
    '500',
  ])
  expect(failed.stderr).toContain('must return a status from 200 to 299')
  receiver.respond(() => 204)
  const delivered = await json('test', id, '--wait')
  expect(delivered).toMatchObject({ kind: 'test', attempt: 1, outcome: 'delivered', responseStatus: 204 })
  expect((await run('test', id)).stderr).toBe(
    `The test event is on its way. See the result with: petstore webhooks deliveries ${id}\n`,
  )
})

test('deliveries filters and limits; redeliver sends a message again with its id', async () => {
  const receiver = await openReceiver()
  const { id, position } = await create(receiver.url, '--type', 'pet.created')
  for (let count = 0; count < 3; count += 1) await api.addPet()
  const delivered = () => json<Webhook[]>('deliveries', String(id), '--outcome', 'delivered')
  await expect.poll(delivered).toHaveLength(3)
  const [newest, ...older] = await delivered()
  const limited = await run('deliveries', String(id), '--limit', '1')
  expect(cellsOf(limited.stdout)[1]?.[0]).toBe(String(newest?.id))
  expect(limited.stderr).toBe('More entries exist: use --limit or --all.\n')
  expect((await run('deliveries', String(id), '--outcome', 'given_up')).stderr).toBe('No entries.\n')
  const oldest = older.at(-1)
  expect((await run('redeliver', String(id), String(oldest?.id))).code).toBe(0)
  await expect.poll(delivered).toHaveLength(4)
  expect((await delivered())[0]).toMatchObject({ kind: 'redelivery', messageId: oldest?.['messageId'] })
  const before = receiver.received.length
  expect((await run('redeliver', String(id), '999999')).stderr).toContain('petstore webhooks deliveries <id>')

  const replayed = await run('replay', String(id), '--after', position)
  expect(replayed.stderr).toBe(`Webhook ${id} continues after the position ${position}.\n`)
  // A message can be sent more than once.
  const replayedIds = () => new Set(receiver.received.slice(before).map((message) => message.id))
  await expect.poll(replayedIds).toHaveProperty('size', 3)
  expect(replayedIds()).toEqual(new Set(receiver.received.slice(0, before).map((message) => message.id)))
})

test('replay names all missing arguments, and explains an expired position', async () => {
  const id = String((await create(URL_OF_SHOP)).id)
  const missing = await run('replay')
  expect(missing).toMatchObject({ code: 1 })
  expect(missing.stderr).toContain('missing <id> and --after <position>')
  expect((await run('replay', id, '--after', 'nonsense')).stderr).toContain('after must be the position')
  const expired = await run('replay', id, '--after', '000000000000-1')
  expect(expired.code).toBe(1)
  expect(expired.stderr).toContain('To continue with new events, use --after latest.')
  expect((await json('replay', id, '--after', 'latest')).position).toMatch(/-\d+$/)
})

test('create explains a URL and a type that the service rejects', async () => {
  const { code, stderr } = await run('create', 'https://user@shop.example')
  expect(code).toBe(1)
  expect(stderr).toContain('url must not contain a user name')
  expect((await run('create', URL_OF_SHOP, '--type', 'pet.fed')).stderr).toContain('Allowed choices are')
  const { text: weak } = await issueApiKey(api.db, { scopes: ['webhooks:read'] })
  const args = ['webhooks', 'create', URL_OF_SHOP]
  const forbidden = await runInProcess(args, { ...environment, PETSTORE_API_KEY: weak })
  expect(forbidden.stderr).toContain(
    'The command needs the scopes webhooks:write and pets:read. Ask the operator for a key with these scopes.',
  )
})
