// The checks before a release. test/slow/release.test.ts builds one.
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { releaseProblems, type Sources } from '../../dev/release.ts'
import { openDeliveryMetrics } from '../../src/telemetry/delivery-metrics.ts'
import { openMetrics } from '../../src/telemetry/metrics.ts'
import { VERSION } from '../../src/version.ts'

const STRICT = { dirty: false, unreleased: false }
const released: Sources = {
  server: '1.2.0',
  client: '1.2.0',
  changelog: '# Changelog\n\n## 1.2.0 - 2026-12-01\n\n## 1.1.0\n',
  changes: '',
}
const unreleased = { ...released, changelog: '# Changelog\n\n## Unreleased\n\n## 1.2.0 - 2026-12-01\n' }

test('accepts a clean checkout whose versions and changelog agree', () => {
  expect(releaseProblems(released, STRICT)).toEqual([])
  expect(releaseProblems(released, { ...STRICT, tag: 'v1.2.0' })).toEqual([])
})

test.each<[name: string, Partial<Sources>, problem: string]>([
  ['another version of the client', { client: '1.1.0' }, 'client/package.json has 1.1.0'],
  ['unreleased changes', unreleased, 'pass --allow-unreleased'],
  ['a changelog without the version', { changelog: '## 1.1.0\n' }, 'newest version in CHANGELOG.md is 1.1.0'],
  ['uncommitted changes', { changes: ' M src/config.ts\n' }, 'M src/config.ts'],
])('rejects %s', (_, changed, problem) => {
  expect(releaseProblems({ ...released, ...changed }, STRICT)).toEqual([expect.stringContaining(problem)])
})

test('rejects a tag of another version', () => {
  expect(releaseProblems(released, { ...STRICT, tag: 'v1.1.0' })).toEqual([
    'the tag is v1.1.0, but version 1.2.0 needs v1.2.0',
  ])
})

test('the flags allow uncommitted and unreleased changes, but not different versions', () => {
  const allowed = { dirty: true, unreleased: true }
  expect(releaseProblems({ ...unreleased, changes: '?? notes\n' }, allowed)).toEqual([])
  expect(releaseProblems({ ...unreleased, client: '1.1.0' }, allowed)).toHaveLength(1)
})

test('the packages and the changelog of this checkout have the version that the metrics report', async () => {
  const versionIn = (path: string) => (JSON.parse(readFileSync(path, 'utf8')) as { version: string }).version
  const [, newest] = /^## (\d\S*)/m.exec(readFileSync('CHANGELOG.md', 'utf8')) ?? []
  expect([versionIn('package.json'), versionIn('client/package.json'), newest]).toEqual(
    Array.from({ length: 3 }, () => VERSION),
  )
  const counts = { enabled: 0, disabled: 0, failing: 0, lagSeconds: new Map<bigint, number>(), inFlight: 0 }
  const connections = () => ({ total: 0, idle: 0, waiting: 0, unacknowledged: 0 })
  const writer = { droppedLines: () => 0 } as Parameters<typeof openMetrics>[1]['writer']
  for (const { registry } of [openMetrics({ connections }, { writer }), openDeliveryMetrics(() => counts)]) {
    expect(await registry.metrics()).toContain(`\npetstore_build_info{version="${VERSION}"} 1\n`)
  }
})
