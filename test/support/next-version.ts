// A newer version of Petstore for the tests of upgrades: this version with one more migration, in its own folder.
import { cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll } from 'vitest'

const ROOT = resolve(import.meta.dirname, '../..')
const COPIED = ['bin', 'client/src', 'migrations', 'package.json', 'src']
/** Sorts after every existing migration. */
export const NEXT_MIGRATION = '9999_next'

/** Returns the path of its executable. */
export function makeNextVersion(migration: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'petstore-next-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  for (const path of COPIED) cpSync(join(ROOT, path), join(folder, path), { recursive: true })
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  writeFileSync(join(folder, 'migrations', `${NEXT_MIGRATION}.sql`), migration)
  return join(folder, 'bin/petstore.ts')
}
