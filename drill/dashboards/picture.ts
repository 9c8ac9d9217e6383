// Draws a dashboard as one SVG: its panels in their places on the grid, with the values that the queries returned.
import type { Dashboard, Panel, RowPanel } from '@grafana/grafana-foundation-sdk/dashboard'
import { drawStat } from './draw-stat.ts'
import { drawTimeSeries } from './draw-time-series.ts'
import { isRow, type NamedSeries } from './grafana.ts'
import type { Range } from '../monitoring/prometheus-client.ts'
import { type Box, escapeXml, GREY, INK } from './svg.ts'

const COLUMN = 52
const COLUMNS = 24
const UNIT = 29
const MARGIN = 16
const GAP = 8
const HEADER = 52

export interface PictureData {
  range: Range
  seriesOf: ReadonlyMap<Panel, NamedSeries[]>
  /** When alerts began to fire, with their names. */
  alerts: { name: string; at: number }[]
}

export function drawDashboard(dashboard: Dashboard, { range, seriesOf, alerts }: PictureData): string {
  const { title = '', panels = [] } = dashboard
  const marks = alerts.map(({ at }) => at)
  const drawn = panels.map((panel) => {
    const box = boxOf(panel)
    if (isRow(panel))
      return `<text x="${box.x}" y="${box.y + 19}" font-size="14" font-weight="600">${escapeXml(panel.title ?? '')}</text>`
    const series = seriesOf.get(panel) ?? []
    const svg =
      panel.type === 'stat' ? drawStat(panel, series, box) : drawTimeSeries(panel, series, box, range, marks)
    return `<g>${svg}</g>`
  })
  const bottom = Math.max(0, ...panels.map((panel) => boxOf(panel).y + boxOf(panel).height))
  const width = COLUMNS * COLUMN + 2 * MARGIN
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${bottom + MARGIN}" font-family="system-ui, sans-serif" font-size="12.5" fill="${INK}">
<rect width="100%" height="100%" fill="#f4f5f7"/>
<text x="${MARGIN}" y="32" font-size="19" font-weight="600">${escapeXml(title)}</text>
<text x="${width - MARGIN}" y="31" text-anchor="end" fill="${GREY}">${escapeXml(caption(range, alerts))}</text>
${drawn.join('\n')}
</svg>
`
}

function boxOf({ gridPos = { x: 0, y: 0, w: COLUMNS, h: 1 } }: Panel | RowPanel): Box {
  return {
    x: MARGIN + gridPos.x * COLUMN + GAP / 2,
    y: HEADER + gridPos.y * UNIT,
    width: gridPos.w * COLUMN - GAP,
    height: gridPos.h * UNIT - GAP,
  }
}

function caption({ from, to }: Range, alerts: PictureData['alerts']): string {
  const time = (seconds: number) => new Date(seconds * 1_000).toISOString().slice(11, 19)
  const day = new Date(to * 1_000).toISOString().slice(0, 10)
  const names = [...new Set(alerts.map(({ name }) => name))]
  const marked = names.length === 0 ? '' : `; red lines: ${names.join(', ')}`
  return `${day}, ${time(from)} to ${time(to)} UTC${marked}`
}
