// Compares openapi.json with its earlier versions in the Git history. Fails on a change that would break a client of an
// earlier version.
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { say } from '../src/cli/terminal/terminal.ts'
import { environmentWith } from '../src/config/config.ts'
import { countOf } from '../src/values/count-text.ts'

const VERSIONS_MAX = 10
const ROOT = resolve(import.meta.dirname, '..')

const git = (...args: string[]) => execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' })

function earlierVersions(): string[] {
  const commits = git('log', '--format=%H', '--', 'openapi.json').trim().split('\n').filter(Boolean)
  return [...new Set(commits.map((commit) => git('show', `${commit}:openapi.json`)))].slice(0, VERSIONS_MAX)
}

interface Document {
  components: { schemas: Record<string, { properties?: Record<string, unknown> }> }
}

/** Responses that list the scopes of a key. New scopes can be added, although earlier versions listed all of them. */
const WITH_SCOPES = ['ApiKey', 'IssuedApiKey', 'OwnApiKey']

function withCurrentScopes(version: string): string {
  const document = JSON.parse(version) as Document
  for (const name of WITH_SCOPES) {
    const [then, now] = [document, current].map(({ components }) => components.schemas[name]?.properties)
    if (then !== undefined && now !== undefined) then['scopes'] = now['scopes']
  }
  return JSON.stringify(document)
}

const current = JSON.parse(readFileSync(join(ROOT, 'openapi.json'), 'utf8')) as Document
const folder = mkdtempSync(join(tmpdir(), 'petstore-interface-'))
try {
  const versions = earlierVersions()
  for (const [age, version] of versions.entries()) {
    const base = join(folder, `${age}.json`)
    writeFileSync(base, withCurrentScopes(version))
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
