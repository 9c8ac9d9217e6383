// Parses every document of the repository: code blocks, code spans, links and headings.
import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

export const ROOT = resolve(import.meta.dirname, '../..')
const IGNORED_FOLDERS = new Set(['node_modules', '.git', '.dev', '.proof', 'dist'])

export interface Block {
  language: string
  /** The file name after the language, if the reader saves the block as a file. */
  file: string
  text: string
  /** The number of its first line of text. */
  line: number
  /** Only empty lines separate it from the previous block. */
  followsBlock: boolean
}

export interface Span {
  text: string
  line: number
}

export interface Document {
  /** Relative to the root of the repository. */
  path: string
  text: string
  blocks: Block[]
  /** Inline code. */
  spans: Span[]
  /** Targets of links and images. */
  links: Span[]
  /** The anchors of headings on GitHub. */
  anchors: string[]
}

export const documents: Document[] = filesBelow('')
  .filter((path) => path.endsWith('.md'))
  .sort()
  .map((path) => parseDocument(path, readFileSync(join(ROOT, path), 'utf8')))

/** All files of the repository in a folder and its subfolders. */
export function filesBelow(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { withFileTypes: true }).flatMap((entry) => {
    if (IGNORED_FOLDERS.has(entry.name)) return []
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
      // A block in a list is indented like the list.
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
  if (block !== undefined) throw new Error(`${path}:${block.line}: the block is not closed`)
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

/** GitHub's rules: lower case, no punctuation, hyphens for spaces, a number after a duplicate. */
function anchorOf(heading: string, taken: readonly string[]): string {
  const anchor = heading
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-')
  const numbered = [anchor, ...taken.map((_, index) => `${anchor}-${index + 1}`)]
  return numbered.find((candidate) => !taken.includes(candidate)) ?? anchor
}
