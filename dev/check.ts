// `npm run check`: everything that needs no database. Runs all parts even if one fails, so that one run shows every fault.
import { spawnSync } from 'node:child_process'
import { resolve } from 'node:path'
import { print, say } from '../src/cli/terminal/terminal.ts'

const ROOT = resolve(import.meta.dirname, '..')
const PART_TIMEOUT_MS = 600_000

/** Without a database: these tests only read files. */
const STATIC_TESTS = 'TEST_CONTRACT=off TEST_SERVER_URL=postgres://unused vitest run'

/** Each part is a shell command. npm adds node_modules/.bin to the PATH. */
const PARTS: Record<string, string> = {
  types: 'tsc',
  'types of the client': 'tsc -p client --noEmit',
  'types of the console': 'tsc -p console',
  lint: 'oxlint --type-aware',
  format: 'biome format',
  'openapi.json, types and rules of the client': 'node dev/openapi.ts --check',
  'generated tables': 'node dev/docs.ts --check',
  'alerts and dashboards': 'node dev/monitoring.ts --check',
  'rules of OpenAPI': 'redocly lint openapi.json',
  'breaking changes': 'node dev/breaking-changes.ts',
  'structure and names': `${STATIC_TESTS} test/tidy.test.ts test/dependencies.test.ts test/docs/names.test.ts`,
}

const failed = Object.entries(PARTS).filter(([name, command]) => {
  const startedAt = performance.now()
  const { status, stdout, stderr } = spawnSync(command, {
    cwd: ROOT,
    shell: true,
    encoding: 'utf8',
    timeout: PART_TIMEOUT_MS,
  })
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1)
  print(`${status === 0 ? 'ok    ' : 'failed'} ${name} (${seconds} s)`)
  if (status !== 0) say(`${command}\n${stdout}${stderr}`)
  return status !== 0
})

if (failed.length > 0) {
  say(`Failed: ${failed.map(([name]) => name).join(', ')}`)
  process.exitCode = 1
}
