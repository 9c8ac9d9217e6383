// The client package as users get it: from the service, installed in an empty folder, used from JavaScript and TypeScript.
import { execFile } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, expect, test } from 'vitest'
import { makeSecret, signMessage, writeSecret } from '../../src/events/webhooks/signature.ts'
import { openClientFixture } from '../support/client-fixture.ts'
import { programOf } from '../support/client-readme.ts'
import { startPetstore } from '../support/service.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const run = promisify(execFile)
const folder = mkdtempSync(join(tmpdir(), 'petstore-client-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const { api, apiKey } = await openClientFixture()
writeFileSync(join(folder, 'package.json'), '{ "name": "a-shop", "type": "module" }')
await run('npm', ['install', `${api.origin}/client.tgz`], { cwd: folder })

const secret = makeSecret()
const webhook = signedWebhook()
const env = {
  PETSTORE_URL: `${api.origin}/v1`,
  PETSTORE_API_KEY: apiKey,
  WEBHOOK_SECRET: writeSecret(secret),
  WEBHOOK: JSON.stringify(webhook),
}
const installed = join(folder, 'node_modules/@petstore/client')

/** The Node that runs this test, and every Node on the PATH. */
const nodes = [
  process.execPath,
  ...(process.env['PATH'] ?? '')
    .split(delimiter)
    .filter((path) => !path.includes('node_modules'))
    .map((path) => join(path, 'node'))
    .filter(existsSync),
]

/** A webhook as the service sends it. */
function signedWebhook(): { headers: Record<string, string>; body: string } {
  const pet = '{"id":9007199254740993,"name":"Rex","categoryId":1,"status":"sold"}'
  const data = `{"position":"a-1","petId":9007199254740993,"pet":${pet},"changed":["status"]}`
  const body = `{"type":"pet.updated","timestamp":"2026-11-15T10:00:00.000Z","data":${data}}`
  const [id, timestamp] = ['evt_a-1', Math.floor(Date.now() / 1000)]
  const signature = signMessage({ id, timestamp, body }, [secret])
  const headers = {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signature,
  }
  return { headers, body }
}

const PROGRAM = `import { Petstore, PetstoreError } from '@petstore/client'
import { verifyWebhook, WebhookVerificationError } from '@petstore/client/webhooks'
const { PETSTORE_URL: baseUrl = '', PETSTORE_API_KEY: apiKey = '', WEBHOOK = '', WEBHOOK_SECRET = '' } = process.env
const store = new Petstore({ baseUrl, apiKey })
const pet = await store.pets.create({ name: 'Packed', categoryId: '9223372036854775807' })
for await (const { name, categoryId } of store.pets.list({ id: [pet.id] })) console.log(name, categoryId)
const order = await store.orders.place({ petId: pet.id })
await store.orders.complete(order.id)
const error = await store.orders.cancel(order.id).catch((thrown) => thrown)
console.log(error instanceof PetstoreError, error.code, error.status)
const { body, headers } = JSON.parse(WEBHOOK)
const event = await verifyWebhook(body, headers, WEBHOOK_SECRET, { toleranceSeconds: 900 })
if (event.type === 'pet.updated') console.log(event.data.petId, event.data.pet.name)
const rejected = await verifyWebhook(body + ' ', headers, WEBHOOK_SECRET, { toleranceSeconds: 900 }).catch((thrown) => thrown)
console.log(rejected instanceof WebhookVerificationError, rejected.code)
`
const PRINTED = `Packed 9223372036854775807
true order_closed 409
9007199254740993 Rex
true invalid_signature
`

test('the package contains the compiled client, its types, licence and README, and nothing else', () => {
  const files = readdirSync(installed, { recursive: true, encoding: 'utf8' }).filter((path) =>
    path.includes('.'),
  )
  const sources = readdirSync(join(ROOT, 'client/src')).map((name) => name.replace(/\.ts$/, ''))
  const compiled = sources.flatMap((name) => [`dist/${name}.d.ts`, `dist/${name}.js`])
  expect(files.sort()).toEqual([...compiled, 'README.md', 'package.json'].sort())
  expect(readFileSync(join(installed, 'LICENSE'), 'utf8')).toBe(readFileSync(join(ROOT, 'LICENSE'), 'utf8'))
})

test('a JavaScript program runs on each installed Node from version 20', async () => {
  writeFileSync(join(folder, 'plain.js'), PROGRAM)
  for (const node of nodes) {
    const { stdout: version } = await run(node, ['--version'])
    console.log(`Node ${version.trim()}`)
    if (Number.parseInt(version.slice(1), 10) < 20) continue
    const { stdout, stderr } = await run(node, ['plain.js'], { cwd: folder, env })
    expect(stdout, version).toBe(PRINTED)
    expect(stderr, version).toBe('')
  }
})

const STRICT = [
  '--strict',
  '--exactOptionalPropertyTypes',
  '--noUncheckedIndexedAccess',
  '--target',
  'es2022',
]
const TYPES = ['--types', 'node', '--typeRoots', join(ROOT, 'node_modules/@types')]

test.each([
  ['nodenext', 'nodenext'],
  ['esnext', 'bundler'],
])('a TypeScript program compiles and runs with module %s and resolution %s', async (module, resolution) => {
  writeFileSync(join(folder, 'typed.ts'), PROGRAM)
  const modules = ['--module', module, '--moduleResolution', resolution]
  await run(join(ROOT, 'node_modules/.bin/tsc'), [...STRICT, ...modules, ...TYPES, 'typed.ts'], {
    cwd: folder,
  })
  expect((await run(process.execPath, ['typed.js'], { cwd: folder, env })).stdout).toBe(PRINTED)
})

test('the client compiles without the type declarations of Node', async () => {
  writeFileSync(join(folder, 'page.ts'), PROGRAM.replace('process.env', '{} as Record<string, string>'))
  const page = ['--module', 'esnext', '--moduleResolution', 'bundler', '--lib', 'es2022,dom', '--types', '']
  await run(join(ROOT, 'node_modules/.bin/tsc'), [...STRICT, ...page, '--noEmit', 'page.ts'], { cwd: folder })
})

test('the snippets of client/README.md compile unchanged', async () => {
  writeFileSync(
    join(folder, 'readme.ts'),
    programOf(readFileSync(join(installed, 'README.md'), 'utf8'), api.origin),
  )
  const modules = ['--module', 'nodenext', '--moduleResolution', 'nodenext', '--noEmit']
  await run(join(ROOT, 'node_modules/.bin/tsc'), [...STRICT, ...modules, ...TYPES, 'readme.ts'], {
    cwd: folder,
  })
})

test('the receiver of client/README.md compiles, accepts a signed webhook and rejects a changed one', async () => {
  const readme = readFileSync(join(installed, 'README.md'), 'utf8')
  const [, receiver = ''] = /^```ts receive\.ts\n([^]*?)^```$/m.exec(readme) ?? []
  const program = `${receiver}
const { headers, body } = JSON.parse(process.env['WEBHOOK'] ?? '')
for (const sent of [body, body + ' ']) {
  const response = await receive(new Request('http://localhost/hook', { method: 'POST', headers, body: sent }))
  console.log(response.status, await response.text())
}
`
  writeFileSync(join(folder, 'receive.ts'), program)
  const modules = ['--module', 'nodenext', '--moduleResolution', 'nodenext']
  await run(join(ROOT, 'node_modules/.bin/tsc'), [...STRICT, ...modules, ...TYPES, 'receive.ts'], {
    cwd: folder,
  })
  env.WEBHOOK = JSON.stringify(signedWebhook())
  const { stdout } = await run(process.execPath, ['receive.js'], {
    cwd: folder,
    env: { ...env, WEBHOOK_SECRETS: env.WEBHOOK_SECRET },
  })
  expect(stdout).toBe("Rex [ 'status' ]\n204 \n400 invalid_signature\n")
})

test.each(['fastify', 'express'])('the example %s.ts runs next to the installed package', async (name) => {
  cpSync(join(ROOT, 'examples/webhook-receivers'), folder, { recursive: true })
  const link = join(folder, 'node_modules', name)
  symlinkSync(join(ROOT, 'node_modules', name), link)
  const receiver = startPetstore(
    [],
    { WEBHOOK_SECRETS: env.WEBHOOK_SECRET, PORT: '0' },
    join(folder, `${name}.ts`),
  )
  const printed = () => receiver.printed().stdout
  await expect.poll(printed).toContain('Listening on ')
  const [origin = ''] = /http:\S+/.exec(printed()) ?? []
  const { headers, body } = signedWebhook()
  expect((await fetch(`${origin}/hook`, { method: 'POST', headers, body })).status).toBe(204)
  expect((await fetch(`${origin}/hook`, { method: 'POST', headers, body: '{}' })).status).toBe(400)
  await expect.poll(printed).toContain('evt_a-1: pet.updated 9007199254740993')
  receiver.kill('SIGTERM')
  await receiver.finished
})
