// What the page "Health" says about each check.
import type { HealthCheck } from '@petstore/client'
import { expect, test } from 'vitest'
import {
  bytesText,
  detailText,
  labelOf,
  needsText,
  todoText,
  valueText,
  verdictText,
} from '../../console/src/health/health-text.ts'
import { CHECK_NAMES } from '../../src/server/health/schema.ts'

const NOW = new Date(2026, 10, 19, 10, 22).getTime()
const ago = (hours: number) => new Date(NOW - hours * 3_600_000).toISOString()
const check = (name: string, state: string, more: Partial<HealthCheck> = {}): HealthCheck => ({
  name,
  state,
  ...more,
})

test.each([
  { states: ['ok', 'ok'], text: 'The shop works.' },
  { states: ['ok', 'attention'], text: 'The shop works. One thing needs you.' },
  {
    states: ['attention', 'attention', 'unknown'],
    text: 'The shop works. 2 things need you. 1 thing is unknown.',
  },
  { states: ['unknown', 'unknown'], text: 'The shop works. 2 things are unknown.' },
])('the first line for $states is: $text', ({ states, text }) => {
  expect(verdictText(states.map((state) => check('disk', state)))).toBe(text)
})

test('every check of the service has a label, words for attention, and what to do', () => {
  for (const name of CHECK_NAMES) {
    const needing = check(name, 'attention', { at: ago(50) })
    expect(labelOf(needing), name).not.toBe(name)
    expect(needsText(needing, NOW), name).toMatch(/^[A-Z].*[^.]$/)
    expect(todoText(needing), name).toMatch(/\.$/)
  }
})

test('a check that the page does not know is shown with its name', () => {
  expect([labelOf(check('moon', 'ok')), valueText(check('moon', 'ok'), NOW)]).toEqual(['moon', 'Works'])
  expect(needsText(check('moon', 'attention'), NOW)).toBe('moon needs attention')
})

test('says what was reported, and since when something is missing', () => {
  const backup = check('backup', 'ok', { at: ago(1), note: 'on the backup host' })
  expect([valueText(backup, NOW), detailText(backup, NOW)]).toEqual(['1 hour ago', 'on the backup host'])
  expect(needsText(check('backup', 'attention', { at: ago(50) }), NOW)).toBe(
    'No backup was made since Tue 17 Nov, 08:22',
  )
  const disk = check('disk', 'ok', { usedBytes: 24_400_000_000, totalBytes: 40_000_000_000 })
  expect([valueText(disk, NOW), detailText(disk, NOW)]).toEqual(['61 %', '24.4 GB of 40 GB used'])
  expect(
    needsText(check('disk', 'attention', { usedBytes: 37_000_000_000, totalBytes: 40_000_000_000 }), NOW),
  ).toBe('The disk is full to 93 %: 3 GB are left')
  expect(valueText(check('certificate', 'ok', { at: ago(-56 * 24) }), NOW)).toBe('56 days')
})

test('says that a value is unknown, how it becomes known, and how old the last one is', () => {
  const never = check('disk', 'unknown')
  expect(valueText(never, NOW)).toBe('Unknown')
  expect(detailText(never, NOW)).toContain('petstore report disk')
  const old = check('disk', 'unknown', { usedBytes: 1, totalBytes: 2, reportedAt: ago(96) })
  expect(valueText(old, NOW)).toBe('Unknown')
  expect(detailText(old, NOW)).toMatch(/Last report: 4 days ago\.$/)
})

test.each([
  { bytes: 0, text: '0 kB' },
  { bytes: 999, text: '0.999 kB' },
  { bytes: 8_214_000, text: '8.21 MB' },
  { bytes: 40e9, text: '40 GB' },
  { bytes: 3.5e15, text: '3,500 TB' },
])('$bytes bytes are $text', ({ bytes, text }) => {
  expect(bytesText(bytes)).toBe(text)
})
