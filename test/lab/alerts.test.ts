// The parts of the alert drill that need no store: its table of faults, its command line and its report.
import { expect, test } from 'vitest'
import { alertsHelpText, readAlertsOptions } from '../../lab/alerts/alerts-options.ts'
import { isClean, toMarkdown } from '../../lab/alerts/alerts-report.ts'
import type { FaultRow } from '../../lab/alerts/fault-run.ts'
import { secondsUntilDue } from '../../lab/alerts/planted-fault.ts'
import { faultOf, PLANTED_FAULT_NAMES } from '../../lab/alerts/planted-faults.ts'
import { UsageError } from '../../lab/failover/options.ts'
import { ALERT_NAMES } from '../../src/telemetry/alerts.ts'

test('an alert is due when its limit and its `for` time have passed', () => {
  expect(secondsUntilDue(faultOf('database-stopped'))).toBe(30 + 15)
  expect(secondsUntilDue(faultOf('webhook-receiver-fails'))).toBe(300 + 300)
  expect(secondsUntilDue(faultOf('instance-killed'))).toBe(60)
  expect(secondsUntilDue(faultOf('key-expires'))).toBe(0)
  expect(secondsUntilDue(faultOf('quiet'))).toBe(0)
})

test('has a fault for each alert', () => {
  const expected = PLANTED_FAULT_NAMES.flatMap((name) => faultOf(name).expected)
  expect(new Set(expected)).toEqual(new Set(ALERT_NAMES))
})

test('runs all faults without names, and documents each of them', () => {
  expect(readAlertsOptions([])).toMatchObject({ faults: PLANTED_FAULT_NAMES, parallel: 4, json: undefined })
  expect(readAlertsOptions(['quiet', '--parallel', '2'])).toMatchObject({ faults: ['quiet'], parallel: 2 })
  expect(readAlertsOptions(['--help'])).toBe('help')
  for (const name of PLANTED_FAULT_NAMES) expect(alertsHelpText()).toContain(name)
})

test.each([
  ['isolate', 'Unknown fault: isolate'],
  ['--parallel 0', '--parallel must be at least 1'],
  ['--parallel many', '--parallel must be a whole number'],
  ['--short', "Unknown option '--short'"],
])('rejects alerts %s', (line, message) => {
  const read = () => readAlertsOptions(line.split(' '))
  expect(read).toThrow(UsageError)
  expect(read).toThrow(message)
})

const ROW: FaultRow = {
  fault: 'database-stopped',
  description: 'PostgreSQL is stopped',
  expected: ['PetstoreDatabaseUnreachable'],
  notified: ['PetstoreDatabaseUnreachable'],
  firing: ['PetstoreDatabaseUnreachable', 'PetstoreSlow'],
  secondsAfterFault: 61.4,
  secondsAfterDue: 16.4,
  secondsUntilResolved: null,
  responses: 900,
  failedResponses: 40,
  problems: [],
}

test('reports each fault, and what differs from the expectation', () => {
  const report = { startedAt: '2026-11-16T12:00:00Z', seconds: 120, rows: [ROW] }
  expect(isClean(report)).toBe(true)
  expect(toMarkdown(report)).toContain('| DatabaseUnreachable | the same | 61 s | 16 s |  | ok |')
  const failed = { ...ROW, notified: ['PetstoreSlow'], problems: ['also sent: PetstoreSlow'] }
  expect(isClean({ ...report, rows: [ROW, failed] })).toBe(false)
  expect(toMarkdown({ ...report, rows: [ROW, failed] })).toContain(
    '| Slow | 61 s | 16 s |  | also sent: PetstoreSlow |',
  )
})
