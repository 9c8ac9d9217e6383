// client/README.md is true: its snippets run, one after the other, as one program.
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import type { ClientErrorCode } from '../../client/src/petstore.ts'
import { programOf } from './readme.ts'
import { openClientShop } from './shop.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const readme = readFileSync(join(ROOT, 'client/README.md'), 'utf8')

test('the snippets run and print what they should', async () => {
  const { shop, apiKey, store } = await openClientShop()
  const folder = mkdtempSync(join(tmpdir(), 'petstore-readme-'))
  const program = programOf(readme, shop.origin).replace(
    "'@petstore/client'",
    JSON.stringify(join(ROOT, 'client/src/petstore.ts')),
  )
  writeFileSync(join(folder, 'readme.ts'), program)
  try {
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [join(folder, 'readme.ts')], {
      env: { PETSTORE_API_KEY: apiKey },
      timeout: 20_000,
    })
    expect(stderr).toBe('')
    expect(stdout.trim().split('\n')).toEqual([
      '1 Biscuit',
      '{ available: 0, pending: 0, sold: 1 }',
      'Somebody was faster.',
      'client',
    ])
  } finally {
    rmSync(folder, { recursive: true })
  }
  expect(await store.inventory()).toEqual({ available: 1, pending: 0, sold: 2 })
})

test('every code of the client is explained', () => {
  const codes: Record<ClientErrorCode, true> = {
    network_error: true,
    timeout: true,
    aborted: true,
    unexpected_answer: true,
    invalid_id: true,
  }
  const documented = [...readme.matchAll(/^\| `([a-z_]+)` \| [A-Z]/gm)].map(([, code]) => code)
  expect(documented).toEqual(Object.keys(codes))
})

test('the methods that it names are those that there are', async () => {
  const { store } = await openClientShop()
  for (const group of ['pets', 'orders', 'categories', 'apiKeys'] as const) {
    const row = readme.match(new RegExp(`^\\| \`store\\.${group}\` \\| (.*) \\|$`, 'm'))?.[1] ?? ''
    const named = [...row.matchAll(/`(\w+)`/g)].map(([, method = '']) => method)
    expect(named.sort()).toEqual(Object.keys(store[group]).sort())
  }
})
