// Every document of the repository, and what it says in code: blocks, spans, links, headings.
import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

export const ROOT = resolve(import.meta.dirname, '../..')
const NOT_OURS = new Set(['node_modules', '.git', '.dev', '.proof', 'dist'])

export interface Block {
  language: string
  /** After the language: the name of the file that the reader is told to make of it. */
  file: string
  text: string
  /** Of its first line of text, counted from 1. */
  line: number
  /** Nothing but an empty line stands between it and the block before. */
  followsBlock: boolean
}

export interface Span {
  text: string
  line: number
}

export interface Document {
  /** From the root of the repository. */
  path: string
  text: string
  blocks: Block[]
  /** Code within a sentence or a table. */
  spans: Span[]
  /** Targets of links and pictures. */
  links: Span[]
  /** What a link may name after `#`, as GitHub makes it. */
  anchors: string[]
}

export const documents: Document[] = filesBelow('')
  .filter((path) => path.endsWith('.md'))
  .sort()
  .map((path) => parseDocument(path, readFileSync(join(ROOT, path), 'utf8')))

/** Every file of the repository that a document may name. */
export function filesBelow(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { withFileTypes: true }).flatMap((entry) => {
    if (NOT_OURS.has(entry.name)) return []
    const path = join(folder, entry.name)
    return entry.isDirectory() ? filesBelow(path) : [path]
  })
}

export function parseDocument(path: string, text: string): Document {
  const document: Document = { path, text, blocks: [], spans: [], links: [], anchors: [] }
  let block: Block | undefined
  let indent = ''
  let onlyEmptySince = false
  for (const [index, line] of text.split('\n').entries()) {
    const fence = /^( *)```([\w-]*) ?(.*)$/.exec(line)
    if (block !== undefined && fence !== null) {
      document.blocks.push(block)
      block = undefined
      onlyEmptySince = true
    } else if (block !== undefined) {
      // One inside of a list is indented as the list is.
      block.text += `${line.startsWith(indent) ? line.slice(indent.length) : line}\n`
    } else if (fence !== null) {
      const [, before = '', language = '', file = ''] = fence
      indent = before
      block = { language, file, text: '', line: index + 2, followsBlock: onlyEmptySince }
    } else {
      onlyEmptySince &&= line === ''
      readLine(document, line, index + 1)
    }
  }
  if (block !== undefined) throw new Error(`${path}:${block.line}: the block has no end`)
  return document
}

function readLine(document: Document, line: string, number: number): void {
  const heading = /^#+ (.+)$/.exec(line)?.[1]
  if (heading !== undefined) document.anchors.push(anchorOf(heading, document.anchors))
  for (const [, text = ''] of line.matchAll(/`([^`]+)`/g)) document.spans.push({ text, line: number })
  const prose = line.replaceAll(/`[^`]*`/g, 'code')
  for (const [, inMarkdown, inHtml] of prose.matchAll(/\]\(([^()\s]+)\)|\b(?:src|srcset|href)="([^"]+)"/g)) {
    document.links.push({ text: inMarkdown ?? inHtml ?? '', line: number })
  }
}

/** GitHub's rule: small letters, no punctuation, hyphens for spaces, a number where it was there before. */
function anchorOf(heading: string, taken: readonly string[]): string {
  const anchor = heading
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-')
  const numbered = [anchor, ...taken.map((_, index) => `${anchor}-${index + 1}`)]
  return numbered.find((candidate) => !taken.includes(candidate)) ?? anchor
}
