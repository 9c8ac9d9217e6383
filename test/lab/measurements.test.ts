// Gaps, summaries, goals and the chart of the drill, from figures that are known.
import { expect, test } from 'vitest'
import { drawDrillChart } from '../../lab/failover/drill-chart.ts'
import { checkGoals, type FaultRow, summarizeKinds } from '../../lab/failover/report.ts'
import { undocumented } from '../../lab/load/documented.ts'
import { openActivity } from '../../lab/parts/activity.ts'

const row = (fault: string, writeGapSeconds: number): FaultRow => ({
  fault,
  detail: '',
  startedAt: 0,
  healedAt: 0,
  leaderBefore: 'n1',
  leaderAfter: 'n1',
  writeGapSeconds,
  readGapSeconds: writeGapSeconds / 2,
  orderGapSeconds: writeGapSeconds,
  feedGapSeconds: writeGapSeconds,
  feedLagSeconds: writeGapSeconds,
  secondsUntilHealthy: 1,
  acknowledged: 1,
  responses: {},
  peak: { connections: 1, waitingForReplication: 0 },
  ownDelayMs: 0,
  mirror: null,
})

test('measures the longest gap in the window, including one that is still open', () => {
  let now = 1_000
  const activity = openActivity(() => now)
  now = 5_000
  activity.record('writes')
  activity.startWindow()
  now = 7_000
  activity.record('writes')
  now = 7_100
  expect(activity.longestGapMs('writes')).toBe(2_000)
  now = 10_000
  expect(activity.longestGapMs('writes')).toBe(3_000)
  expect(activity.longestGapMs('reads')).toBe(5_000)
  expect(activity.perSecond('writes')).toEqual([0, 0, 0, 0, 1, 0, 1])
})

test('summarizes each kind of fault, and compares it with the goals', () => {
  const kinds = summarizeKinds([
    row('switchover', 2),
    row('switchover', 7),
    row('switchover', 4),
    row('isolate', 20),
    row('freeze-standbys', 45),
  ])
  expect(kinds.find(({ fault }) => fault === 'switchover')).toMatchObject({
    count: 3,
    writeGapMedian: 4,
    writeGapWorst: 7,
    readGapWorst: 3.5,
  })
  expect(checkGoals(kinds).map(({ result, seconds }) => [result, seconds])).toEqual([
    ['reached', 20],
    ['missed', 7],
    ['not run', undefined],
  ])
})

test('draws every fault, and at most 900 points per line', () => {
  const perSecond = { writes: Array<number>(4_500).fill(400), reads: Array<number>(4_500).fill(150) }
  const svg = drawDrillChart({ perSecond, faults: [{ fault: 'isolate', startedAt: 60, healedAt: 90 }] })
  expect(svg).toContain('>isolate</text>')
  const lines = [...svg.matchAll(/<polyline points="([^"]*)"[^>]*stroke-width="1.4"/g)]
  expect(lines).toHaveLength(2)
  for (const [, points = ''] of lines) expect(points.split(' ').length).toBeLessThanOrEqual(900)
})

test('knows which responses are documented', () => {
  expect(undocumented('createPet', '201', undefined)).toBeUndefined()
  expect(undocumented('createPet', '503 unavailable', '1')).toBeUndefined()
  expect(undocumented('createPet', '503 unavailable', undefined)).toContain('without Retry-After')
  expect(undocumented('createPet', '409 idempotency_key_in_use', undefined)).toContain('without Retry-After')
  expect(undocumented('listPets', '503 outcome_unknown', '1')).toContain('returned 503 outcome_unknown')
  expect(undocumented('placeOrder', '500 internal_error', undefined)).toContain('returned 500')
})
