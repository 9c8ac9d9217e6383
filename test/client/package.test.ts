// The client package: types that match openapi.json, a small size, and no dependencies, not even on Node modules.
import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build, type Rollup } from 'vite'
import { expect, test } from 'vitest'
import { clientTypes, type InterfaceDocument } from '../../dev/client-types.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const SOURCES = join(ROOT, 'client/src')
const SIZE_MAX_BYTES = 8_000

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
const document = () => JSON.parse(read('openapi.json')) as InterfaceDocument

test('the types match openapi.json', () => {
  expect(read('client/src/interface.ts')).toBe(clientTypes(document()))
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

test('is smaller than 8 kB when minified and compressed', async () => {
  const result = (await build({
    configFile: false,
    logLevel: 'silent',
    build: {
      write: false,
      minify: true,
      rollupOptions: { input: join(SOURCES, 'petstore.ts'), preserveEntrySignatures: 'strict' },
    },
  })) as Rollup.RollupOutput
  const [chunk, ...others] = result.output
  expect(others).toEqual([])
  expect(chunk.exports.sort()).toEqual(['Petstore', 'PetstoreError'])
  const bytes = gzipSync(chunk.code).length
  console.log(`the client: ${chunk.code.length} bytes minified, ${bytes} compressed`)
  expect(bytes).toBeLessThan(SIZE_MAX_BYTES)
  // Few lines show that the code was minified: without that, it could also be below the limit.
  expect(chunk.code.split('\n').length).toBeLessThan(20)
})

test('imports only its own files and has no dependencies', () => {
  for (const file of readdirSync(SOURCES)) {
    for (const [, target = ''] of read(`client/src/${file}`).matchAll(/(?:from|import)\s*\(?\s*'([^']+)'/g)) {
      expect(target, file).toMatch(/^\.\/[\w-]+\.ts$/)
    }
  }
  expect(JSON.parse(read('client/package.json'))).not.toHaveProperty('dependencies')
})
