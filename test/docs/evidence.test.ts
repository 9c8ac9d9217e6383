// Checks that the ten figures of docs/evidence.md are those of the tables that they link to.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ROOT } from '../support/documents.ts'

const read = (path: string) => readFileSync(join(ROOT, 'docs', path), 'utf8')
/** A round figure, such as "about 4,000", is not compared. */
const EXACT = /(?<!about )(?<![\d,.])\d+(?:[,.]\d+)+(?![\d,.]*\d)/g

const rows = [
  ...read('evidence.md').matchAll(/^\| ([^|]+) \| ([^|]+\((evidence\/\w+\.md)[^)]*\)\)) \| \d{4}-[^|]+\|$/gm),
].map(([, name = '', measured = '', table = '']) => ({ name, measured, table }))

test('docs/evidence.md has ten figures', () => {
  expect(rows).toHaveLength(10)
})

test.each(rows)('the linked table has the figure: $name', ({ measured, table }) => {
  const figures = measured.match(EXACT) ?? []
  expect(figures.filter((figure) => !read(table).includes(figure))).toEqual([])
})
