// The tests that docs/evidence/security.md names. names.test.ts checks the files that it names.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ROOT } from '../support/documents.ts'

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
/** One row for each risk and for each attack on signing in; its last column names the tests. */
const rows = [
  ...read('docs/evidence/security.md').matchAll(/^\| (?!Risk|Attack)\w[^|]*\|(?:[^|]+\|)+?([^|]+)\|$/gm),
]

/** The test files in a text, each with the titles in quotes after it. */
function testsIn(text: string): { file: string; titles: string[] }[] {
  return [...text.matchAll(/`(test\/[^`]*)`([^`]*)/g)].map(([, file = '', after = '']) => ({
    file,
    titles: [...after.matchAll(/"([^"]+)"/g)].map(([, title = '']) => title),
  }))
}

function titlesIn(file: string): string[] {
  return [...read(file).matchAll(/(?:^|[\s)])(?:test[\w.]*)?\(\s*(['"`])((?:(?!\1)[^\\\n])*)\1,/g)].map(
    ([, , title = '']) => title,
  )
}

test('every risk names its tests by title, and the tests exist', () => {
  expect(rows.length).toBeGreaterThan(20)
  for (const [row, tests = ''] of rows) {
    expect(testsIn(tests), row).not.toEqual([])
    for (const { file, titles } of testsIn(tests)) {
      expect(titles, `${file} is named without a test`).not.toEqual([])
      expect(titlesIn(file)).toEqual(expect.arrayContaining(titles))
    }
  }
})
