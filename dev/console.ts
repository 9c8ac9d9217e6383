// Builds the console, the script of the reference page and the package of the client if their sources have changed since the last build.
import { execFile } from 'node:child_process'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { environmentWith } from '../src/config/config.ts'

const ROOT = resolve(import.meta.dirname, '..')
const BUILT_PAGE = 'console/dist/index.html'
/** The package of the client, which the service serves. */
export const BUILT_CLIENT = 'console/dist/client.tgz'
const SOURCES = [
  'console/src',
  'console/index.html',
  'console/vite.config.ts',
  'client/src',
  'client/package.json',
  'client/README.md',
  'client/tsconfig.json',
  'package-lock.json',
]

/** Builds it in this checkout, or in another folder with its files. Returns false if the last build is up to date. */
export async function buildConsole(root = ROOT): Promise<boolean> {
  const builtPage = join(root, BUILT_PAGE)
  const sources = SOURCES.map((path) => join(root, path))
  if (existsSync(builtPage) && changedAt(builtPage) > Math.max(...sources.map(newestChange))) return false
  // A process of its own, because the build depends on NODE_ENV, which is `test` in a test.
  await promisify(execFile)(
    process.execPath,
    [join(root, 'node_modules/vite/bin/vite.js'), 'build', 'console'],
    {
      cwd: root,
      env: environmentWith({ NODE_ENV: 'production' }),
    },
  )
  return true
}

function newestChange(path: string): number {
  if (!statSync(path).isDirectory()) return changedAt(path)
  const files = readdirSync(path, { recursive: true, encoding: 'utf8' })
  return Math.max(...files.map((file) => changedAt(join(path, file))))
}

function changedAt(path: string): number {
  return statSync(path).mtimeMs
}
