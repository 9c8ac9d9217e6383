// The files of the console: one HTML page for all its paths, and the scripts and style sheets that Vite has built.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { CONSOLE_ASSETS } from '../http/page-addresses.ts'
import { HTML_TYPE } from '../http/security-headers.ts'
import { decimalsOf } from '../values/money.ts'
import type { Asset } from './assets.ts'
import { BUILT_FOLDER, type PageFile, pageFile } from './files.ts'
import { escapeHtml } from './layout.ts'
import { notBuiltPage } from './not-built-page.ts'

const TYPES: Record<string, string> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
}

/** The build writes these files beside the others. */
const BROTLI = '.br'

export interface ConsoleFiles {
  page: (shop: PageShop) => PageFile
  assets: Asset[]
}

/** What the page contains, so that its first amounts and times are those of the shop. */
type PageShop = Record<'currency' | 'timeZone', string>

const SHOP = /<meta name="petstore-shop"[^>]*>/

/** Reads the files of `npm run build`. Without them, the page says how to build the console. */
export function consoleFiles(folder = BUILT_FOLDER): ConsoleFiles {
  const path = join(folder, 'index.html')
  const isBuilt = existsSync(path)
  const html = isBuilt ? readFileSync(path, 'utf8') : notBuiltPage('console', '/')
  const pages = new Map<string, PageFile>()
  const page = ({ currency, timeZone }: PageShop): PageFile => {
    const shop = `<meta name="petstore-shop" content="${currency}" data-decimals="${decimalsOf(currency)}" data-time-zone="${escapeHtml(timeZone)}">`
    const file =
      pages.get(shop) ??
      pageFile(
        HTML_TYPE,
        html.replace(SHOP, () => shop),
      )
    pages.set(shop, file)
    return file
  }
  return { page, assets: isBuilt ? readAssets(join(folder, CONSOLE_ASSETS)) : [] }
}

function readAssets(folder: string): Asset[] {
  const names = new Set(readdirSync(folder))
  return [...names]
    .filter((name) => !name.endsWith(BROTLI))
    .map((name) => {
      const brotli = names.has(name + BROTLI) ? readFileSync(join(folder, name + BROTLI)) : undefined
      const type = TYPES[extname(name)] ?? 'application/octet-stream'
      const file = pageFile(type, readFileSync(join(folder, name)), { brotli })
      return { address: `${CONSOLE_ASSETS}/${name}`, file }
    })
}
