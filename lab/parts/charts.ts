// Draws the charts of all reports as plain SVG on a white background: lines over time with the faults marked, and groups
// of bars. All texts are constants of the code, so none of them is escaped.

export interface MarkedFault {
  fault: string
  startedAt: number
  healedAt: number
}

export interface Line {
  label: string
  points: readonly (readonly [second: number, value: number])[]
}

export interface Panel {
  title: string
  /** At most two, because there are two colours. */
  lines: readonly Line[]
}

interface TimeChart {
  title: string
  seconds: number
  /** One below the other, with the same axis of time. */
  panels: readonly Panel[]
  faults: readonly MarkedFault[]
}

interface BarGroup {
  name: string
  bars: readonly { label: string; colour: string; value: number }[]
}

const TITLE = 40
const COLOURS = ['#2a7de1', '#b8860b']
const FAULT = '#d9363e'

const WIDTH = 1000
const LEFT = 60
const RIGHT = 20
/** The title and the legend of a panel. */
const HEADER = 22
/** Height of the area with the lines. */
const ONE_PLOT = 225
const EACH_PLOT = 105
const TICKS = 23
/** From the names of the faults to the first panel. */
const LEADER_LINES = 14
const FAULT_CHARACTER_WIDTH = 5.6
const FAULT_SPACING = 11
const LEGEND_CHARACTER_WIDTH = 7

const BARS_WIDTH = 720
const BARS_LEFT = 240
const BARS_RIGHT = 70
const BAR = 22
const GROUP_NAME = 24
const GROUP_GAP = 12

export function drawTimeChart({ title, seconds, panels, faults }: TimeChart): string {
  const height = panels.length === 1 ? ONE_PLOT : EACH_PLOT
  const x = (second: number) => LEFT + (second / seconds) * (WIDTH - LEFT - RIGHT)
  const longest = Math.max(0, ...faults.map(({ fault }) => fault.length))
  const names = Math.ceil(longest * FAULT_CHARACTER_WIDTH) + LEADER_LINES
  const parts: string[] = []
  let top = TITLE
  for (const [index, panel] of panels.entries()) {
    parts.push(...drawHeader(panel, top))
    top += HEADER + (index === 0 ? names : 0)
    if (index === 0) parts.push(...drawFaultNames(faults, x, top))
    parts.push(...drawPlot(panel, faults, { x, seconds, top, height }))
    top += height + TICKS
  }
  return toSvg(title, WIDTH, top, parts)
}

export function drawBarChart(title: string, groups: readonly BarGroup[]): string {
  const max = Math.max(...groups.flatMap(({ bars }) => bars.map(({ value }) => value)))
  const parts: string[] = []
  let top = TITLE
  for (const { name, bars } of groups) {
    parts.push(text(20, top + 15, name, 'font-weight="bold"'))
    top += GROUP_NAME
    for (const { label, colour, value } of bars) {
      const width = Math.max(1, (value / max) * (BARS_WIDTH - BARS_LEFT - BARS_RIGHT))
      parts.push(
        text(BARS_LEFT - 10, top + 15, label, 'text-anchor="end"'),
        `<rect x="${BARS_LEFT}" y="${top + 2}" width="${fixed(width)}" height="${BAR - 5}" rx="3" fill="${colour}"/>`,
        text(BARS_LEFT + width + 8, top + 15, Math.round(value).toLocaleString('en')),
      )
      top += BAR
    }
    top += GROUP_GAP
  }
  return toSvg(title, BARS_WIDTH, top, parts)
}

/** The title on the left, and the legend on the right. */
function drawHeader({ title, lines }: Panel, top: number): string[] {
  let right = WIDTH - RIGHT
  const legend = lines.toReversed().flatMap(({ label }, index) => {
    const end = right
    const start = end - label.length * LEGEND_CHARACTER_WIDTH
    right = start - 50
    return [
      `<line x1="${fixed(start - 26)}" x2="${fixed(start - 8)}" y1="${top + 10}" y2="${top + 10}" stroke="${COLOURS[lines.length - 1 - index]}" stroke-width="3"/>`,
      text(start, top + 14, label),
    ]
  })
  return [text(LEFT, top + 14, title, 'font-weight="bold"'), ...legend]
}

