// The client package: types that match openapi.json, a small size, and no dependencies, not even on Node modules.
import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build, type Rollup } from 'vite'
import { expect, test } from 'vitest'
import * as rules from '@petstore/client/rules'
import { CLIENT_SOURCES } from '../support/vitest-options.ts'
import { clientRules } from '../../dev/client-rules.ts'
import { clientTypes, type InterfaceDocument } from '../../dev/client-types.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const SOURCES = join(ROOT, 'client/src')

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
const document = () => JSON.parse(read('openapi.json')) as InterfaceDocument

test('the types and the rules match openapi.json', () => {
  expect(read('client/src/interface.ts')).toBe(clientTypes(document()))
  expect(read('client/src/rules.ts')).toBe(clientRules(document()))
})

test('generating the types fails for a field named like an id that is none, an id with another name, and an unknown type', () => {
  const counted = document()
  counted.components.schemas['Pet']!.properties!['cageId'] = { type: 'integer' }
  expect(() => clientTypes(counted)).toThrow('"cageId"')
  const missed = document()
  missed.components.schemas['Pet']!.properties!['chip'] = { type: 'integer', format: 'int64' }
  expect(() => clientTypes(missed)).toThrow('"chip"')
  const unknown = document()
  unknown.components.schemas['Pet']!.properties!['weight'] = { type: 'number' }
  expect(() => clientTypes(unknown)).toThrow('does not know')
})

test.each([
  ['petstore.ts', ['Petstore', 'PetstoreError'], 8_000],
  ['rules.ts', Object.keys(rules).sort(), 2_000],
  ['webhooks.ts', ['WebhookVerificationError', 'verifyWebhook'], 2_000],
])(
  '%s exports %o and is smaller than %i bytes when minified and compressed',
  async (file, exports, bytesMax) => {
    const result = (await build({
      configFile: false,
      logLevel: 'silent',
      build: {
        write: false,
        minify: true,
        rollupOptions: { input: join(SOURCES, file), preserveEntrySignatures: 'strict' },
      },
    })) as Rollup.RollupOutput
    const [chunk, ...others] = result.output
    expect(others).toEqual([])
    expect(chunk.exports.sort()).toEqual(exports)
    const bytes = gzipSync(chunk.code).length
    console.log(`${file}: ${chunk.code.length} bytes minified, ${bytes} compressed`)
    expect(bytes).toBeLessThan(bytesMax)
    // Few lines show that the code was minified: without that, it could also be below the limit.
    expect(chunk.code.split('\n').length).toBeLessThan(20)
  },
)

test('imports only its own files and has no dependencies', () => {
  for (const file of readdirSync(SOURCES)) {
    for (const [, target = ''] of read(`client/src/${file}`).matchAll(/(?:from|import)\s*\(?\s*'([^']+)'/g)) {
      expect(target, file).toMatch(/^\.\/[\w-]+\.ts$/)
    }
  }
  expect(JSON.parse(read('client/package.json'))).not.toHaveProperty('dependencies')
})

test('every export of the package has a source, types and an entry for the tests and the type check', () => {
  const { exports } = JSON.parse(read('client/package.json')) as { exports: Record<string, object> }
  const { paths } = (JSON.parse(read('tsconfig.json')) as { compilerOptions: { paths: object } })
    .compilerOptions
  for (const [path, targets] of Object.entries(exports)) {
    const name = path.replace('.', '@petstore/client')
    const source = path === '.' ? 'petstore' : path.slice('./'.length)
    expect(targets).toEqual({ types: `./dist/${source}.d.ts`, default: `./dist/${source}.js` })
    expect(paths).toHaveProperty([name], [`./client/src/${source}.ts`])
    expect(CLIENT_SOURCES.alias).toHaveProperty([name], join(SOURCES, `${source}.ts`))
  }
})
