// `npm run bench`: compares the service with PostgreSQL alone (pgbench), a bare HTTP server, and the same operations with
// Express. Measures all targets of a workload in turn in the same run, and reports ratios of medians.
import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { print, say } from '../../src/cli/terminal/terminal.ts'
import { startBareServer, startExpress } from './baselines.ts'
import {
  type Bench,
  bestClients,
  type Cell,
  httpTargets,
  MANY,
  measureHttp,
  measurePgbench,
  warmUp,
} from './measure.ts'
import { measureOverload, type Overload } from './overload.ts'
import { writeReport } from './report.ts'
import {
  describe,
  describeFigures,
  merge,
  RESULTS_FILE,
  type Results,
  ratios,
  readResults,
} from './results.ts'
import { buildSetup, SETTINGS } from './setup.ts'
import { usedBy } from './tools.ts'
import { WORKLOADS } from './workloads.ts'

const HELP = `npm run bench -- [options]

  --pets N       number of pets to load before the run (default 1000000)
  --seconds S    length of each measurement (default 3)
  --rounds R     number of rounds; each result is the median of all rounds (default 3)
  --quick        run one short round with 64 connections; fail if a ratio to PostgreSQL alone or to one query
                 per request is less than half of that in lab/bench/results.json
  --data FOLDER  keep the pets in FOLDER, and reuse them in the next run
  --json         print the results as JSON on standard output

Writes lab/bench/results.json, and the tables and the chart of docs/evidence/performance.md, except with --quick.

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

const isQuick = options.quick
const pets = Number(options.pets ?? (isQuick ? 100_000 : 1_000_000))
const seconds = Number(options.seconds ?? (isQuick ? 1 : 3))
const rounds = Number(options.rounds ?? (isQuick ? 1 : 3))
const connections = isQuick ? [MANY] : [1, 8, MANY]
const pgbenchClients = isQuick ? [16] : [4, 8, 16, 32]
const expressPoolSizes = isQuick ? [10] : [4, 10, 20, 40]

const HALF = 0.5

async function main(): Promise<void> {
  if (options.help) return print(HELP)
  const results = await measure()
  say(`\n${describe(results)}`)
  for (const part of results.overload) say(describeFigures(part))
  if (options.json) print(JSON.stringify(results, null, 2))
  if (isQuick) return compareWithBaseline(results.ratios)
  writeFileSync(RESULTS_FILE, `${JSON.stringify(results, null, 2)}\n`)
  writeReport(results)
}

async function measure(): Promise<Results> {
  const started: { stop: () => Promise<void> }[] = []
  const setup = await buildSetup(pets, options.data)
  try {
    const bare = await startBareServer(setup, pets)
    started.push(bare)
    const express = await startExpress(setup, pets, expressPoolSizes)
    started.push(express)
    const { on, off } = setup
    const bench: Bench = { ...setup, pets, servers: { on, off, 'bare http': bare, express } }
    const measured = await measureRounds(bench)
    const overload = isQuick ? [] : await measureOverloads(bench)
    const memory = Math.max(measured.memory, ...overload.map((one) => one.memory))
    const conditions = { date: new Date().toISOString(), pets, seconds, rounds, settings: SETTINGS }
    const { cells } = measured
    return {
      ...conditions,
      expressPoolSize: express.poolSize,
      memory,
      overload,
      cells,
      ratios: ratios(cells),
    }
  } finally {
    await Promise.all(started.map(({ stop }) => stop()))
    await setup.close()
  }
}

/** Measures the targets of a workload directly one after the other, so that noise of the machine affects all alike. */
async function measureRounds(bench: Bench): Promise<{ cells: Cell[]; memory: number }> {
  const cells: Cell[] = []
  let memory = 0
  const clients = await bestClients(bench, pgbenchClients)
  await warmUp(bench, isQuick)
  for (let round = 1; round <= rounds; round += 1) {
    for (const workload of WORKLOADS) {
      say(`round ${round} of ${rounds}: ${workload}`)
      cells.push(await measurePgbench(bench, workload, clients[workload], seconds))
      for (const count of connections) {
        for (const target of httpTargets(workload, count, isQuick)) {
          cells.push(await measureHttp(bench, workload, target, count, seconds))
        }
      }
      memory = Math.max(memory, usedBy(bench.on.pid).megabytes)
    }
  }
  return { cells: merge(cells), memory }
}

async function measureOverloads(bench: Bench): Promise<Overload[]> {
  const overload: Overload[] = []
  for (const workload of ['get', 'create'] as const) {
    say(`overload: ${workload}`)
    overload.push(await measureOverload(bench, workload, pets))
  }
  return overload
}

/**
 * For `npm run nightly`. Absolute speed depends on the machine. The ratios to pgbench and to the service without batching on the same
 * machine should not. The ratios to other servers are not checked.
 */
function compareWithBaseline(measured: Record<string, number>): void {
  const recorded = readResults().ratios
  const low = Object.entries(measured).filter(([name, ratio]) => {
    const before = recorded[name]
    return before !== undefined && /: on \/ (?:pgbench|off)$/.test(name) && ratio < before * HALF
  })
  for (const [name, ratio] of low)
    say(
      `${name} is ${ratio.toFixed(2)}, less than half of ${recorded[name]?.toFixed(2)} in lab/bench/results.json`,
    )
  if (low.length > 0) process.exitCode = 1
}

await main()
