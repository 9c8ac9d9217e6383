// Checks that the figures of docs/evidence/reliability.md are those of the current operations.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ROOT } from '../support/documents.ts'

test.each(['inputs | operations', 'model | operations called'])(
  'the last run had as many operations as openapi.json: %s',
  (row) => {
    const page = readFileSync(join(ROOT, 'docs/evidence/reliability.md'), 'utf8')
    const { paths } = JSON.parse(readFileSync(join(ROOT, 'openapi.json'), 'utf8')) as {
      paths: Record<string, object>
    }
    const operations = Object.values(paths).flatMap((methods) => Object.keys(methods)).length
    const again = 'run: npm run test:proof && npm run test:mutants && node test/proof/table.ts --write'
    expect(page.includes(`| ${row} | ${operations} |`), again).toBe(true)
  },
)
