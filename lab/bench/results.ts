// The results of a run: medians of all rounds, ratios, and the tables for the terminal.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { table } from '../../src/cli/terminal/terminal.ts'
import { median } from '../parts/quantile.ts'
import { type Cell, MANY, type Target } from './measure.ts'
import type { Overload } from './overload.ts'
import { WORKLOADS, type Workload } from './workloads.ts'

export const RESULTS_FILE = join(import.meta.dirname, 'results.json')

export interface Results {
  date: string
  pets: number
  seconds: number
  rounds: number
  settings: Record<string, string>
  /** Absent in results from before Express was measured. */
  expressPoolSize?: number
  memory: number
  overload: Overload[]
  cells: Cell[]
  ratios: Record<string, number>
}

export function readResults(): Results {
  return JSON.parse(readFileSync(RESULTS_FILE, 'utf8')) as Results
}

/** One cell per workload, target and number of connections, with the medians of all rounds. */
export function merge(cells: Cell[]): Cell[] {
  const groups = Map.groupBy(
    cells,
    ({ workload, target, connections }) => `${workload}/${target}/${connections}`,
  )
  return [...groups.values()].map((same) => {
    const medians = Object.fromEntries(
      MEDIANS.flatMap((name) => {
        const values = same.map((cell) => cell[name]).filter((value) => value !== undefined)
        return values.length === 0 ? [] : [[name, median(values)]]
      }),
    )
    const [first] = same as [Cell]
    return { ...first, ...medians, failed: same.reduce((total, cell) => total + cell.failed, 0) }
  })
}

const MEDIANS = [
  'perSecond',
  'p50Ms',
  'p99Ms',
  'cpuSecondsPerSecond',
  'nodeMicros',
  'postgresMicros',
] as const satisfies (keyof Cell)[]

/** The cell with 64 connections, or of pgbench with its best number of clients. */
export function findCell(
  cells: readonly Cell[],
  workload: Workload,
  target: Target,
  connections = target === 'pgbench' ? 0 : MANY,
): Cell | undefined {
  return cells.find(
    (cell) => cell.workload === workload && cell.target === target && cell.connections === connections,
  )
}

const COMPARED = ['pgbench', 'off', 'bare http', 'express'] as const

export function ratios(cells: Cell[]): Record<string, number> {
  const result: Record<string, number> = {}
  for (const workload of WORKLOADS) {
    const on = findCell(cells, workload, 'on')
    for (const target of COMPARED) {
      const other = findCell(cells, workload, target)
      if (on !== undefined && other !== undefined) {
        result[`${workload}: on / ${target}`] = on.perSecond / other.perSecond
      }
    }
    const [single, singleOff] = [findCell(cells, workload, 'on', 1), findCell(cells, workload, 'off', 1)]
    if (single?.p50Ms && singleOff?.p50Ms)
      result[`${workload}: p50 with 1 connection, on / off`] = single.p50Ms / singleOff.p50Ms
  }
  return result
}

export function describe({ cells, ratios: measured, memory, expressPoolSize }: Results): string {
  const ratioLines = Object.entries(measured).map(([name, ratio]) => `${name.padEnd(40)} ${ratio.toFixed(2)}`)
  return `${describeCells(cells)}

${ratioLines.join('\n')}
service memory ${memory.toFixed(0)} MB
Express pool size ${expressPoolSize}
`
}

function describeCells(cells: Cell[]): string {
  const figure = (value: number | undefined, digits: number) => (value ? value.toFixed(digits) : '-')
  const rows = cells.map((cell) => [
    cell.workload,
    cell.target,
    cell.connections === 0 ? 'best' : String(cell.connections),
    cell.perSecond.toFixed(0),
    figure(cell.p50Ms, 2),
    figure(cell.p99Ms, 2),
    figure(cell.cpuSecondsPerSecond, 2),
    figure(cell.nodeMicros, 0),
    figure(cell.postgresMicros, 0),
    String(cell.failed),
  ])
  const head = ['workload', 'target', 'connections', 'per second', 'p50 ms', 'p99 ms', 'cores']
  return table([[...head, 'Node µs', 'PostgreSQL µs', 'failed'], ...rows])
}

export function describeFigures(measured: Overload): string {
  return Object.entries(measured)
    .map(([name, value]) => `${name} ${typeof value === 'number' ? Math.round(value * 100) / 100 : value}`)
    .join(', ')
}
