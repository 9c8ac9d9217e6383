// Draws acknowledged writes and reads per second over time as plain SVG on a white background, with the faults marked.
// Pure functions; knows nothing about files.

export interface MarkedFault {
  fault: string
  startedAt: number
  healedAt: number
}

interface ChartData {
  perSecond: { writes: readonly number[]; reads: readonly number[] }
  faults: readonly MarkedFault[]
}

const WIDTH = 1000
/** Height of the area with the lines. */
const PLOT = 225
const LEFT = 60
const RIGHT = 20
const TITLE_BOTTOM = 50
const BOTTOM = 35
/** From the names of the faults to the area with the lines. */
const LEADER_LINES = 14
const LABEL_CHARACTER_WIDTH = 5.6
const LABEL_SPACING = 11
const POINTS_MAX = 900
const LINES = [
  { series: 'writes', label: 'acknowledged writes', colour: '#2a7de1' },
  { series: 'reads', label: 'reads', colour: '#b8860b' },
] as const

export function drawChart({ perSecond, faults }: ChartData): string {
  const length = Math.max(perSecond.writes.length, perSecond.reads.length, 2)
  const bucketSeconds = length <= 300 ? 1 : Math.max(5, Math.ceil(length / POINTS_MAX))
  const lines = LINES.map((line) => ({
    ...line,
    values: toBuckets(perSecond[line.series], length, bucketSeconds),
  }))
  const max = roundUp(Math.max(1, ...lines.flatMap(({ values }) => values)))
  const longest = Math.max(0, ...faults.map(({ fault }) => fault.length))
  const labelsBottom = TITLE_BOTTOM + Math.ceil(longest * LABEL_CHARACTER_WIDTH)
  const top = labelsBottom + LEADER_LINES
  const height = top + PLOT + BOTTOM
  const x = (second: number) => LEFT + (second / length) * (WIDTH - LEFT - RIGHT)
  const y = (value: number) => top + PLOT - (value / max) * PLOT
  const fixed = (value: number) => value.toFixed(1)

  const grid = [0, 0.25, 0.5, 0.75, 1].map((part) => {
    const at = fixed(y(part * max))
    return `<line x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${at}" y2="${at}" stroke="#e3e5e8"/>
<text x="${LEFT - 8}" y="${Number(at) + 4}" text-anchor="end">${(part * max).toLocaleString('en')}</text>`
  })
  const step = tickSeconds(length)
  const ticks = Array.from({ length: Math.floor(length / step) + 1 }, (_, index) => index * step).map(
    (second) =>
      `<text x="${fixed(x(second))}" y="${top + PLOT + 18}" text-anchor="middle">${step < 60 ? `${second} s` : `${second / 60} min`}</text>`,
  )
  const labels = spread(faults.map(({ startedAt }) => x(startedAt)))
  const marks = faults.map(({ fault, startedAt, healedAt }, index) => {
    const from = fixed(x(startedAt))
    const label = fixed(labels[index] ?? 0)
    const width = fixed(Math.max(1, x(healedAt) - x(startedAt)))
    return `<rect x="${from}" y="${top}" width="${width}" height="${PLOT}" fill="#d9363e" opacity="0.12"/>
<polyline points="${label},${labelsBottom} ${from},${top} ${from},${top + PLOT}" fill="none" stroke="#d9363e" stroke-width="0.7" opacity="0.7"/>
<text transform="translate(${Number(label) + 3.5},${labelsBottom - 3}) rotate(-90)" font-size="10">${fault}</text>`
  })
  const paths = lines.map(({ values, colour }) => {
    const points = values.map(
      (value, index) => `${fixed(x((index + 0.5) * bucketSeconds))},${fixed(y(value))}`,
    )
    return `<polyline points="${points.join(' ')}" fill="none" stroke="${colour}" stroke-width="1.4" stroke-linejoin="round"/>`
  })
  const legend = LINES.map(
    ({ label, colour }, index) =>
      `<line x1="${WIDTH - 320 + index * 170}" x2="${WIDTH - 296 + index * 170}" y1="20" y2="20" stroke="${colour}" stroke-width="3"/>
<text x="${WIDTH - 288 + index * 170}" y="24">${label}</text>`,
  )
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="system-ui, sans-serif" font-size="12" fill="#24292f">
<rect width="100%" height="100%" fill="#ffffff"/>
<text x="20" y="24" font-size="14" font-weight="bold">Acknowledged per second, with a fault at each red line</text>
${[...grid, ...ticks, ...marks, ...paths, ...legend].join('\n')}
</svg>
`
}

/** Mean per second in each bucket. The last bucket is left out if it is incomplete, because its mean would be too low. */
function toBuckets(values: readonly number[], length: number, bucketSeconds: number): number[] {
  return Array.from({ length: Math.floor(length / bucketSeconds) }, (_, index) => {
    const bucket = values.slice(index * bucketSeconds, (index + 1) * bucketSeconds)
    return bucket.reduce((sum, value) => sum + value, 0) / bucketSeconds
  })
}

/** The next number that is easy to read, such as 4,000 for 3,210. */
export function roundUp(value: number): number {
  const unit = 10 ** Math.floor(Math.log10(value))
  const factor = [1, 2, 4, 6, 8, 10].find((candidate) => candidate * unit >= value) ?? 10
  return factor * unit
}

function tickSeconds(length: number): number {
  return [10, 30, 60, 120, 300, 600, 1200].find((step) => length / step <= 12) ?? 3600
}

/** Moves labels apart that are too close to read, and keeps them within the chart. */
function spread(positions: readonly number[]): number[] {
  const placed = [...positions]
  for (let index = 1; index < placed.length; index += 1) {
    placed[index] = Math.max(placed[index] ?? 0, (placed[index - 1] ?? 0) + LABEL_SPACING)
  }
  let max = WIDTH - RIGHT
  for (let index = placed.length - 1; index >= 0; index -= 1) {
    placed[index] = Math.min(placed[index] ?? 0, max)
    max = (placed[index] ?? 0) - LABEL_SPACING
  }
  return placed
}
