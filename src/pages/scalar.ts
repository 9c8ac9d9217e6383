// Scalar, which renders the reference page: one script of 4 MB, which `npm run build` takes from a pinned package.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { ASSETS } from '../http/page-addresses.ts'
import { BUILT_FOLDER, type PageFile, pageFile } from './files.ts'

export interface ScalarScript {
  /** Path of the URL. It contains a hash of the content. */
  address: string
  /** Decompresses the script on the first call, because most processes never serve it. */
  file: () => PageFile
}

/** Reads the script of a build. Returns undefined if nothing is built. */
export function readScalar(folder = BUILT_FOLDER): ScalarScript | undefined {
  if (!existsSync(folder)) return undefined
  const name = readdirSync(folder).find((entry) => /^scalar-.+\.js\.gz$/.test(entry))
  if (name === undefined) return undefined
  const gzipped = readFileSync(join(folder, name))
  let file: PageFile | undefined
  return {
    address: `${ASSETS}/${name.replace(/\.gz$/, '')}`,
    file: () => {
      file ??= pageFile('text/javascript; charset=utf-8', gunzipSync(gzipped), { gzipped })
      return file
    },
  }
}
