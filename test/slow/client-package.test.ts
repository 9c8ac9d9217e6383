// The client package as users get it: packed, installed in an empty folder, used from JavaScript and TypeScript.
import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, expect, test } from 'vitest'
import { openClientFixture } from '../client/fixture.ts'
import { programOf } from '../client/readme.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const run = promisify(execFile)
const folder = mkdtempSync(join(tmpdir(), 'petstore-client-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

await run('npm', ['pack', '--workspace', 'client', '--pack-destination', folder], { cwd: ROOT })
writeFileSync(join(folder, 'package.json'), '{ "name": "a-shop", "type": "module" }')
await run('npm', ['install', '--offline', './petstore-client-1.1.0.tgz'], { cwd: folder })

const { api, apiKey } = await openClientFixture()
const env = { PETSTORE_URL: `${api.origin}/v1`, PETSTORE_API_KEY: apiKey }
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

const PROGRAM = `import { Petstore, PetstoreError } from '@petstore/client'
const { PETSTORE_URL: baseUrl = '', PETSTORE_API_KEY: apiKey = '' } = process.env
const store = new Petstore({ baseUrl, apiKey })
const pet = await store.pets.create({ name: 'Packed', categoryId: '9223372036854775807' })
for await (const { name, categoryId } of store.pets.list({ id: [pet.id] })) console.log(name, categoryId)
const order = await store.orders.place({ petId: pet.id })
await store.orders.complete(order.id)
const error = await store.orders.cancel(order.id).catch((thrown) => thrown)
console.log(error instanceof PetstoreError, error.code, error.status)
`
const PRINTED = 'Packed 9223372036854775807\ntrue order_closed 409\n'

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
