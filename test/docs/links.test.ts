// Links in documents.
import { existsSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { expect, test } from 'vitest'
import { documents, parseDocument, ROOT } from '../support/documents.ts'

function problemOf(from: string, link: string): string | undefined {
  if (/^https?:/.test(link)) return URL.canParse(link) ? undefined : 'is not a valid URL'
  const [target = '', anchor] = link.split('#')
  const path = target === '' ? from : join(dirname(from), target)
  if (relative(ROOT, join(ROOT, path)).startsWith('..')) return 'leaves the repository'
  if (!existsSync(join(ROOT, path))) return 'does not exist'
  if (anchor === undefined) return undefined
  const headings = documents.find((document) => document.path === path)?.anchors ?? []
  return headings.includes(anchor) ? undefined : `names no heading; the headings are ${headings.join(', ')}`
}

test('every link points to an existing file and heading', () => {
  const problems = documents.flatMap(({ path, links }) =>
    links.flatMap(({ text, line }) => {
      const problem = problemOf(path, text)
      return problem === undefined ? [] : [`${path}:${line}: ${text} ${problem}`]
    }),
  )
  expect(problems).toEqual([])
})

test('every document is reachable from the README', () => {
  const reached = new Set(['README.md'])
  for (const path of reached) {
    for (const { text } of documents.find((document) => document.path === path)?.links ?? []) {
      const target = join(dirname(path), text.split('#')[0] ?? '')
      // GitHub lists the files of a linked folder.
      for (const other of documents) {
        if (other.path === target || dirname(other.path) === target.replace(/\/$/, ''))
          reached.add(other.path)
      }
    }
  }
  expect(documents.map(({ path }) => path).filter((path) => !reached.has(path))).toEqual([])
})

test('anchors of headings follow the rules of GitHub', () => {
  const { anchors } = parseDocument(
    'x.md',
    '# The end of `getPet`\n## A sale, twice?\n## Keys & scopes\n## A sale, twice?\n',
  )
  expect(anchors).toEqual(['the-end-of-getpet', 'a-sale-twice', 'keys--scopes', 'a-sale-twice-1'])
})
