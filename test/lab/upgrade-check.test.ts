// The parts of `npm run drill -- production --upgrade` that need no server.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { failedLineIn, sectionsOf } from '../../lab/one-server/page.ts'
import {
  commandTimes,
  feedFaults,
  gapsOf,
  type Received,
  webhookFaults,
  withTimes,
} from '../../lab/one-server/upgrade-check.ts'

const ORDER_ID = 7
const placed = { position: 'e-11', type: 'order.placed', petId: 1, order: { id: ORDER_ID } }
const created = { position: 'e-12', type: 'pet.created', petId: 2 }
const completed = { position: 'e-15', type: 'order.completed', petId: 1, order: { id: ORDER_ID } }
const events = [placed, created, completed]

test.each([
  ['a feed that continues', events, []],
  ['a lost pet', [placed, completed], ['the feed has pet 2 0 times']],
  [
    'an event that comes twice',
    [placed, created, created, completed],
    ['the position e-12 follows e-12', 'the feed has pet 2 2 times'],
  ],
  [
    'another epoch',
    [placed, created, { ...completed, position: 'f-15' }],
    ['the position f-15 follows e-12'],
  ],
  ['a lost hold', [created, completed], ['the feed has these events of the hold: order.completed']],
])('judges %s', (_, feed, faults) => {
  expect(feedFaults(feed, 'e-10', [2], ORDER_ID)).toEqual(faults)
})

const message = (position: string, at: number, webhookId = `msg-${position}`): Received => ({
  kind: 'received',
  at,
  webhookId,
  position,
})
const messages = [message('e-10', 1), message('e-11', 2), message('e-12', 3), message('e-15', 6)]

test.each([
  ['a receiver that got each event', messages, []],
  ['a message that comes twice during the upgrade', [...messages, message('e-12', 4)], []],
  [
    'a message that comes twice after the upgrade',
    [...messages, message('e-15', 7)],
    ['the receiver got e-15 again after the upgrade'],
  ],
  [
    'a message with a second id',
    [...messages, message('e-12', 4, 'other')],
    ['e-12 has the ids msg-e-12 and other'],
  ],
  ['a missing message', messages.slice(0, -1), ['the receiver did not get e-15']],
  [
    'a message that is not in the feed',
    [...messages, message('e-13', 4)],
    ['the receiver got e-13, which the feed does not have'],
  ],
])('judges %s', (_, received, faults) => {
  expect(webhookFaults(events, received, 'e-10', 5)).toEqual(faults)
})

test('sorts the gaps between reads, which can end in another order than they began', () => {
  expect(gapsOf([1_000, 1_500, 9_000, 2_000])).toEqual([7, 0.5, 0.5])
})

test('writes the time of each command, and still names the line that failed', () => {
  const folder = mkdtempSync(join(tmpdir(), 'petstore-times-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const runPage = (page: string, name: string) => {
    const [section] = sectionsOf(page)
    if (section === undefined) throw new Error('the page has no commands')
    const file = join(folder, name)
    const { stdout } = spawnSync('bash', ['-c', withTimes(section, file).script], { encoding: 'utf8' })
    return { stdout, times: readFileSync(file, 'utf8') }
  }
  const whole = runPage('## A\n\n```sh\nsleep 0.3\necho b | cat\n```\n', 'whole')
  expect(whole.stdout).toBe('b\n')
  const [first, ...others] = commandTimes(whole.times)
  expect(first?.command).toMatch(/^set -eE/)
  expect(others.find(({ command }) => command === 'sleep 0.3')?.seconds).toBeGreaterThanOrEqual(0.3)
  expect(others.map(({ command }) => command)).toContain('echo b')
  expect(others.at(-1)?.command).toBe('cat')
  expect(failedLineIn(runPage('## A\n\n```sh\ntrue\nfalse\n```\n', 'failed').stdout)).toBe(5)
})
