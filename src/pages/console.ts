// The files of the console: one HTML page for all its paths, and the scripts and style sheets that Vite has built.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { CONSOLE_ASSETS } from '../http/page-addresses.ts'
import type { Asset } from './assets.ts'
import { BUILT_FOLDER, type PageFile, pageFile } from './files.ts'
import { notBuiltPage } from './not-built-page.ts'

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
export function consoleFiles(folder = BUILT_FOLDER): ConsoleFiles {
  const page = join(folder, 'index.html')
  if (!existsSync(page)) return { page: pageFile(HTML, notBuiltPage('console', '/')), assets: [] }
  return { page: pageFile(HTML, readFileSync(page)), assets: readAssets(join(folder, CONSOLE_ASSETS)) }
}

function readAssets(folder: string): Asset[] {
  return readdirSync(folder).map((name) => ({
    address: `${CONSOLE_ASSETS}/${name}`,
    file: pageFile(TYPES[extname(name)] ?? 'application/octet-stream', readFileSync(join(folder, name))),
  }))
}
