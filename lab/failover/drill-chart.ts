// The chart of a drill: acknowledged writes and reads per second, with the faults.
import { drawTimeChart, type MarkedFault } from '../parts/charts.ts'

interface DrillData {
  perSecond: { writes: readonly number[]; reads: readonly number[] }
  faults: readonly MarkedFault[]
}

const POINTS_MAX = 900

export function drawDrillChart({ perSecond: { writes, reads }, faults }: DrillData): string {
  const seconds = Math.max(writes.length, reads.length, 2)
  const bucketSeconds = seconds <= 300 ? 1 : Math.max(5, Math.ceil(seconds / POINTS_MAX))
  const lines = [
    { label: 'acknowledged writes', points: toPoints(writes, seconds, bucketSeconds) },
    { label: 'reads', points: toPoints(reads, seconds, bucketSeconds) },
  ]
  const panels = [{ title: 'Acknowledged per second', lines }]
  return drawTimeChart({ title: 'Drill, with a fault in each red area', seconds, panels, faults })
}

/** Mean per second in each bucket. The last bucket is left out if it is incomplete, because its mean would be too low. */
function toPoints(
  values: readonly number[],
  seconds: number,
  bucketSeconds: number,
): [second: number, value: number][] {
  return Array.from({ length: Math.floor(seconds / bucketSeconds) }, (_, index) => {
    const bucket = values.slice(index * bucketSeconds, (index + 1) * bucketSeconds)
    const sum = bucket.reduce((total, value) => total + value, 0)
    return [(index + 0.5) * bucketSeconds, sum / bucketSeconds]
  })
}
