// Checks that the tables of docs/evidence/performance.md are those of the recorded benchmark.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { report } from '../../lab/bench/report.ts'
import { readResults } from '../../lab/bench/results.ts'

test('the tables of docs/evidence/performance.md have the figures of lab/bench/results.json', () => {
  const page = readFileSync(join(import.meta.dirname, '../../docs/evidence/performance.md'), 'utf8')
  expect(page).toContain(report(readResults()))
})
