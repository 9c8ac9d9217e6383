// Draws the chart in docs/performance.md as plain SVG on a white background: a group of bars per workload.
// Knows nothing about how a figure is measured.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Cell, Target } from './measure.ts'
import { findCell } from './results.ts'
import { WORKLOADS, type Workload } from './workloads.ts'

/** In the order of the bars: the limits, the service, the peers. */
const BARS: { target: Target; label: string; colour: string }[] = [
  { target: 'pgbench', label: 'PostgreSQL alone', colour: '#8a8f98' },
  { target: 'bare http', label: 'node:http without a database', colour: '#c3c7cd' },
  { target: 'on', label: 'Petstore', colour: '#2a7de1' },
  { target: 'off', label: 'Petstore, one query per request', colour: '#9cc4f2' },
  { target: 'express', label: 'Express', colour: '#c9a227' },
]
export const WORKLOAD_NAMES: Record<Workload, string> = {
  'list hot': 'list, the same page',
  'list random': 'list, random pages',
  get: 'get by id',
  create: 'create',
}
const WIDTH = 720
const LEFT = 240
const RIGHT = 70
const TITLE = 44
const HEADING = 24
const ROW = 22
const GAP = 12

export function drawCharts(cells: readonly Cell[], folder: string): void {
  const groups = WORKLOADS.map((workload) => ({
    workload,
    bars: BARS.flatMap((bar) => {
      const perSecond = findCell(cells, workload, bar.target)?.perSecond
      return perSecond === undefined ? [] : [{ ...bar, perSecond }]
    }),
  }))
  const max = Math.max(...groups.flatMap(({ bars }) => bars.map(({ perSecond }) => perSecond)))
  const parts: string[] = []
  let y = TITLE
  for (const { workload, bars } of groups) {
    parts.push(`<text x="20" y="${y + 15}" font-weight="bold">${WORKLOAD_NAMES[workload]}</text>`)
    y += HEADING
    for (const { label, colour, perSecond } of bars) {
      const width = Math.max(1, Math.round((perSecond / max) * (WIDTH - LEFT - RIGHT)))
      parts.push(`<text x="${LEFT - 10}" y="${y + 15}" text-anchor="end">${label}</text>
<rect x="${LEFT}" y="${y + 2}" width="${width}" height="${ROW - 5}" rx="3" fill="${colour}"/>
<text x="${LEFT + width + 8}" y="${y + 15}">${Math.round(perSecond).toLocaleString('en')}</text>`)
      y += ROW
    }
    y += GAP
  }
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${y}" font-family="system-ui, sans-serif" font-size="13">
<title>Requests per second, 64 connections</title>
<rect width="100%" height="100%" fill="#ffffff"/>
<text x="20" y="24" font-size="15" font-weight="bold">Requests per second, 64 connections</text>
${parts.join('\n')}
</svg>
`
  writeFileSync(join(folder, 'throughput.svg'), svg)
}
