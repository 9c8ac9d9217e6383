// The pages that tell people which facts a pet has name every one of them.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { WRITABLE_NAMES } from '../../src/contract/profile-fields.ts'

test.each(['interface', 'import-export'])('docs/%s.md names every fact of a pet', (page) => {
  const text = readFileSync(join(import.meta.dirname, `../../docs/${page}.md`), 'utf8')
  expect(WRITABLE_NAMES.filter((name) => !text.includes(`\`${name}\``))).toEqual([])
})
