// Version 1.0.0 of Petstore for the test of the upgrade: its sources from the Git history, in their own folder.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll } from 'vitest'

/** The last commit before the changelog lists changes since 1.0.0. */
const COMMIT = '0251c8d2ec0e416a46c9196a9be3433fb09f9c85'
const ROOT = resolve(import.meta.dirname, '../..')
const EXTRACTED = ['bin', 'client/src', 'deploy', 'migrations', 'package.json', 'src']
const ARCHIVE_BYTES_MAX = 100_000_000

/** Returns the path of its executable and its deploy/roles.sql. */
export function makeVersion1(): { executable: string; rolesSql: string } {
  const folder = mkdtempSync(join(tmpdir(), 'petstore-1.0.0-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  const archive = execFileSync('git', ['archive', COMMIT, ...EXTRACTED], {
    cwd: ROOT,
    maxBuffer: ARCHIVE_BYTES_MAX,
  })
  execFileSync('tar', ['-x', '-C', folder], { input: archive })
  // It has the same dependencies as this version, without those that were added later.
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  return {
    executable: join(folder, 'bin/petstore.ts'),
    rolesSql: readFileSync(join(folder, 'deploy/roles.sql'), 'utf8'),
  }
}
