// The tools of developers in test/generators/package.json. Code generated from openapi.json compiles in strict mode, narrows
// an event by its type, and calls the service. The client that the service serves has types for old compilers. The gate
// uses the dependencies, the nightly run also the devDependencies.
import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { build } from 'vite'
import { afterAll, expect, test } from 'vitest'
import { openClientFixture } from '../support/client-fixture.ts'
import { numberAllEvents } from '../support/feed-audit.ts'
import { IS_FULL } from '../support/volume.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const run = promisify(execFile)
const folder = mkdtempSync(join(tmpdir(), 'petstore-generators-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

for (const name of ['package.json', 'package-lock.json']) {
  cpSync(join(ROOT, 'test/generators', name), join(folder, name))
}
cpSync(join(ROOT, 'openapi.json'), join(folder, 'openapi.json'))
const omitted = IS_FULL ? [] : ['--omit=dev']
await run('npm', ['ci', '--prefer-offline', '--ignore-scripts', ...omitted], { cwd: folder })

const { api, apiKey } = await openClientFixture()
await api.post('/pets', { name: 'Milo', categoryId: 1 })
await numberAllEvents(api.db)
const env = { ...process.env, PETSTORE_URL: `${api.origin}/v1`, PETSTORE_API_KEY: apiKey }

interface Generator {
  name: string
  /** Runs an executable of node_modules/.bin. */
  command: [executable: string, ...args: string[]]
  /** Calls the service with the generated code: `list`, `create`, `order` and `events`. */
  calls: string
}

const CLIENT = `const headers = { authorization: \`Bearer \${process.env['PETSTORE_API_KEY']}\` }
const baseUrl = process.env['PETSTORE_URL'] ?? ''
`

/** Creates a pet twice with the same key, lists it, orders one that does not exist, and reads the events. */
const PROGRAM = `const key = process.env['KEY'] ?? ''
const [first, second] = [await create(key), await create(key)]
console.log(first?.name, first?.id === second?.id)
for (const { name, status } of await list()) console.log(name, status)
console.log(await order(99))
for (const event of await events()) {
  if (event.type === 'pet.created') console.log(event.type, event.pet.name)
  else if (event.type === 'order.placed') console.log(event.order.expiresAt)
  // @ts-expect-error not every event has an order
  else console.log(event.order.expiresAt)
}
`
const PRINTED = `Rex true
Rex available
pet_not_found
pet.created Milo
`

const GENERATORS: Generator[] = [
  {
    name: 'openapi-typescript',
    command: ['openapi-typescript', 'openapi.json', '-o', 'generated/schema.d.ts'],
    calls: `import createClient from 'openapi-fetch'
import type { paths } from './generated/schema.d.ts'
${CLIENT}
const client = createClient<paths>({ baseUrl, headers })
const list = async () => (await client.GET('/pets', { params: { query: { status: 'available', limit: 1 } } })).data ?? []
const create = async (key: string) => {
  const params = { header: { 'idempotency-key': key } }
  return (await client.POST('/pets', { params, body: { name: 'Rex', categoryId: 1 } })).data
}
const order = async (petId: number) => {
  const { error } = await client.POST('/store/orders', { body: { petId } })
  return error?.code
}
const events = async () => (await client.GET('/events', { params: { query: { type: ['pet.created'] } } })).data ?? []
`,
  },
  {
    name: 'hey-api',
    command: ['openapi-ts', '-i', 'openapi.json', '-o', 'generated'],
    calls: `import { client } from './generated/client.gen'
import { createPet, listEvents, listPets, placeOrder } from './generated/sdk.gen'
${CLIENT}
client.setConfig({ baseUrl, headers })
const list = async () => (await listPets({ query: { status: 'available', limit: 1 } })).data ?? []
const create = async (key: string) =>
  (await createPet({ headers: { 'idempotency-key': key }, body: { name: 'Rex', categoryId: 1 } })).data
const order = async (petId: number) => (await placeOrder({ body: { petId } })).error?.code
const events = async () => (await listEvents({ query: { type: ['pet.created'] } })).data ?? []
`,
  },
  {
    name: 'orval',
    command: ['orval', '--config', 'orval.config.mjs'],
    calls: `import { createPet, listEvents, listPets, placeOrder } from './generated/petstore'
${CLIENT.replace(/const baseUrl.*\n/, '')}
const list = async () => {
  const { status, data } = await listPets({ status: 'available', limit: 1 }, { headers })
  return status === 200 ? data : []
}
const create = async (key: string) => {
  const { status, data } = await createPet({ name: 'Rex', categoryId: 1 }, {
    headers: { ...headers, 'idempotency-key': key },
  })
  return status === 201 ? data : undefined
}
const order = async (petId: number) => {
  const { status, data } = await placeOrder({ petId }, { headers })
  return status === 404 ? data.code : undefined
}
const events = async () => {
  const { status, data } = await listEvents({ type: ['pet.created'] }, { headers })
  return status === 200 ? data : []
}
`,
  },
]

const ORVAL = {
  petstore: {
    input: 'openapi.json',
    output: { target: 'generated/petstore.ts', client: 'fetch', baseUrl: env.PETSTORE_URL },
  },
}

const OPTIONS = [
  '--strict',
  '--noUncheckedIndexedAccess',
  ...'--target es2022 --lib es2022,dom,dom.iterable --module esnext --moduleResolution bundler'.split(' '),
  ...'--allowImportingTsExtensions --noEmit --types node --typeRoots'.split(' '),
  join(ROOT, 'node_modules/@types'),
]

test.each(IS_FULL ? GENERATORS : GENERATORS.slice(0, 1))(
  'code of $name compiles, narrows an event by its type, and calls the service',
  async ({ name, command: [executable, ...args], calls }) => {
    const project = join(folder, name)
    mkdirSync(project)
    for (const file of ['openapi.json', 'package.json']) cpSync(join(folder, file), join(project, file))
    writeFileSync(join(project, 'orval.config.mjs'), `export default ${JSON.stringify(ORVAL)}\n`)
    const bin = (program: string) => join(folder, 'node_modules/.bin', program)
    await run(bin(executable), args, { cwd: project })
    writeFileSync(join(project, 'program.ts'), calls + PROGRAM)
    await run(bin('tsc'), [...OPTIONS, 'program.ts'], { cwd: project }).catch(
      ({ stdout }: { stdout: string }) => expect(stdout).toBe(''),
    )
    // Generated modules import each other without an extension, as bundlers resolve them.
    const output = { ssr: 'program.ts', outDir: 'out' }
    await build({ root: project, configFile: false, logLevel: 'silent', build: output })
    const { stdout } = await run(process.execPath, ['out/program.js'], {
      cwd: project,
      env: { ...env, KEY: name },
    })
    expect(stdout).toBe(PRINTED)
  },
)

const SHOP = `import { Petstore, PetstoreError } from '@petstore/client'
import { NEW_PET } from '@petstore/client/rules'
import { verifyWebhook } from '@petstore/client/webhooks'
const store = new Petstore({ baseUrl: 'http://127.0.0.1:3000', apiKey: 'x' })
for await (const pet of store.pets.list({ status: 'available' })) pet.name.trim()
const id: string = (await store.pets.create({ name: 'Rex', categoryId: 1 })).id
const event = await verifyWebhook('', {}, 'whsec_')
if (event.type === 'pet.updated') event.data.changed.join()
// @ts-expect-error an id is a string
export const wrong: number = id
export const limits: number[] = [NEW_PET.name.maxLength, new PetstoreError({ code: 'timeout', message: '' }).details.length]
`

test.each([
  ['node16', 'node16'],
  ['nodenext', 'nodenext'],
  ['esnext', 'bundler'],
])('the client compiles with TypeScript 5.0, module %s and resolution %s', async (module, resolution) => {
  const shop = mkdtempSync(join(folder, 'shop-'))
  writeFileSync(join(shop, 'package.json'), '{ "name": "a-shop", "type": "module" }')
  await run('npm', ['install', `${api.origin}/client.tgz`], { cwd: shop })
  writeFileSync(join(shop, 'shop.ts'), SHOP)
  const modules = ['--module', module, '--moduleResolution', resolution, '--target', 'es2022', '--noEmit']
  const compiler = join(folder, 'node_modules/typescript-5.0/bin/tsc')
  await run(process.execPath, [compiler, '--strict', ...modules, 'shop.ts'], {
    cwd: shop,
  }).catch(({ stdout }: { stdout: string }) => expect(stdout).toBe(''))
})

test.runIf(IS_FULL)(
  'publint and @arethetypeswrong/cli find no fault in the package of the client',
  async () => {
    const archive = join(folder, 'client.tgz')
    writeFileSync(archive, Buffer.from(await (await fetch(`${api.origin}/client.tgz`)).arrayBuffer()))
    const bin = (name: string) => join(folder, 'node_modules/.bin', name)
    const linted = await run(bin('publint'), ['--strict', 'client.tgz'], { cwd: folder })
    expect(linted.stdout).toContain('All good!')
    // Exits with 1 if it finds a fault.
    await run(bin('attw'), ['--profile', 'esm-only', 'client.tgz'], { cwd: folder })
  },
)
