// Finds the defects that a change may hide.
import { execFileSync } from 'node:child_process'
import type { Defect } from './defect.ts'

function git(root: string, ...args: string[]): string {
  return execFileSync('git', args, { cwd: root }).toString().trim()
}

/** The files that differ from the commit, including changes that are not committed and new files. */
export function changedSince(root: string, revision: string): string[] {
  const changed = git(root, 'diff', '--name-only', revision, '--')
  const added = git(root, 'ls-files', '--others', '--exclude-standard')
  return `${changed}\n${added}`.split('\n').filter((file) => file !== '')
}

/** Whether a change of these files may hide the defect: in its file, or in the test that detects it. */
export function isTouched({ file, test }: Defect, changed: readonly string[]): boolean {
  return changed.some((path) => path === file || path === test || path.startsWith(`${test}/`))
}