/** Each name is connected with the start of its fault, because close faults have names further apart. */
function drawFaultNames(
  faults: readonly MarkedFault[],
  x: (second: number) => number,
  bottom: number,
): string[] {
  const places = spread(faults.map(({ startedAt }) => x(startedAt)))
  const nameBottom = bottom - LEADER_LINES
  return faults.flatMap(({ fault, startedAt }, index) => {
    const place = places[index] ?? 0
    return [
      `<polyline points="${fixed(place)},${nameBottom} ${fixed(x(startedAt))},${bottom}" fill="none" stroke="${FAULT}" stroke-width="0.7"/>`,
      `<text transform="translate(${fixed(place + 3.5)},${nameBottom - 3}) rotate(-90)" font-size="10">${fault}</text>`,
    ]
  })
}

interface Plot {
  x: (second: number) => number
  seconds: number
  top: number
  height: number
}

function drawPlot(
  { lines }: Panel,
  faults: readonly MarkedFault[],
  { x, seconds, top, height }: Plot,
): string[] {
  const max = roundUp(Math.max(1, ...lines.flatMap(({ points }) => points.map(([, value]) => value))))
  const y = (value: number) => top + height - (value / max) * height
  const grid = (height === EACH_PLOT ? [0, 0.5, 1] : [0, 0.25, 0.5, 0.75, 1]).flatMap((part) => {
    const at = y(part * max)
    return [
      `<line x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${fixed(at)}" y2="${fixed(at)}" stroke="#e3e5e8"/>`,
      text(LEFT - 8, at + 4, (part * max).toLocaleString('en'), 'text-anchor="end"'),
    ]
  })
  const step = [10, 30, 60, 120, 300, 600, 1_200].find((one) => seconds / one <= 12) ?? 3_600
  const ticks = Array.from({ length: Math.floor(seconds / step) + 1 }, (_, index) => index * step).map(
    (second) =>
      text(
        x(second),
        top + height + 14,
        step < 60 ? `${second} s` : `${second / 60} min`,
        'text-anchor="middle" font-size="10"',
      ),
  )
  const marks = faults.map(({ fault, startedAt, healedAt }) => {
    const width = Math.max(1, x(healedAt) - x(startedAt))
    return `<rect x="${fixed(x(startedAt))}" y="${top}" width="${fixed(width)}" height="${height}" fill="${FAULT}" opacity="0.15"><title>${fault}</title></rect>`
  })
  const paths = lines.map(({ points }, index) => {
    const places = points.map(([second, value]) => `${fixed(x(second))},${fixed(y(value))}`)
    return `<polyline points="${places.join(' ')}" fill="none" stroke="${COLOURS[index]}" stroke-width="1.4" stroke-linejoin="round"/>`
  })
  return [...grid, ...ticks, ...marks, ...paths]
}

function toSvg(title: string, width: number, height: number, parts: readonly string[]): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="system-ui, sans-serif" font-size="12" fill="#24292f">
<title>${title}</title>
<rect width="100%" height="100%" fill="#ffffff"/>
${text(20, 24, title, 'font-size="14" font-weight="bold"')}
${parts.join('\n')}
</svg>
`
}

function text(x: number, y: number, content: string, attributes = ''): string {
  return `<text x="${fixed(x)}" y="${fixed(y)}"${attributes && ` ${attributes}`}>${content}</text>`
}

const fixed = (value: number) => String(Math.round(value * 10) / 10)

/** The next number that is easy to read, such as 4,000 for 3,210. */
function roundUp(value: number): number {
  const unit = 10 ** Math.floor(Math.log10(value))
  const factor = [1, 2, 4, 6, 8, 10].find((candidate) => candidate * unit >= value) ?? 10
  return factor * unit
}

/** Moves names apart that are too close to read, and keeps them within the chart. */
function spread(positions: readonly number[]): number[] {
  const placed = [...positions]
  for (let index = 1; index < placed.length; index += 1) {
    placed[index] = Math.max(placed[index] ?? 0, (placed[index - 1] ?? 0) + FAULT_SPACING)
  }
  let max = WIDTH - RIGHT
  for (let index = placed.length - 1; index >= 0; index -= 1) {
    placed[index] = Math.min(placed[index] ?? 0, max)
    max = (placed[index] ?? 0) - FAULT_SPACING
  }
  return placed
}
