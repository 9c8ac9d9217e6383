// `node lab/bench/tracing-cost.ts`: measures the CPU time that tracing adds to a request.
// All services run all the time on one PostgreSQL and are measured in turn, so that noise of the machine affects all alike.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { print, say, table } from '../../src/cli/terminal/terminal.ts'
import { openLocalServer } from '../parts/local-server.ts'
import { quantile } from '../parts/quantile.ts'
import { type Server, type Store, startService, startStore } from './setup.ts'
import { runWrk } from './tools.ts'
import { type Workload, WORKLOADS, wrkScript } from './workloads.ts'

const HELP = `node lab/bench/tracing-cost.ts [options]

  --before FOLDER   also compare with the checkout in FOLDER, which has no tracing
  --workload NAME   measure only this workload: ${WORKLOADS.join(', ')} (default: list hot and create)
  --sampled SHARE   share of requests to sample (default 0.1)
  --pets N          number of pets to load before the run (default 100000)
  --seconds S       length of each measurement (default 3)
  --rounds R        number of rounds; each one measures every service with each workload (default 15)
  --connections C   number of connections (default 64)
  --json FILE       write all measurements to FILE

Prints the CPU time of the service per request, as a ratio: median and quartiles of all rounds. "off" is compared with the
checkout in FOLDER, "sampled" with "off". FOLDER must have the same migrations. Needs wrk.
Example: node lab/bench/tracing-cost.ts --before ../petstore-main --rounds 31`

const { values: options } = parseArgs({
  options: {
    before: { type: 'string' },
    workload: { type: 'string' },
    sampled: { type: 'string', default: '0.1' },
    pets: { type: 'string', default: '100000' },
    seconds: { type: 'string', default: '3' },
    rounds: { type: 'string', default: '15' },
    connections: { type: 'string', default: '64' },
    json: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
})
const [pets, seconds] = [Number(options.pets), Number(options.seconds)]
const [rounds, connections] = [Number(options.rounds), Number(options.connections)]
const COMPARED = WORKLOADS.filter((name) =>
  options.workload === undefined ? ['list hot', 'create'].includes(name) : name === options.workload,
)

type Side = 'before' | 'off' | 'sampled'

interface Sample {
  round: number
  workload: Workload
  side: Side
  cpuMicrosPerRequest: number
  perSecond: number
  failed: number
}

/** A collector that accepts and discards everything, in this process. */
async function startCollector(): Promise<{ url: string; exports: () => number; close: () => Promise<void> }> {
  let exports = 0
  const { origin, close } = await openLocalServer((request, response) => {
    exports += 1
    request.resume().on('end', () => response.writeHead(200).end())
  })
  return { url: origin, exports: () => exports, close }
}

async function main(): Promise<void> {
  if (options.help) return print(HELP)
  const started: { close: () => Promise<void> }[] = []
  try {
    const collector = await startCollector()
    started.unshift(collector)
    const store = await startStore(pets)
    started.unshift(store)
    const start = async (choices: Parameters<typeof startService>[1]) => {
      const service = await startService(store.databaseUrl, choices)
      started.unshift({ close: service.stop })
      return service
    }
    const services: Partial<Record<Side, Server>> = {
      ...(options.before !== undefined && { before: await start({ checkout: options.before }) }),
      off: await start({}),
      sampled: await start({
        environment: {
          OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
          OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
          OTEL_TRACES_SAMPLER_ARG: options.sampled,
        },
      }),
    }
    const samples = await measure(store, services)
    print(`${describe(samples)}\nexports received: ${collector.exports()}`)
    if (options.json !== undefined) {
      writeFileSync(options.json, `${JSON.stringify({ pets, seconds, rounds, samples }, null, 2)}\n`)
    }
  } finally {
    for (const { close } of started) await close()
  }
}

async function measure(store: Store, services: Partial<Record<Side, Server>>): Promise<Sample[]> {
  const samples: Sample[] = []
  const sides = Object.entries(services) as [Side, Server][]
  for (let round = 0; round <= rounds; round += 1) {
    say(round === 0 ? 'warm-up' : `round ${round} of ${rounds}`)
    // Every other round in reverse order: a slow trend of the machine affects all alike.
    for (const workload of COMPARED) {
      for (const [side, service] of round % 2 === 0 ? sides : sides.toReversed()) {
        const sample = { round, workload, side, ...(await measureOne(store, service, workload)) }
        if (round > 0) samples.push(sample)
      }
    }
  }
  return samples
}

/** CPU time of all threads of a process, in nanosecond steps: the ticks of /proc/PID/stat are too long for ratios near 1. */
function cpuSecondsOf(pid: number): number {
  return readdirSync(`/proc/${pid}/task`)
    .map((thread) => Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]))
    .reduce((total, nanoseconds) => total + nanoseconds / 1e9, 0)
}

async function measureOne(store: Store, service: Server, workload: Workload) {
  const script = wrkScript(workload, pets, store.apiKey, store.folder)
  const cpuBefore = cpuSecondsOf(service.pid)
  const { perSecond, requests, failed } = await runWrk(
    script,
    service.origin,
    connections,
    seconds,
    store.folder,
  )
  const cpuSeconds = cpuSecondsOf(service.pid) - cpuBefore
  return { cpuMicrosPerRequest: (cpuSeconds / requests) * 1e6, perSecond, failed }
}

function describe(samples: Sample[]): string {
  const pairs: [Side, Side][] = [
    ['before', 'off'],
    ['off', 'sampled'],
  ]
  const rows = COMPARED.flatMap((workload) =>
    pairs.flatMap(([base, side]) => {
      const of = (wanted: Side) =>
        samples.filter((sample) => sample.workload === workload && sample.side === wanted)
      const [bases, sides] = [of(base), of(side)]
      if (bases.length === 0) return []
      const ratios = sides.map(
        (sample, index) => sample.cpuMicrosPerRequest / (bases[index]?.cpuMicrosPerRequest ?? Number.NaN),
      )
      const cpu = (list: Sample[]) =>
        quantile(
          list.map(({ cpuMicrosPerRequest }) => cpuMicrosPerRequest),
          0.5,
        ).toFixed(1)
      const failed = [...bases, ...sides].reduce((total, sample) => total + sample.failed, 0)
      return [
        [
          workload,
          `${side} / ${base}`,
          `${cpu(sides)} / ${cpu(bases)}`,
          ...[0.5, 0.25, 0.75].map((share) => quantile(ratios, share).toFixed(3)),
          String(failed),
        ],
      ]
    }),
  )
  return table([['workload', 'compared', 'CPU µs per request', 'ratio', 'low', 'high', 'failed'], ...rows])
}

await main()
