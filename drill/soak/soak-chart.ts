// Draws the latencies and resources of a soak over time as plain SVG: one small chart above the other, with the faults.
// Pure functions; knows nothing about files.
import { type MarkedFault, roundUp } from '../chart.ts'
import type { SoakData } from './flatness.ts'
import type { Resource } from './resources.ts'

interface Point {
  second: number
  value: number
}

interface Line {
  label: string
  colour: string
  points: Point[]
}

interface Panel {
  title: string
  lines: Line[]
}

const WIDTH = 1000
const LEFT = 60
const RIGHT = 20
const TOP = 40
const PANEL = 150
const PLOT = 105
const COLOURS = ['#2a7de1', '#b8860b'] as const
/** Latencies during a failover are as long as the gap. The chart cuts them off, so that the others can be read. */
const LATENCY_MAX_MS = 500

export function drawSoakChart(soak: SoakData, faults: readonly MarkedFault[], seconds: number): string {
  const panels = toPanels(soak)
  const x = (second: number) => LEFT + (second / seconds) * (WIDTH - LEFT - RIGHT)
  const height = TOP + panels.length * PANEL + 10
  const drawn = panels.map((panel, index) =>
    drawPanel(panel, faults, { x, seconds, top: TOP + index * PANEL }),
  )
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="system-ui, sans-serif" font-size="12" fill="#24292f">
<rect width="100%" height="100%" fill="#ffffff"/>
<text x="20" y="24" font-size="14" font-weight="bold">Soak at half capacity, with a fault in each red area</text>
${drawn.join('\n')}
</svg>
`
}

function toPanels({ resources, latencies, hostCpu }: SoakData): Panel[] {
  const perInstance = (resource: Resource): Line[] =>
    COLOURS.map((colour, instance) => ({
      label: `instance ${instance + 1}`,
      colour,
      points: resources
        .filter((sample) => sample.instance === instance)
        .map((sample) => ({ second: sample.second, value: sample[resource] })),
    }))
  const latency = (
    label: string,
    colour: string,
    valueOf: (item: (typeof latencies)[number]) => number,
  ): Line => ({
    label,
    colour,
    points: latencies.map((item) => ({
      second: item.second,
      value: Math.min(LATENCY_MAX_MS, valueOf(item)),
    })),
  })
  return [
    {
      title: 'Responses per second',
      lines: [responsesLine(latencies)],
    },
    {
      title: `Latency in ms, at most ${LATENCY_MAX_MS} shown`,
      lines: [
        latency('p50', COLOURS[0], ({ p50Ms }) => p50Ms),
        latency('p99', COLOURS[1], ({ p99Ms }) => p99Ms),
      ],
    },
    { title: 'Memory in MB', lines: perInstance('memoryMb') },
    { title: 'Open files', lines: perInstance('openFiles') },
    { title: 'Connections to PostgreSQL', lines: perInstance('connections') },
    {
      title: 'CPU of the host in percent',
      lines: [
        {
          label: 'used here',
          colour: COLOURS[0],
          points: hostCpu.map(({ second, used }) => ({ second, value: used })),
        },
        {
          label: 'taken by others',
          colour: COLOURS[1],
          points: hostCpu.map(({ second, taken }) => ({ second, value: taken })),
        },
      ],
    },
  ]
}

function responsesLine(latencies: SoakData['latencies']): Line {
  return {
    label: 'all operations',
    colour: COLOURS[0],
    points: latencies.map(({ second, perSecond }) => ({ second, value: perSecond })),
  }
}

interface Frame {
  x: (second: number) => number
  seconds: number
  top: number
}

function drawPanel(
  { title, lines }: Panel,
  faults: readonly MarkedFault[],
  { x, seconds, top }: Frame,
): string {
  const plotTop = top + 22
  const max = roundUp(Math.max(1, ...lines.flatMap(({ points }) => points.map(({ value }) => value))))
  const y = (value: number) => plotTop + PLOT - (value / max) * PLOT
  const fixed = (value: number) => value.toFixed(1)
  const grid = [0, 0.5, 1].map(
    (
      part,
    ) => `<line x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${fixed(y(part * max))}" y2="${fixed(y(part * max))}" stroke="#e3e5e8"/>
<text x="${LEFT - 8}" y="${fixed(y(part * max) + 4)}" text-anchor="end">${(part * max).toLocaleString('en')}</text>`,
  )
  const minutes = Array.from({ length: Math.floor(seconds / 300) + 1 }, (_, index) => index * 5)
  const ticks = minutes.map(
    (minute) =>
      `<text x="${fixed(x(minute * 60))}" y="${plotTop + PLOT + 14}" text-anchor="middle" font-size="10">${minute} min</text>`,
  )
  const marks = faults.map(
    ({ fault, startedAt, healedAt }) =>
      `<rect x="${fixed(x(startedAt))}" y="${plotTop}" width="${fixed(Math.max(1, x(healedAt) - x(startedAt)))}" height="${PLOT}" fill="#d9363e" opacity="0.15"><title>${fault}</title></rect>`,
  )
  const paths = lines.map(
    ({ points, colour }) =>
      `<polyline points="${points.map(({ second, value }) => `${fixed(x(second))},${fixed(y(value))}`).join(' ')}" fill="none" stroke="${colour}" stroke-width="1.2"/>`,
  )
  const legend = lines.map(
    (
      { label, colour },
      index,
    ) => `<line x1="${WIDTH - 240 + index * 120}" x2="${WIDTH - 222 + index * 120}" y1="${top + 10}" y2="${top + 10}" stroke="${colour}" stroke-width="3"/>
<text x="${WIDTH - 216 + index * 120}" y="${top + 14}">${label}</text>`,
  )
  return [
    `<text x="${LEFT}" y="${top + 14}" font-weight="bold">${title}</text>`,
    ...grid,
    ...ticks,
    ...marks,
    ...paths,
    ...legend,
  ].join('\n')
}
