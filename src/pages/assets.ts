// The assets of the HTML pages: the style sheet, the icon, and the script that starts Scalar.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ASSETS } from '../http/page-addresses.ts'
import { digest, type PageFile, pageFile } from './files.ts'

export interface Asset {
  /** Path of the URL. It contains a hash of the content. */
  address: string
  file: PageFile
}

export const STYLE = readAsset('pages', 'css', 'text/css; charset=utf-8')
export const ICON = readAsset('icon', 'svg', 'image/svg+xml')
export const START_SCALAR = readAsset('start-scalar', 'js', 'text/javascript; charset=utf-8')

function readAsset(name: string, ending: string, type: string): Asset {
  const bytes = readFileSync(join(import.meta.dirname, 'assets', `${name}.${ending}`))
  return { address: `${ASSETS}/${name}-${digest(bytes)}.${ending}`, file: pageFile(type, bytes) }
}
