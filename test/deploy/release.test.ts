// The checks before a release. test/slow/release.test.ts builds one.
import { expect, test } from 'vitest'
import { readSources, releaseProblems, type Sources } from '../../dev/release.ts'
import { openDeliveryMetrics } from '../../src/events/delivery/metrics.ts'
import { openServiceMetrics } from '../../src/server/store-metrics/store-metrics.ts'
import { VERSION } from '../../src/values/version.ts'

const STRICT = { dirty: false, unreleased: false }
const released: Sources = {
  server: '1.2.0',
  client: '1.2.0',
  console: '1.2.0',
  changelog: '# Changelog\n\n## 1.2.0 - 2026-12-01\n\n## 1.1.0\n',
  keepsDocument: true,
  changes: '',
}
const versions = (version: string) => ({ server: version, client: version, console: version })
const development = {
  ...released,
  ...versions('1.3.0-dev'),
  changelog: '# Changelog\n\n## Unreleased\n\n## 1.2.0 - 2026-12-01\n',
}

test('accepts a clean checkout whose versions and changelog agree', () => {
  expect(releaseProblems(released, STRICT)).toEqual([])
  expect(releaseProblems(released, { ...STRICT, tag: 'v1.2.0' })).toEqual([])
})

test.each<[name: string, Partial<Sources>, problem: string]>([
  ['another version of the client', { client: '1.1.0' }, 'client/package.json has 1.1.0'],
  ['another version of the console', { console: '1.1.0' }, 'console/package.json has 1.1.0'],
  ['a changelog without the version', { changelog: '## 1.1.0\n' }, 'newest version in CHANGELOG.md is 1.1.0'],
  [
    'an openapi.json that is not kept',
    { keepsDocument: false },
    'releases/openapi-1.2.0.json is not openapi.json',
  ],
  ['uncommitted changes', { changes: ' M src/config/config.ts\n' }, 'M src/config/config.ts'],
])('rejects %s', (_, changed, problem) => {
  expect(releaseProblems({ ...released, ...changed }, STRICT)).toEqual([expect.stringContaining(problem)])
})

test('rejects a development version, and unreleased changes under the version of the last release', () => {
  expect(releaseProblems(development, STRICT)).toEqual([
    expect.stringContaining('pass --allow-unreleased'),
    expect.stringContaining('1.3.0-dev is a development version'),
  ])
  expect(releaseProblems({ ...released, ...versions('1.2.0-dev') }, STRICT)).toEqual([
    expect.stringContaining('1.2.0-dev is a development version'),
    expect.stringContaining('newest version in CHANGELOG.md is 1.2.0'),
  ])
  expect(releaseProblems({ ...development, ...versions('1.2.0') }, { ...STRICT, unreleased: true })).toEqual([
    expect.stringContaining('changes after 1.2.0'),
  ])
})

test('rejects a tag of another version', () => {
  expect(releaseProblems(released, { ...STRICT, tag: 'v1.1.0' })).toEqual([
    'the tag is v1.1.0, but version 1.2.0 needs v1.2.0',
  ])
})

test('the flags allow uncommitted and unreleased changes, but not different versions', () => {
  const allowed = { dirty: true, unreleased: true }
  expect(releaseProblems({ ...development, changes: '?? notes\n' }, allowed)).toEqual([])
  expect(releaseProblems({ ...development, client: '1.1.0' }, allowed)).toHaveLength(1)
})

test('the packages of this checkout have one version, and only that of the last release if nothing has changed since', () => {
  expect(releaseProblems({ ...readSources(), changes: '' }, { ...STRICT, unreleased: true })).toEqual([])
})

test('the metrics report the version of package.json', async () => {
  expect(VERSION).toBe(readSources().server)
  const memoryBytes = { messages: 0, sending: 0, events: 0 }
  const lagSeconds = new Map<bigint, number>()
  const counts = { enabled: 0, disabled: 0, failing: 0, lagSeconds, inFlight: 0, memoryBytes }
  const connections = () => ({ total: 0, idle: 0, waiting: 0, unacknowledged: 0 })
  const writer = { droppedLines: () => 0 } as Parameters<typeof openServiceMetrics>[1]['writer']
  for (const { registry } of [
    openServiceMetrics({ connections }, { writer }),
    openDeliveryMetrics(() => counts),
  ]) {
    expect(await registry.metrics()).toContain(`\npetstore_build_info{version="${VERSION}"} 1\n`)
  }
})
