// The command line and the plan of the drill.
import { expect, test } from 'vitest'
import { helpText, readOptions, UsageError } from '../../lab/failover/options.ts'
import { FAULT_NAMES, makePlan } from '../../lab/failover/plan.ts'

const FULL = { faults: [], short: false, soak: false }

test('plans 63 faults: isolate 12 times, every other kind 3 times', () => {
  const plan = makePlan({ ...FULL, seed: 1 })
  expect(plan).toHaveLength(63)
  const counts = Map.groupBy(plan, (fault) => fault)
  expect(counts.size).toBe(FAULT_NAMES.length)
  for (const [fault, times] of counts) expect(times, fault).toHaveLength(fault === 'isolate' ? 12 : 3)
})

test('plans the same order for the same seed, and another for another seed', () => {
  expect(makePlan({ ...FULL, seed: 7 })).toEqual(makePlan({ ...FULL, seed: 7 }))
  expect(makePlan({ ...FULL, seed: 7 })).not.toEqual(makePlan({ ...FULL, seed: 8 }))
})

test('plans the given faults in the given order, and two faults with --short', () => {
  expect(makePlan({ ...FULL, faults: ['switchover', 'isolate'], seed: 1 })).toEqual(['switchover', 'isolate'])
  expect(makePlan({ ...FULL, short: true, seed: 1 })).toEqual(['isolate', 'kill-node'])
})

test('plans ten faults for a soak, none of which replaces an instance', () => {
  const plan = makePlan({ ...FULL, soak: true, seed: 1 })
  expect(new Set(plan).size).toBe(10)
  expect(plan).not.toContain('kill-service')
  expect(plan).not.toContain('upgrade-service')
})

test('reads every option', () => {
  const line =
    'isolate switchover --seed 42 --connect multi-host --replication asynchronous --service /srv/a --folder /srv/b --settle 3 --soak --every 60 --json /srv/r.json --chart /srv/c.svg'
  expect(readOptions(line.split(' '))).toEqual({
    restore: false,
    rounds: 3,
    faults: ['isolate', 'switchover'],
    short: false,
    soak: true,
    everySeconds: 60,
    seed: 42,
    connection: 'multi-host',
    replication: 'asynchronous',
    service: '/srv/a',
    folder: '/srv/b',
    settleSeconds: 3,
    json: '/srv/r.json',
    chart: '/srv/c.svg',
  })
})

test('reads restore, with the number of rounds', () => {
  expect(readOptions(['restore'])).toMatchObject({ restore: true, rounds: 3, faults: [] })
  expect(readOptions(['restore', '--rounds', '6'])).toMatchObject({ restore: true, rounds: 6 })
})

test('has defaults for all options, with a random seed', () => {
  expect(readOptions([])).toMatchObject({
    faults: [],
    connection: 'haproxy',
    replication: 'quorum',
    folder: '/var/tmp/petstore-drill',
    seed: expect.any(Number),
  })
})

test.each([
  ['isolation', 'Unknown fault: isolation'],
  ['--short isolate', '--short has its own faults'],
  ['--short --soak', '--short has its own faults'],
  ['--seed -1', "'--seed"],
  ['--seed many', '--seed must be a whole number'],
  ['--seed 4294967296', '--seed must be a whole number'],
  ['--settle 601', '--settle must be a whole number from 0 to 600'],
  ['--connect psql', '--connect must be haproxy or multi-host'],
  ['--replication none', '--replication must be quorum or asynchronous'],
  ['--rounds 2', '--rounds is only for restore'],
  ['restore isolate', 'restore causes no faults'],
  ['restore --short', 'restore has no option --short'],
  ['--fast', "Unknown option '--fast'"],
])('rejects %s', (line, message) => {
  const read = () => readOptions(line.split(' '))
  expect(read).toThrow(UsageError)
  expect(read).toThrow(message)
})

test('documents every fault in the help text', () => {
  expect(readOptions(['--help'])).toBe('help')
  for (const name of FAULT_NAMES) expect(helpText()).toContain(name)
})
