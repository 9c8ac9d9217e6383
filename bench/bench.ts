// `npm run bench`: compares the service with PostgreSQL alone (pgbench). Measures both in turn in the same run, and
// reports ratios of medians.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { print, say, table } from '../src/cli/terminal.ts'
import { drawCharts } from './charts.ts'
import { measureOverload, type Overload } from './overload.ts'
import { buildSetup, SETTINGS, type Setup } from './setup.ts'
import { type Measured, median, runPgbench, runWrk, usedBy } from './tools.ts'
import { measureWalk, type Walk } from './walk.ts'
import { pgbenchScript, WORKLOADS, type Workload, wrkScript } from './workloads.ts'

const HELP = `npm run bench -- [options]

  --pets N       number of pets to load before the run (default 1000000)
  --seconds S    length of each measurement (default 3)
  --rounds R     number of rounds; each result is the median of all rounds (default 3)
  --quick        for CI: run one short round with 64 connections; fail if a ratio is less than half of that in
                 bench/results.json
  --data FOLDER  keep the pets in FOLDER, and reuse them in the next run
  --json         print the results as JSON on standard output

Needs wrk and pgbench. Example: npm run bench -- --pets 100000 --seconds 2`

const { values: options } = parseArgs({
  options: {
    pets: { type: 'string' },
    seconds: { type: 'string' },
    rounds: { type: 'string' },
    quick: { type: 'boolean', default: false },
    data: { type: 'string' },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})

const RESULTS = join(import.meta.dirname, 'results.json')
const PGBENCH_CLIENTS = [4, 8, 16, 32]
const HALF = 0.5

interface Cell extends Measured {
  workload: Workload
  target: 'pgbench' | 'bare http' | 'off' | 'on'
  connections: number
  cpuSecondsPerSecond?: number
}

async function main(): Promise<void> {
  if (options.help) return print(HELP)
  const pets = Number(options.pets ?? (options.quick ? 100_000 : 1_000_000))
  const seconds = Number(options.seconds ?? (options.quick ? 1 : 3))
  const rounds = Number(options.rounds ?? (options.quick ? 1 : 3))
  const connections = options.quick ? [64] : [1, 8, 64]
  const setup = await buildSetup(pets, options.data)
  let cells: Cell[] = []
  let memory = 0
  let walk: Walk | undefined
  const overload: Overload[] = []
  const noteMemory = () => {
    memory = Math.max(memory, usedBy(setup.on.pid).megabytes)
  }
  try {
    const clients = await bestClients(setup, pets, options.quick ? [16] : PGBENCH_CLIENTS)
    await warmUp(setup, pets)
    for (let round = 1; round <= rounds; round += 1) {
      for (const workload of WORKLOADS) {
        say(`round ${round} of ${rounds}: ${workload}`)
        cells.push(await pgbench(setup, workload, pets, clients[workload], seconds))
        for (const count of connections) {
          for (const target of ['bare http', 'off', 'on'] as const) {
            if (target === 'bare http' && (workload !== 'list hot' || count !== 64)) continue
            cells.push(await wrk(setup, workload, target, pets, count, seconds))
          }
        }
        noteMemory()
      }
    }
    if (!options.quick) {
      say('paging deep into the list')
      walk = await measureWalk(setup.on.origin, setup.apiKey)
      for (const workload of ['get', 'create'] as const) {
        say(`overload: ${workload}`)
        overload.push(await measureOverload(setup, workload, pets))
        noteMemory()
      }
    }
  } finally {
    await setup.close()
  }
  cells = merge(cells)
  const results = {
    date: new Date().toISOString(),
    pets,
    seconds,
    rounds,
    settings: SETTINGS,
    memory,
    walk,
    overload,
    cells,
    ratios: ratios(cells),
  }
  say(
    `\n${describe(cells)}\n\n${Object.entries(results.ratios)
      .map(([name, ratio]) => `${name.padEnd(36)} ${ratio.toFixed(2)}`)
      .join('\n')}\nservice memory ${memory.toFixed(0)} MB\n`,
  )
  for (const measured of [walk, ...overload]) if (measured !== undefined) say(describeFigures(measured))
  if (options.json) print(JSON.stringify(results, null, 2))
  if (options.quick) return compareWithBaseline(results.ratios)
  writeFileSync(RESULTS, `${JSON.stringify(results, null, 2)}\n`)
  const charts = join(import.meta.dirname, '../docs/charts')
  mkdirSync(charts, { recursive: true })
  drawCharts(cells, charts)
}

async function pgbench(
  setup: Setup,
  workload: Workload,
  pets: number,
  clients: number,
  seconds: number,
): Promise<Cell> {
  const script = pgbenchScript(workload, pets)
  const measured = await runPgbench(script, setup.databaseUrl, clients, seconds, setup.folder)
  return { workload, target: 'pgbench', connections: 0, ...measured }
}

async function wrk(
  setup: Setup,
  workload: Workload,
  target: 'bare http' | 'off' | 'on',
  pets: number,
  connections: number,
  seconds: number,
): Promise<Cell> {
  const server = target === 'bare http' ? setup.bare : setup[target]
  const script = wrkScript(workload, pets, setup.apiKey, setup.folder)
  const before = usedBy(server.pid).cpuSeconds
  const measured = await runWrk(script, server.origin, connections, seconds, setup.folder)
  return {
    workload,
    target,
    connections,
    ...measured,
    cpuSecondsPerSecond: (usedBy(server.pid).cpuSeconds - before) / seconds,
  }
}

/** Finds the number of clients with which pgbench is fastest. With any other number, the service would look better. */
async function bestClients(setup: Setup, pets: number, choices: number[]): Promise<Record<Workload, number>> {
  const best = {} as Record<Workload, number>
  for (const workload of WORKLOADS) {
    const tried = new Map<number, number>()
    for (const clients of choices) {
      tried.set(clients, (await pgbench(setup, workload, pets, clients, 1)).perSecond)
    }
    best[workload] = [...tried].sort(([, a], [, b]) => b - a)[0]?.[0] ?? 16
  }
  say(`pgbench is fastest with ${JSON.stringify(best)} clients`)
  return best
}

async function warmUp(setup: Setup, pets: number): Promise<void> {
  for (const workload of WORKLOADS) {
    for (const target of ['off', 'on'] as const) await wrk(setup, workload, target, pets, 64, 1)
  }
}

function merge(cells: Cell[]): Cell[] {
  const groups = Map.groupBy(
    cells,
    ({ workload, target, connections }) => `${workload}/${target}/${connections}`,
  )
  return [...groups.values()].map((same) => {
    const medianOf = (pick: (cell: Cell) => number | undefined) => median(same.map((cell) => pick(cell) ?? 0))
    const [first] = same as [Cell]
    return {
      ...first,
      perSecond: medianOf((cell) => cell.perSecond),
      p50Ms: medianOf((cell) => cell.p50Ms),
      p99Ms: medianOf((cell) => cell.p99Ms),
      cpuSecondsPerSecond: medianOf((cell) => cell.cpuSecondsPerSecond),
      failed: same.reduce((total, cell) => total + cell.failed, 0),
    }
  })
}

function find(
  cells: Cell[],
  workload: Workload,
  target: Cell['target'],
  connections: number,
): Cell | undefined {
  return cells.find(
    (cell) => cell.workload === workload && cell.target === target && cell.connections === connections,
  )
}

function ratios(cells: Cell[]): Record<string, number> {
  const result: Record<string, number> = {}
  for (const workload of WORKLOADS) {
    const [on, off] = [find(cells, workload, 'on', 64), find(cells, workload, 'off', 64)]
    const engine = find(cells, workload, 'pgbench', 0)
    result[`${workload}: on / pgbench`] = (on?.perSecond ?? 0) / (engine?.perSecond ?? 1)
    result[`${workload}: on / off`] = (on?.perSecond ?? 0) / (off?.perSecond ?? 1)
    const [single, singleOff] = [find(cells, workload, 'on', 1), find(cells, workload, 'off', 1)]
    if (single?.p50Ms && singleOff?.p50Ms)
      result[`${workload}: p50 with 1 connection, on / off`] = single.p50Ms / singleOff.p50Ms
  }
  return result
}

function describe(cells: Cell[]): string {
  const rows = cells.map((cell) => [
    cell.workload,
    cell.target,
    cell.connections === 0 ? 'best' : String(cell.connections),
    cell.perSecond.toFixed(0),
    cell.p50Ms ? cell.p50Ms.toFixed(2) : '-',
    cell.p99Ms ? cell.p99Ms.toFixed(2) : '-',
    cell.cpuSecondsPerSecond ? cell.cpuSecondsPerSecond.toFixed(2) : '-',
    String(cell.failed),
  ])
  return table([
    ['workload', 'target', 'connections', 'per second', 'p50 ms', 'p99 ms', 'cores', 'failed'],
    ...rows,
  ])
}

function describeFigures(measured: Walk | Overload): string {
  return Object.entries(measured)
    .map(([name, value]) => `${name} ${typeof value === 'number' ? Math.round(value * 100) / 100 : value}`)
    .join(', ')
}

/** For CI. Absolute speed depends on the machine; the ratio to PostgreSQL on the same machine should not. */
function compareWithBaseline(measured: Record<string, number>): void {
  const recorded = (JSON.parse(readFileSync(RESULTS, 'utf8')) as { ratios: Record<string, number> }).ratios
  const low = Object.entries(measured).filter(([name, ratio]) => {
    const before = recorded[name]
    return before !== undefined && name.includes('on / ') && !name.includes('p50') && ratio < before * HALF
  })
  for (const [name, ratio] of low)
    say(
      `${name} is ${ratio.toFixed(2)}, less than half of ${recorded[name]?.toFixed(2)} in bench/results.json`,
    )
  if (low.length > 0) process.exitCode = 1
}

await main()
