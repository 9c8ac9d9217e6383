// Draws a time series panel: lines over time with an axis, the thresholds, and a legend with the last values.
import { GraphThresholdsStyleMode } from '@grafana/grafana-foundation-sdk/common'
import type { Panel } from '@grafana/grafana-foundation-sdk/dashboard'
import type { FieldConfig } from '@grafana/grafana-foundation-sdk/timeseries'
import { roundUp } from '../chart.ts'
import type { NamedSeries } from './grafana.ts'
import type { Range } from '../monitoring/prometheus-client.ts'
import {
  type Box,
  cut,
  drawCard,
  escapeXml,
  fixed,
  GREY,
  GRID,
  LEVELS,
  TITLE_HEIGHT,
  widthOf,
} from './svg.ts'
import { formatValue } from './units.ts'

const COLOURS = [
  '#2a7de1',
  '#d9730d',
  '#2f8f46',
  '#8f3bb8',
  '#c4312f',
  '#0a8299',
  '#9a7b00',
  '#d6457f',
  '#5b6ee1',
  '#6b7280',
]
const AXIS_WIDTH = 64
const AXIS_FONT = 10
const LEGEND_FONT = 10.5
const LEGEND_LINE = 15
const LEGEND_LINES_MAX = 3
const SWATCH = 14
const TICKS = 4
/** A gap of more than this many steps interrupts a line. */
const GAP_STEPS = 1.5

interface Line extends NamedSeries {
  colour: string
}

/** The area of the lines, and the scales of both axes. */
interface Plot extends Box {
  max: number
  xOf: (seconds: number) => number
  yOf: (value: number) => number
}

/** @param marks Times to mark with a red line, in seconds since 1970. */
export function drawTimeSeries(
  panel: Panel,
  series: readonly NamedSeries[],
  box: Box,
  range: Range,
  marks: readonly number[],
): string {
  const unit = panel.fieldConfig?.defaults.unit ?? ''
  const lines = series
    .filter(({ values }) => values.length > 0)
    .toSorted((one, other) => (one.name < other.name ? -1 : 1))
    .map((line, index) => ({ ...line, colour: COLOURS[index % COLOURS.length] ?? GREY }))
  const legend = drawLegend(lines, unit, box)
  const plot = plotIn(box, legend.height, range, maxOf(panel, lines))
  return [
    drawCard(box, panel.title ?? '', panel.description ?? ''),
    drawAxes(plot, range, unit),
    ...marks.map(
      (at) =>
        `<line x1="${fixed(plot.xOf(at))}" x2="${fixed(plot.xOf(at))}" y1="${plot.y}" y2="${fixed(plot.y + plot.height)}" stroke="#b3261e" stroke-width="1" stroke-dasharray="2 2" opacity="0.6"/>`,
    ),
    ...lines.map((line) => drawLine(line, plot, range.stepSeconds)),
    drawThresholds(panel, plot, unit),
    ...(lines.length === 0
      ? [
          `<text x="${fixed(plot.x + plot.width / 2)}" y="${fixed(plot.y + plot.height / 3)}" text-anchor="middle" fill="${GREY}">no data</text>`,
        ]
      : []),
    legend.svg,
  ].join('\n')
}

function maxOf(panel: Panel, lines: readonly Line[]): number {
  const { axisSoftMax = 0 } = (panel.fieldConfig?.defaults.custom ?? {}) as FieldConfig
  const max = Math.max(axisSoftMax, ...lines.flatMap(({ values }) => values.map(([, value]) => value)))
  return max > 0 ? roundUp(max) : 1
}

function plotIn(box: Box, legendHeight: number, range: Range, max: number): Plot {
  const area = {
    x: box.x + AXIS_WIDTH,
    y: box.y + TITLE_HEIGHT + 6,
    width: box.width - AXIS_WIDTH - 14,
    height: box.height - TITLE_HEIGHT - 6 - 22 - legendHeight,
  }
  return {
    ...area,
    max,
    xOf: (seconds) => area.x + ((seconds - range.from) / (range.to - range.from)) * area.width,
    yOf: (value) => area.y + area.height - (value / max) * area.height,
  }
}

