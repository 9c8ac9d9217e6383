// client/README.md names the error codes and methods that exist. Its snippets run in test/docs/guides.test.ts.
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import type { ClientErrorCode } from '@petstore/client'
import { openClientFixture } from './fixture.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const readme = readFileSync(join(ROOT, 'client/README.md'), 'utf8')

test('explains every error code of the client', () => {
  const codes: Record<ClientErrorCode, true> = {
    network_error: true,
    timeout: true,
    aborted: true,
    unexpected_answer: true,
    invalid_id: true,
  }
  const errors = readme.slice(readme.indexOf('\n## Errors\n'), readme.indexOf('\n## Retries\n'))
  const documented = [...errors.matchAll(/^\| `([a-z_]+)` \| [A-Z]/gm)].map(([, code]) => code)
  expect(documented).toEqual(Object.keys(codes))
})

test('names every method, and no method that does not exist', async () => {
  const { store } = await openClientFixture()
  for (const group of ['pets', 'orders', 'categories', 'events', 'apiKeys'] as const) {
    const row = readme.match(new RegExp(`^\\| \`store\\.${group}\` \\| (.*) \\|$`, 'm'))?.[1] ?? ''
    const named = [...row.matchAll(/`(\w+)`/g)].map(([, method = '']) => method)
    expect(named.sort()).toEqual(Object.keys(store[group]).sort())
  }
})
