// `node lab/bench/compare.ts`: compares the services of two checkouts.
// Both services run all the time and are measured in turn, so that noise of the machine affects both alike. They share
// one PostgreSQL, unless the checkouts have different migrations. Then each has its own.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { print, say, table } from '../../src/cli/terminal/terminal.ts'
import { quantile } from '../parts/quantile.ts'
import { type Server, type Store, startService, startStore } from './setup.ts'
import { runWrk, usedBy } from './tools.ts'
import { type Workload, WORKLOADS, wrkScript } from './workloads.ts'

const HELP = `node lab/bench/compare.ts --before FOLDER [options]

  --before FOLDER   compare this checkout with the checkout in FOLDER
  --workload NAME   measure only this workload: ${WORKLOADS.join(', ')}
  --pets N          number of pets to load before the run (default 100000)
  --seconds S       length of each measurement (default 3)
  --rounds R        number of rounds; each one measures both services with each workload (default 9)
  --connections C   number of connections (default 64)
  --json FILE       write all measurements to FILE

Prints the median of the ratios of all rounds, with quartiles. Needs wrk.
Example: node lab/bench/compare.ts --before ../petstore-main --rounds 21`

const { values: options } = parseArgs({
  options: {
    before: { type: 'string' },
    workload: { type: 'string' },
    pets: { type: 'string', default: '100000' },
    seconds: { type: 'string', default: '3' },
    rounds: { type: 'string', default: '9' },
    connections: { type: 'string', default: '64' },
    json: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
})

const COMPARED = WORKLOADS.filter((name) => name === (options.workload ?? name))
const SIDES = ['before', 'after'] as const
const [pets, seconds] = [Number(options.pets), Number(options.seconds)]
const [rounds, connections] = [Number(options.rounds), Number(options.connections)]

type Side = (typeof SIDES)[number]

interface Sample {
  perSecond: number
  p50Ms: number
  /** CPU time of the service, without PostgreSQL. */
  cpuMicrosPerRequest: number
  failed: number
}

interface Pair {
  workload: Workload
  before: Sample
  after: Sample
}

async function main(): Promise<void> {
  if (options.help) return print(HELP)
  if (options.before === undefined) {
    say(`Set --before.\n\n${HELP}`)
    process.exitCode = 2
    return
  }
  const started: { close: () => Promise<void> }[] = []
  try {
    const keep = <Process extends { close: () => Promise<void> } | Server>(process: Process): Process => {
      started.unshift('close' in process ? process : { close: process.stop })
      return process
    }
    const pairs = await measure(await startTargets(options.before, keep))
    print(describe(pairs))
    if (options.json !== undefined) {
      writeFileSync(options.json, `${JSON.stringify({ pets, seconds, rounds, pairs }, null, 2)}\n`)
    }
  } finally {
    for (const { close } of started) await close()
  }
}

/** A service and the PostgreSQL that it uses. */
interface Target {
  store: Store
  service: Server
}

type Keep = <Process extends { close: () => Promise<void> } | Server>(process: Process) => Process

/** Starts the two services. Calls `keep` for each started process, so that it is stopped even if the next one fails. */
async function startTargets(checkout: string, keep: Keep): Promise<Record<Side, Target>> {
  const store = keep(await startStore(pets))
  const after = keep(await startService(store.databaseUrl))
  const ownStore = hasSameMigrations(checkout) ? store : keep(await startStore(pets, { checkout }))
  const before = keep(await startService(ownStore.databaseUrl, { checkout }))
  return { before: { store: ownStore, service: before }, after: { store, service: after } }
}

function hasSameMigrations(checkout: string): boolean {
  return readMigrations(checkout) === readMigrations(join(import.meta.dirname, '../..'))
}

/** Their names and texts: until the first release, migrations are edited in place. */
function readMigrations(checkout: string): string {
  const folder = join(checkout, 'migrations')
  const names = readdirSync(folder).sort()
  return names.map((name) => `${name}\n${readFileSync(join(folder, name), 'utf8')}`).join('\n')
}

async function measure(targets: Record<Side, Target>): Promise<Pair[]> {
  const pairs: Pair[] = []
  for (let round = 0; round <= rounds; round += 1) {
    say(round === 0 ? 'warm-up' : `round ${round} of ${rounds}`)
    // before, after, after, before: a slow trend of the machine affects both alike.
    const order = round % 2 === 0 ? SIDES : SIDES.toReversed()
    for (const workload of COMPARED) {
      const samples: Partial<Record<Side, Sample>> = {}
      for (const side of order) samples[side] = await sample(targets[side], workload)
      if (round > 0) pairs.push({ workload, ...(samples as Record<Side, Sample>) })
    }
  }
  return pairs
}

async function sample({ store, service }: Target, workload: Workload): Promise<Sample> {
  const script = wrkScript(workload, pets, store.apiKey, store.folder)
  const cpuBefore = usedBy(service.pid).cpuSeconds
  const measured = await runWrk(script, service.origin, connections, seconds, store.folder)
  const cpuSeconds = usedBy(service.pid).cpuSeconds - cpuBefore
  return {
    perSecond: measured.perSecond,
    p50Ms: measured.p50Ms ?? 0,
    cpuMicrosPerRequest: (cpuSeconds / (measured.perSecond * seconds)) * 1e6,
    failed: measured.failed,
  }
}

function describe(pairs: Pair[]): string {
  const rows = COMPARED.map((workload) => {
    const same = pairs.filter((pair) => pair.workload === workload)
    const middle = (side: Side, what: keyof Sample) =>
      quantile(
        same.map((pair) => pair[side][what]),
        0.5,
      )
    const both = (what: keyof Sample, digits: number) =>
      SIDES.map((side) => middle(side, what).toFixed(digits)).join(' / ')
    const ratio = (what: keyof Sample) => {
      const ratios = same.map((pair) => pair.after[what] / pair.before[what])
      const [low, mid, high] = [0.25, 0.5, 0.75].map((share) => quantile(ratios, share).toFixed(3))
      return `${mid} (${low} to ${high})`
    }
    const failed = same.reduce((total, { before, after }) => total + before.failed + after.failed, 0)
    return [
      workload,
      both('perSecond', 0),
      ratio('perSecond'),
      both('cpuMicrosPerRequest', 1),
      ratio('cpuMicrosPerRequest'),
      both('p50Ms', 2),
      String(failed),
    ]
  })
  return `before / after; ratios are after / before: median (quartiles) of ${rounds} rounds
${table([['workload', 'per second', 'ratio', 'CPU µs per request', 'ratio', 'p50 ms', 'failed'], ...rows])}`
}

await main()
