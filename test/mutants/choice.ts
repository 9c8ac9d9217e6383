// Chooses the defects to plant: those that a change may affect, and a part of the others that is another one every day.
import { execFileSync } from 'node:child_process'
import type { Defect } from './defect.ts'

/** All defects are planted within this many days. */
export const PARTS = 10
/** How far back changes count if HEAD is the tip of the main branch. */
const COMMITS_BACK = 20
const MAIN = 'origin/main'
const DAY_MS = 86_400_000

function git(root: string, ...args: string[]): string {
  return execFileSync('git', args, { cwd: root, stdio: ['ignore', 'pipe', 'ignore'] })
    .toString()
    .trim()
}

/** Like `git`, but undefined if the command fails, for example because a revision does not exist. */
function tryGit(root: string, ...args: string[]): string | undefined {
  try {
    return git(root, ...args)
  } catch {
    return undefined
  }
}

/**
 * The commit since which changes count: where this branch left the main branch. On the main branch itself, some commits
 * ago, or the oldest commit of a short history.
 */
export function findBase(root: string): string {
  const head = git(root, 'rev-parse', 'HEAD')
  const fork = tryGit(root, 'merge-base', 'HEAD', MAIN)
  if (fork !== undefined && fork !== head) return fork
  const commits = git(root, 'rev-list', '--first-parent', `--max-count=${COMMITS_BACK + 1}`, 'HEAD')
  return commits.split('\n').at(-1) ?? head
}

export function resolveCommit(root: string, revision: string): string {
  const commit = tryGit(root, 'rev-parse', '--verify', `${revision}^{commit}`)
  if (commit === undefined) throw new Error(`there is no commit ${revision}`)
  return commit
}

/** The files that differ from the commit, including changes that are not committed and new files. */
export function changedSince(root: string, revision: string): string[] {
  const changed = git(root, 'diff', '--name-only', revision, '--')
  const added = git(root, 'ls-files', '--others', '--exclude-standard')
  return `${changed}\n${added}`.split('\n').filter((file) => file !== '')
}

/** The part of today, counted from 1. */
export function partOfDay(now: Date): number {
  return 1 + (Math.floor(now.getTime() / DAY_MS) % PARTS)
}

/** Whether a change of these files may hide the defect: in its file, or in the test that detects it. */
export function isTouched({ file, test }: Defect, changed: readonly string[]): boolean {
  return changed.some((path) => path === file || path === test || path.startsWith(`${test}/`))
}

/**
 * Max defects of changed files without `--since`. A large change would otherwise take longer than all other tests; the
 * nightly run plants all defects.
 */
const TOUCHED_MAX = 60

/** At most TOUCHED_MAX of the defects, from all files. They depend on the part, so on the date. */
export function limitTouched(touched: readonly Defect[], part: number): Defect[] {
  const step = Math.max(1, Math.ceil(touched.length / TOUCHED_MAX))
  return touched.filter((_, index) => index % step === part % step)
}

export function isInPart(index: number, part: number): boolean {
  return index % PARTS === part - 1
}