function drawAxes(plot: Plot, range: Range, unit: string): string {
  const grid = [0, 0.5, 1].map((part) => {
    const y = plot.yOf(part * plot.max)
    return `<line x1="${fixed(plot.x)}" x2="${fixed(plot.x + plot.width)}" y1="${fixed(y)}" y2="${fixed(y)}" stroke="${GRID}"/>
<text x="${fixed(plot.x - 6)}" y="${fixed(y + 3.5)}" text-anchor="end" font-size="${AXIS_FONT}" fill="${GREY}">${formatValue(part * plot.max, unit)}</text>`
  })
  const hasSeconds = range.to - range.from < 300
  const ticks = Array.from({ length: TICKS }, (_, index) => {
    const seconds = range.from + ((range.to - range.from) * (index + 0.5)) / TICKS
    const time = new Date(seconds * 1_000).toISOString().slice(11, hasSeconds ? 19 : 16)
    return `<text x="${fixed(plot.xOf(seconds))}" y="${fixed(plot.y + plot.height + 14)}" text-anchor="middle" font-size="${AXIS_FONT}" fill="${GREY}">${time}</text>`
  })
  return [...grid, ...ticks].join('\n')
}

function drawThresholds(panel: Panel, plot: Plot, unit: string): string {
  const { thresholdsStyle } = (panel.fieldConfig?.defaults.custom ?? {}) as FieldConfig
  if (thresholdsStyle?.mode !== GraphThresholdsStyleMode.Dashed) return ''
  const steps = panel.fieldConfig?.defaults.thresholds?.steps ?? []
  return steps
    .flatMap(({ value, color }) => (value === null || value > plot.max ? [] : [{ value, color }]))
    .map(({ value, color }) => {
      const [y, ink] = [plot.yOf(value), LEVELS[color]?.ink ?? GREY]
      return `<line x1="${fixed(plot.x)}" x2="${fixed(plot.x + plot.width)}" y1="${fixed(y)}" y2="${fixed(y)}" stroke="${ink}" stroke-dasharray="6 4"/>
<text x="${fixed(plot.x + plot.width - 2)}" y="${fixed(y - 3)}" text-anchor="end" font-size="9" fill="${ink}" stroke="#ffffff" stroke-width="3" paint-order="stroke">${formatValue(value, unit)}</text>`
    })
    .join('\n')
}

/** One polyline for each part without a gap. */
function drawLine({ values, colour }: Line, { xOf, yOf }: Plot, stepSeconds: number): string {
  const parts: string[][] = []
  let last = Number.NEGATIVE_INFINITY
  for (const [seconds, value] of values) {
    if (seconds - last > GAP_STEPS * stepSeconds) parts.push([])
    parts.at(-1)?.push(`${fixed(xOf(seconds))},${fixed(yOf(value))}`)
    last = seconds
  }
  return parts
    .map((points) =>
      points.length === 1
        ? `<circle cx="${points[0]?.split(',')[0]}" cy="${points[0]?.split(',')[1]}" r="1.5" fill="${colour}"/>`
        : `<polyline points="${points.join(' ')}" fill="none" stroke="${colour}" stroke-width="1.6" stroke-linejoin="round"/>`,
    )
    .join('\n')
}

/** The series with the largest last values first. Those that do not fit are counted. */
function drawLegend(lines: readonly Line[], unit: string, box: Box): { svg: string; height: number } {
  const lastOf = ({ values }: Line) => values.at(-1)?.[1] ?? 0
  const entries = lines
    .toSorted((one, other) => lastOf(other) - lastOf(one))
    .map((line) => ({ colour: line.colour, text: `${line.name}: ${formatValue(lastOf(line), unit)}` }))
  const width = box.width - 20
  const rows: { x: number; colour: string; text: string }[][] = [[]]
  let x = 0
  let shown = 0
  for (const { colour, text } of entries) {
    const needed = SWATCH + widthOf(text, LEGEND_FONT) + 12
    if (x > 0 && x + needed > width) {
      if (rows.length === LEGEND_LINES_MAX) break
      rows.push([])
      x = 0
    }
    rows.at(-1)?.push({ x, colour, text: cut(text, LEGEND_FONT, width - SWATCH) })
    x += needed
    shown += 1
  }
  const left = entries.length - shown
  const top = box.y + box.height - rows.length * LEGEND_LINE - 4
  const svg = rows.flatMap((row, index) => {
    const y = top + index * LEGEND_LINE + 10
    return row.map(
      (entry) =>
        `<rect x="${fixed(box.x + 10 + entry.x)}" y="${fixed(y - 5)}" width="10" height="3" fill="${entry.colour}"/>
<text x="${fixed(box.x + 10 + entry.x + SWATCH)}" y="${fixed(y)}" font-size="${LEGEND_FONT}">${escapeXml(entry.text)}</text>`,
    )
  })
  if (left > 0)
    svg.push(
      `<text x="${fixed(box.x + box.width - 10)}" y="${fixed(box.y + 18)}" text-anchor="end" font-size="${LEGEND_FONT}" fill="${GREY}">+ ${left} more</text>`,
    )
  return { svg: svg.join('\n'), height: rows.length * LEGEND_LINE + 2 }
}
