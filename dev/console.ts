// Builds the console and the script of the reference page if their sources have changed since the last build.
import { execFile } from 'node:child_process'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { environmentWith } from '../src/config/config.ts'

const ROOT = resolve(import.meta.dirname, '..')
const BUILT_PAGE = join(ROOT, 'console/dist/index.html')
const SOURCES = [
  'console/src',
  'console/index.html',
  'console/vite.config.ts',
  'client/src',
  'package-lock.json',
]

/** Returns false if the last build is up to date. */
export async function buildConsole(): Promise<boolean> {
  if (existsSync(BUILT_PAGE) && changedAt(BUILT_PAGE) > Math.max(...SOURCES.map(newestChange))) return false
  // A process of its own, because the build depends on NODE_ENV, which is `test` in a test.
  await promisify(execFile)(
    process.execPath,
    [join(ROOT, 'node_modules/vite/bin/vite.js'), 'build', 'console'],
    {
      cwd: ROOT,
      env: environmentWith({ NODE_ENV: 'production' }),
    },
  )
  return true
}

function newestChange(path: string): number {
  const absolute = join(ROOT, path)
  if (!statSync(absolute).isDirectory()) return changedAt(absolute)
  const files = readdirSync(absolute, { recursive: true, encoding: 'utf8' })
  return Math.max(...files.map((file) => changedAt(join(absolute, file))))
}

function changedAt(path: string): number {
  return statSync(path).mtimeMs
}
