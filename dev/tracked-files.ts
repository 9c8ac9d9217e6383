// The sources of a release: the tracked files of the checkout in a folder of their own. The checkout itself can have
// ignored and untracked files, such as deploy/ha/cluster.env with passwords, which must not get into a package.
import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync, rmSync, symlinkSync } from 'node:fs'
import { join, resolve, sep } from 'node:path'
import { environmentWith } from '../src/config/config.ts'

/**
 * Writes the tracked files of a checkout into a new folder, with their uncommitted changes if there are any, and links its
 * installed packages.
 */
export function exportTrackedFiles(checkout: string, folder: string): void {
  const git = (args: string[], added: Record<string, string> = {}) =>
    execFileSync('git', args, { cwd: checkout, encoding: 'utf8', env: environmentWith(added) })
  mkdirSync(folder)
  // A copy of the index, because `git add` must not stage changes in the checkout.
  const index = `${folder}.index`
  copyFileSync(resolve(checkout, git(['rev-parse', '--git-path', 'index']).trim()), index)
  git(['add', '--update'], { GIT_INDEX_FILE: index })
  git(['checkout-index', '--all', `--prefix=${folder}${sep}`], { GIT_INDEX_FILE: index })
  rmSync(index)
  symlinkSync(join(checkout, 'node_modules'), join(folder, 'node_modules'))
}
