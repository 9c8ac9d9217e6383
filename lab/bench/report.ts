// `node lab/bench/report.ts`: writes the tables and the chart of docs/evidence/performance.md from lab/bench/results.json. A full run of
// `npm run bench` does the same at its end. Measures nothing.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { print } from '../../src/cli/terminal/terminal.ts'
import { drawBarChart } from '../parts/charts.ts'
import type { Cell, Target } from './measure.ts'
import { findCell, type Results, readResults } from './results.ts'
import { WORKLOADS, type Workload } from './workloads.ts'

const DOCS = join(import.meta.dirname, '../../docs')
const PAGE = join(DOCS, 'evidence/performance.md')
const BEGIN = '<!-- results: written by `npm run bench` -->\n'
const END = '\n<!-- end of results -->'
const NOT_MEASURED = '–'
const WORKLOAD_NAMES: Record<Workload, string> = {
  'list hot': 'list, the same page',
  'list random': 'list, random pages',
  get: 'get by id',
  create: 'create',
}
/** In the order of the bars: the limits, the service, the peers. */
const BARS: { target: Target; label: string; colour: string }[] = [
  { target: 'pgbench', label: 'PostgreSQL alone', colour: '#8a8f98' },
  { target: 'bare http', label: 'node:http without a database', colour: '#c3c7cd' },
  { target: 'on', label: 'Petstore', colour: '#2a7de1' },
  { target: 'off', label: 'Petstore, one query per request', colour: '#9cc4f2' },
  { target: 'express', label: 'Express', colour: '#c9a227' },
]

/** Writes the tables into the page, and draws the chart. */
export function writeReport(results: Results): void {
  const text = readFileSync(PAGE, 'utf8')
  const [from, to] = [text.indexOf(BEGIN), text.indexOf(END)]
  if (from === -1 || to < from) throw new Error('docs/evidence/performance.md has no markers for the results')
  writeFileSync(PAGE, text.slice(0, from + BEGIN.length) + report(results) + text.slice(to))
  const charts = join(DOCS, 'charts')
  mkdirSync(charts, { recursive: true })
  writeFileSync(join(charts, 'throughput.svg'), drawThroughput(results.cells))
}

function drawThroughput(cells: readonly Cell[]): string {
  const groups = WORKLOADS.map((workload) => ({
    name: WORKLOAD_NAMES[workload],
    bars: BARS.flatMap(({ target, label, colour }) => {
      const cell = findCell(cells, workload, target)
      return cell === undefined ? [] : [{ label, colour, value: cell.perSecond }]
    }),
  }))
  return drawBarChart('Requests per second, 64 connections', groups)
}

export function report(results: Results): string {
  const { date, pets, seconds, rounds, cells, expressPoolSize } = results
  const measured = `Measured on ${date.slice(0, 10)} with ${pets.toLocaleString('en')} pets, median of ${rounds} × ${seconds} s per measurement.`
  const others =
    expressPoolSize === undefined
      ? 'At that time, different list pages were not batched, and the bare server sent fewer headers than Petstore.'
      : `Express was fastest with ${expressPoolSize} database connections.`
  return `Requests per second with 64 connections:[^1]

${throughputTable(cells)}

Throughput of Petstore divided by that of the other targets:

${ratioTable(cells)}

CPU time per request with 64 connections, in µs. The first figure is Node, the second one PostgreSQL:[^7]

${cpuTable(cells)}

${measured} ${others}
“${NOT_MEASURED}” means that the run did not measure it.`
}

const COLUMNS: [target: Target, title: string][] = [
  ['on', 'Petstore'],
  ['off', 'One query per request'],
  ['express', 'Express[^4]'],
  ['bare http', 'Bare `node:http`[^5]'],
  ['pgbench', 'PostgreSQL alone[^6]'],
]
const TITLES = ['', ...COLUMNS.map(([, title]) => title)]

function throughputTable(cells: Cell[]): string {
  return tableBy(TITLES, COLUMNS, (workload, target) => {
    const perSecond = findCell(cells, workload, target)?.perSecond
    return perSecond === undefined ? NOT_MEASURED : `${Math.round(perSecond).toLocaleString('en')}/s`
  })
}

function ratioTable(cells: Cell[]): string {
  const others = COLUMNS.slice(1)
  const titles = ['', ...others.map(([, title]) => `/ ${title.replace(/\[.*/, '')}`)]
  return tableBy(titles, others, (workload, target) => {
    const [own, other] = [findCell(cells, workload, 'on'), findCell(cells, workload, target)]
    return own === undefined || other === undefined
      ? NOT_MEASURED
      : (own.perSecond / other.perSecond).toFixed(2)
  })
}

function cpuTable(cells: Cell[]): string {
  return tableBy(TITLES, COLUMNS, (workload, target) => cpuOf(cells, workload, target))
}

/** Node first, then PostgreSQL; only one of them if the target does not use the other. */
function cpuOf(cells: Cell[], workload: Workload, target: Target): string {
  const { nodeMicros, postgresMicros } = findCell(cells, workload, target) ?? {}
  const parts = [nodeMicros, postgresMicros].filter((micros) => micros !== undefined)
  return parts.length === 0 ? NOT_MEASURED : parts.map((micros) => micros.toFixed(0)).join(' + ')
}

function tableBy(
  titles: string[],
  columns: [target: Target, title: string][],
  figureOf: (workload: Workload, target: Target) => string,
): string {
  const line = (cells: string[]) => `| ${cells.join(' | ')} |`.replace('|  |', '| |')
  const rows = WORKLOADS.map((workload) => [
    WORKLOAD_NAMES[workload],
    ...columns.map(([target]) => figureOf(workload, target)),
  ])
  return [line(titles), `|${'---|'.repeat(titles.length)}`, ...rows.map(line)].join('\n')
}

if (import.meta.main) {
  const results = readResults()
  print(report(results))
  writeReport(results)
}
