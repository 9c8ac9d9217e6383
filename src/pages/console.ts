// The files of the console: one HTML page for all its paths, and the scripts and style sheets that Vite has built.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { extname, join, resolve } from 'node:path'
import { CONSOLE_ASSETS } from '../http/page-addresses.ts'
import type { Asset } from './assets.ts'
import { type PageFile, pageFile } from './files.ts'
import { renderPage } from './layout.ts'

const FOLDER = resolve(import.meta.dirname, '../../console/dist')
const HTML = 'text/html; charset=utf-8'

const TYPES: Record<string, string> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}

export interface ConsoleFiles {
  page: PageFile
  assets: Asset[]
}

/** Reads the files of `npm run build`. Without them, the page says how to build the console. */
export function consoleFiles(folder = FOLDER): ConsoleFiles {
  const page = join(folder, 'index.html')
  if (!existsSync(page)) return { page: pageFile(HTML, notBuiltPage()), assets: [] }
  return { page: pageFile(HTML, readFileSync(page)), assets: readAssets(join(folder, CONSOLE_ASSETS)) }
}

function readAssets(folder: string): Asset[] {
  return readdirSync(folder).map((name) => ({
    address: `${CONSOLE_ASSETS}/${name}`,
    file: pageFile(TYPES[extname(name)] ?? 'application/octet-stream', readFileSync(join(folder, name))),
  }))
}

function notBuiltPage(): string {
  return renderPage({
    address: '/',
    title: 'The console is not built',
    description: 'How to build the console.',
    content: `<h1>The console is not built</h1>
<p>Run <code>npm ci</code> and <code>npm run build</code> in the folder of Petstore, then restart the service. The API works without the console.</p>`,
  })
}
