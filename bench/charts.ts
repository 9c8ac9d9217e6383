// Draws the chart in docs/performance.md as plain SVG on a white background: one bar per workload and target.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

interface Bar {
  workload: string
  target: string
  connections: number
  perSecond: number
}

const COLOURS: Record<string, string> = { pgbench: '#8a8f98', off: '#c9a227', on: '#2a7de1' }
const LABELS: Record<string, string> = {
  pgbench: 'PostgreSQL alone',
  off: 'one query per request',
  on: 'batched',
}
const WIDTH = 720
const ROW = 22
const LEFT = 250

export function drawCharts(cells: readonly Bar[], folder: string): void {
  const shown = cells.filter(({ target, connections }) => target === 'pgbench' || connections === 64)
  const bars = shown.filter(({ target }) => target in COLOURS)
  const max = Math.max(...bars.map(({ perSecond }) => perSecond))
  const rows = bars.map(({ workload, target, perSecond }, index) => {
    const y = 40 + index * ROW + Math.floor(index / 3) * 14
    const width = Math.round((perSecond / max) * (WIDTH - LEFT - 90))
    return `<text x="${LEFT - 10}" y="${y + 15}" text-anchor="end">${workload}: ${LABELS[target]}</text>
<rect x="${LEFT}" y="${y + 2}" width="${width}" height="${ROW - 5}" rx="3" fill="${COLOURS[target]}"/>
<text x="${LEFT + width + 8}" y="${y + 15}">${Math.round(perSecond).toLocaleString('en')}</text>`
  })
  const height = 60 + bars.length * ROW + Math.floor(bars.length / 3) * 14
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="system-ui, sans-serif" font-size="13">
<rect width="100%" height="100%" fill="#ffffff"/>
<text x="20" y="24" font-weight="bold">Requests per second, 64 connections</text>
${rows.join('\n')}
</svg>
`
  writeFileSync(join(folder, 'throughput.svg'), svg)
}
