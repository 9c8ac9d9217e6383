// docs/security.md is true: every risk has its row, and every file and every test that it names exists.
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'

const ROOT = resolve(import.meta.dirname, '../..')
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
const page = read('docs/security.md')
const RISKS = 10
const rows = [...page.matchAll(/^\| API(\d+) [^|]+\|([^|]+)\|([^|]+)\|([^|]+)\|$/gm)].map(
  ([, number, exposure = '', control = '', tests = '']) => ({ number, exposure, control, tests }),
)

/** Files named in a text, each with the titles in quotes that follow it. */
function namedIn(text: string): { file: string; titles: string[] }[] {
  return [
    ...text.matchAll(
      /`((?:src|test|deploy|dev|bin|migrations)\/[^`]*|[\w.-]+\.(?:json|npmrc)|\.npmrc)`([^`]*)/g,
    ),
  ].map(([, file = '', after = '']) => ({
    file,
    titles: [...after.matchAll(/"([^"]+)"/g)].map(([, title = '']) => title),
  }))
}

/** Titles of the tests in a file, as they are written there. */
function titlesIn(file: string): string[] {
  return [...read(file).matchAll(/(?:^|[\s)])(?:test[\w.]*)?\(\s*(['"`])((?:(?!\1)[^\\\n])*)\1,/g)].map(
    ([, , title = '']) => title,
  )
}

test('each of the ten risks has one row, with an exposure, a control in a file and a test', () => {
  expect(rows.map(({ number }) => Number(number))).toEqual(Array.from({ length: RISKS }, (_, n) => n + 1))
  for (const { exposure, control, tests } of rows) {
    expect(exposure.trim()).not.toBe('')
    expect(namedIn(control), control).not.toEqual([])
    expect(namedIn(tests), tests).not.toEqual([])
  }
})

test('every file that the page names exists', () => {
  const files = namedIn(page).map(({ file }) => file)
  expect(files.length).toBeGreaterThan(RISKS)
  expect(files.filter((file) => !existsSync(join(ROOT, file)))).toEqual([])
})

test.each(rows)('every test that the row of API$number names exists, by its title', ({ tests }) => {
  for (const { file, titles } of namedIn(tests)) {
    expect(titles, `${file} is named without a test`).not.toEqual([])
    const existing = titlesIn(file)
    expect(
      titles.filter((title) => !existing.includes(title)),
      file,
    ).toEqual([])
  }
})
