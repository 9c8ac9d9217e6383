// Compares openapi.json with its earlier versions in the Git history. Fails on a change that would break a client of an
// earlier version.
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { say } from '../src/cli/terminal.ts'
import { environmentWith } from '../src/config.ts'
import { countOf } from '../src/counts.ts'

const VERSIONS_MAX = 10
const ROOT = resolve(import.meta.dirname, '..')

const git = (...args: string[]) => execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' })

function earlierVersions(): string[] {
  const commits = git('log', '--format=%H', '--', 'openapi.json').trim().split('\n').filter(Boolean)
  return [...new Set(commits.map((commit) => git('show', `${commit}:openapi.json`)))].slice(0, VERSIONS_MAX)
}

const folder = mkdtempSync(join(tmpdir(), 'petstore-interface-'))
try {
  const versions = earlierVersions()
  for (const [age, version] of versions.entries()) {
    const base = join(folder, `${age}.json`)
    writeFileSync(base, version)
    const { status, stdout } = spawnSync('redocly', ['diff', base, 'openapi.json', '--fail-on', 'major'], {
      cwd: ROOT,
      encoding: 'utf8',
      env: environmentWith({ REDOCLY_TELEMETRY: 'off' }),
    })
    if (status === 0) continue
    say(
      `openapi.json would break clients of an earlier version:\n${stdout}\nChange /v1 only by additions, or create /v2.`,
    )
    process.exitCode = 1
    break
  }
  if (process.exitCode === undefined)
    say(`openapi.json is compatible with ${countOf(versions.length, 'earlier version')}.`)
} finally {
  rmSync(folder, { recursive: true, force: true })
}
