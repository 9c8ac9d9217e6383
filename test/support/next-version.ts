// A newer version of Petstore for the tests of upgrades: this version with more migrations, in its own folder.
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll } from 'vitest'

const ROOT = resolve(import.meta.dirname, '../..')
const COPIED = ['bin', 'client/src', 'migrations', 'package.json', 'src']
/** Sorts after every existing migration. */
export const NEXT_MIGRATION = '9999_next'
/** Adds a column, and an index without blocking writes. */
export const INDEX_MIGRATION = {
  [`${NEXT_MIGRATION}.ts`]: readFileSync(join(import.meta.dirname, 'next-migration.ts'), 'utf8'),
}

/** Adds one migration in SQL, or several by the names of their files. Returns the path of the executable. */
export function makeNextVersion(added: string | Record<string, string>): string {
  const migrations = typeof added === 'string' ? { [`${NEXT_MIGRATION}.sql`]: added } : added
  const folder = mkdtempSync(join(tmpdir(), 'petstore-next-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  for (const path of COPIED) cpSync(join(ROOT, path), join(folder, path), { recursive: true })
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  for (const [file, text] of Object.entries(migrations)) writeFileSync(join(folder, 'migrations', file), text)
  return join(folder, 'bin/petstore.ts')
}
