// Compares openapi.json with the documents of all releases, releases/openapi-X.Y.Z.json. Fails on a change that would break
// a client of one of them. Before the first release, there is nothing to compare with.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { say } from '../src/cli/terminal/terminal.ts'
import { environmentWith } from '../src/config/config.ts'
import { countOf } from '../src/values/count-text.ts'
import { releasedDocuments } from './released-documents.ts'

const ROOT = resolve(import.meta.dirname, '..')

interface Document {
  components?: { schemas?: Record<string, { properties?: Record<string, unknown> }> }
}

/** Responses that list the scopes of a key. New scopes can be added, although a released document lists all of its own. */
const WITH_SCOPES = ['ApiKey', 'IssuedApiKey', 'OwnApiKey']

function withCurrentScopes(released: Document, current: Document): Document {
  const document = structuredClone(released)
  for (const name of WITH_SCOPES) {
    const [then, now] = [document, current].map(
      ({ components }) => components?.schemas?.[name]?.properties?.['scopes'] as object | undefined,
    )
    if (then !== undefined && now !== undefined) Object.assign(then, now)
  }
  return document
}

/** Returns the changes that would break a client of the released document; undefined if there are none. */
export function breakingChanges(released: Document, current: Document): string | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'petstore-interface-'))
  try {
    const [base, revision] = [join(folder, 'base.json'), join(folder, 'openapi.json')]
    writeFileSync(base, JSON.stringify(withCurrentScopes(released, current)))
    writeFileSync(revision, JSON.stringify(current))
    const { status, stdout, stderr, error } = spawnSync(
      join(ROOT, 'node_modules/.bin/redocly'),
      ['diff', base, revision, '--fail-on', 'major'],
      { cwd: ROOT, encoding: 'utf8', env: environmentWith({ REDOCLY_TELEMETRY: 'off' }) },
    )
    if (error !== undefined) throw error
    return status === 0 ? undefined : `${stdout}${stderr}`
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function main(): void {
  const read = (path: string) => JSON.parse(readFileSync(join(ROOT, path), 'utf8')) as Document
  const documents = releasedDocuments()
  for (const path of documents) {
    const changes = breakingChanges(read(path), read('openapi.json'))
    if (changes === undefined) continue
    say(
      `openapi.json would break clients of ${path}:\n${changes}\nChange /v1 only by additions, or create /v2.`,
    )
    process.exitCode = 1
    return
  }
  if (documents.length === 0) say('Nothing is released, so openapi.json was compared with nothing.')
  else say(`openapi.json is compatible with ${countOf(documents.length, 'release')}.`)
}

if (import.meta.main) main()
