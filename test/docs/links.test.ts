// Every link of every document leads somewhere: to a file or a folder that is there, and to a heading in it.
import { existsSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { expect, test } from 'vitest'
import { documents, parseDocument, ROOT } from './documents.ts'

function faultOf(from: string, link: string): string | undefined {
  if (/^https?:/.test(link)) return URL.canParse(link) ? undefined : 'is no address'
  const [target = '', anchor] = link.split('#')
  const path = target === '' ? from : join(dirname(from), target)
  if (relative(ROOT, join(ROOT, path)).startsWith('..')) return 'leaves the repository'
  if (!existsSync(join(ROOT, path))) return 'leads nowhere'
  if (anchor === undefined) return undefined
  const headings = documents.find((document) => document.path === path)?.anchors ?? []
  return headings.includes(anchor) ? undefined : `names no heading there; there are ${headings.join(', ')}`
}

test('every link leads to a file that is there, and to a heading that it has', () => {
  const faults = documents.flatMap(({ path, links }) =>
    links.flatMap(({ text, line }) => {
      const fault = faultOf(path, text)
      return fault === undefined ? [] : [`${path}:${line}: ${text} ${fault}`]
    }),
  )
  expect(faults).toEqual([])
})

test('every document can be reached from the README', () => {
  const reached = new Set(['README.md'])
  for (const path of reached) {
    for (const { text } of documents.find((document) => document.path === path)?.links ?? []) {
      const target = join(dirname(path), text.split('#')[0] ?? '')
      // A folder is shown with everything in it.
      for (const other of documents) {
        if (other.path === target || dirname(other.path) === target.replace(/\/$/, ''))
          reached.add(other.path)
      }
    }
  }
  expect(documents.map(({ path }) => path).filter((path) => !reached.has(path))).toEqual([])
})

test('headings are named as GitHub names them', () => {
  const { anchors } = parseDocument(
    'x.md',
    '# The end of `getPet`\n## A sale, twice?\n## Keys & scopes\n## A sale, twice?\n',
  )
  expect(anchors).toEqual(['the-end-of-getpet', 'a-sale-twice', 'keys--scopes', 'a-sale-twice-1'])
})
