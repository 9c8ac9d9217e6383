// `node lab/bench/standby-reads.ts`: measures how much CPU time of the primary a read takes with and without
// DATABASE_READ_URL, on a primary with two standbys. All servers share this host, so throughput shows no gain.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { Client } from 'pg'
import { sumsBy } from '../../src/cli/top/gauges.ts'
import type { Metrics } from '../../src/cli/top/metrics.ts'
import { scrape } from '../../src/cli/top/scrape.ts'
import { print, say, table } from '../../src/cli/terminal/terminal.ts'
import { median, quantile } from '../parts/quantile.ts'
import { type Server, startService } from './setup.ts'
import { type StandbyCluster, startStandbyCluster } from './standby-cluster.ts'
import { type Measured, runOpenLoop, runWrk, usedBy, usedWithChildren } from './tools.ts'
import { wrkScript } from './workloads.ts'

const HELP = `node lab/bench/standby-reads.ts [options]

  --pets N          number of pets to load before the run (default 100000)
  --seconds S       length of each measurement (default 6)
  --rounds R        number of rounds; each one measures every case with and without standby reads (default 5)
  --connections C   number of connections, except of the cases that measure latency (default 64)
  --rate R          reads per second of the cases that measure latency (default 500)
  --creates C       creates per second of the cases with creates (default 200)
  --json FILE       write all measurements to FILE

Starts a primary and two standbys, one service without and one with DATABASE_READ_URL, and measures them in turn. A third
service sends the creates. Prints the CPU time of the primary per read, measured in three ways:

  all           all processes of the primary
  added         the same, minus that of an equal time without reads: idle, or with the creates only
  backends      the backends of the service that reads, also minus an equal time without reads

If the host is busy, creates wait for each other and share commits. They then take less CPU time than alone, and "added" is
too low. The backends of the service that reads run no creates, but some of their background jobs. Needs wrk and PostgreSQL 15 from Debian. The default takes about twelve minutes.

Examples:
  node lab/bench/standby-reads.ts
  node lab/bench/standby-reads.ts --rounds 1 --seconds 2 --pets 1000
  node lab/bench/standby-reads.ts --rounds 15 --json standby-reads.json`

const { values: options } = parseArgs({
  options: {
    pets: { type: 'string', default: '100000' },
    seconds: { type: 'string', default: '6' },
    rounds: { type: 'string', default: '5' },
    connections: { type: 'string', default: '64' },
    rate: { type: 'string', default: '500' },
    creates: { type: 'string', default: '200' },
    json: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
})

const [pets, seconds, rounds] = [Number(options.pets), Number(options.seconds), Number(options.rounds)]
const [connections, rate] = [Number(options.connections), Number(options.rate)]
const createsPerSecond = Number(options.creates)

/** Enough for responses that take half a second. */
const OPEN_LOOP_CONNECTIONS = 256
const SCRAPES_MAX = 30

const SIDES = ['without', 'with'] as const
type Side = (typeof SIDES)[number]
type Read = 'list random' | 'get'

interface Case {
  name: string
  /** Absent: no reads. */
  read?: Read
  /** As many as the service can handle, or `rate` per second. */
  pace: 'all' | 'rate'
  hasCreates: boolean
}

const TITLES: Record<Read, string> = { 'list random': 'random page', get: 'get by id' }
const READS = Object.keys(TITLES) as Read[]
const caseOf = (read: Read, pace: Case['pace'], hasCreates: boolean): Case => ({
  name: `${TITLES[read]}, ${pace === 'all' ? `${connections} connections` : `${rate} per second`}${hasCreates ? `, ${createsPerSecond} creates per second` : ''}`,
  read,
  pace,
  hasCreates,
})
const IDLE: Case = { name: 'idle', pace: 'all', hasCreates: false }
const CREATES: Case = { name: `only ${createsPerSecond} creates per second`, pace: 'all', hasCreates: true }
const CASES: Case[] = [
  IDLE,
  ...READS.map((read) => caseOf(read, 'all', false)),
  CREATES,
  ...READS.map((read) => caseOf(read, 'all', true)),
  ...READS.map((read) => caseOf(read, 'rate', false)),
]

interface Sample {
  case: string
  side: Side
  round: number
  /** Of all processes of the primary. */
  primaryCpuSeconds: number
  /** Of the backends of the service. */
  backendCpuSeconds: number
  /** Absent without reads. */
  reads?: Measured
  creates?: { accepted: number; failed: number }
  /** Share of the statements with reads that a standby ran. */
  standbyShare: number
  /** How often the service asked the primary for its position. */
  positions: number
}

interface Bench {
  cluster: StandbyCluster
  services: Record<Side, Server>
  /** Sends the creates. */
  writer: Server
  /** Connected to the primary. */
  client: Client
  /** For temporary files. */
  folder: string
}

async function main(): Promise<void> {
  if (options.help) return print(HELP)
  const folder = mkdtempSync(join(tmpdir(), 'petstore-bench-'))
  const cluster = await startStandbyCluster(pets)
  const client = new Client(cluster.databaseUrl)
  const running: Server[] = []
  try {
    const start = async (readUrl?: string) => {
      const service = await startService(cluster.databaseUrl, { readUrl })
      running.push(service)
      return service
    }
    const services = { without: await start(), with: await start(cluster.readUrl) }
    const writer = await start()
    await client.connect()
    const samples = await measure({ cluster, services, writer, client, folder })
    const results = summarize(samples)
    print(describe(results))
    if (options.json !== undefined) {
      const measured = { date: new Date().toISOString(), pets, seconds, rounds, results, samples }
      writeFileSync(options.json, `${JSON.stringify(measured, null, 2)}\n`)
    }
  } finally {
    await client.end()
    await Promise.all(running.map((service) => service.stop()))
    await cluster.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

async function measure(bench: Bench): Promise<Sample[]> {
  const samples: Sample[] = []
  for (let round = 0; round <= rounds; round += 1) {
    say(round === 0 ? 'warm-up' : `round ${round} of ${rounds}`)
    // without, with, with, without: a slow trend of the machine affects both alike.
    const order = round % 2 === 0 ? SIDES : SIDES.toReversed()
    for (const one of CASES) {
      for (const side of order) {
        const sample = await measureOnce(bench, one, side, round)
        if (round > 0) samples.push(sample)
      }
    }
  }
  return samples
}

async function measureOnce(bench: Bench, one: Case, side: Side, round: number): Promise<Sample> {
  const service = bench.services[side]
  const countsBefore = await readCounts(service)
  const cpuBefore = await readCpu(bench, service)
  const [reads, creates] = await Promise.all([
    one.read && runReads(bench, one.read, one.pace, service),
    one.hasCreates ? runCreates(bench) : undefined,
    // Cases without a load take as long as the others.
    sleep(seconds * 1_000),
  ])
  const cpuAfter = await readCpu(bench, service)
  const countsAfter = await readCounts(service)
  const byStandbys = countsAfter.standbyReads - countsBefore.standbyReads
  const byPrimary = countsAfter.primaryReads - countsBefore.primaryReads
  return {
    case: one.name,
    side,
    round,
    primaryCpuSeconds: cpuAfter.primaryCpuSeconds - cpuBefore.primaryCpuSeconds,
    backendCpuSeconds: addedTo(cpuBefore.backends, cpuAfter.backends),
    ...(reads && { reads }),
    ...(creates && { creates }),
    standbyShare: byStandbys / Math.max(1, byStandbys + byPrimary),
    positions: countsAfter.positions - countsBefore.positions,
  }
}

/** All are 0 without DATABASE_READ_URL. */
interface Counts {
  /** Statements with reads. */
  primaryReads: number
  standbyReads: number
  positions: number
}

async function readCounts(service: Server): Promise<Counts> {
  const metrics = await readMetrics(service)
  const reads = sumsBy([metrics], 'petstore_reads_total', 'target')
  const primaryReads = reads.get('primary') ?? 0
  return {
    primaryReads,
    standbyReads: [...reads.values()].reduce((total, count) => total + count, 0) - primaryReads,
    positions: sumsBy([metrics], 'petstore_query_seconds_count', 'statement').get('read_position') ?? 0,
  }
}

/** Retries if the service responds late, because the host may be busy. */
async function readMetrics({ adminOrigin = '' }: Server): Promise<Metrics> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await scrape(new URL(adminOrigin), new AbortController().signal)
    } catch (error) {
      if (attempt === SCRAPES_MAX) throw error
    }
  }
}

interface Cpu {
  primaryCpuSeconds: number
  /** CPU seconds of each backend of the service, by its process id. */
  backends: Map<number, number>
}

async function readCpu({ cluster, client }: Bench, { pid }: Server): Promise<Cpu> {
  const primaryCpuSeconds = usedWithChildren(cluster.primaryPid)
  const { rows } = await client.query<{ pid: number }>(
    'select pid from pg_stat_activity where application_name like $1',
    [`petstore@%:${pid}`],
  )
  return {
    primaryCpuSeconds,
    backends: new Map(rows.flatMap((backend) => usedByBackend(backend.pid))),
  }
}

/** Empty if it has exited since it was listed. */
function usedByBackend(pid: number): [pid: number, cpuSeconds: number][] {
  try {
    return [[pid, usedBy(pid).cpuSeconds]]
  } catch {
    return []
  }
}

/**
 * A backend that has exited is missing. A connection is closed after ten idle seconds, so its backend used nothing during the
 * measurement, or after five minutes, which loses about 1 % of the time of all backends.
 */
function addedTo(before: ReadonlyMap<number, number>, after: ReadonlyMap<number, number>): number {
  return [...after].reduce((total, [pid, used]) => total + used - (before.get(pid) ?? 0), 0)
}

async function runReads(
  { cluster: { apiKey }, folder }: Bench,
  workload: Read,
  pace: Case['pace'],
  { origin }: Server,
): Promise<Measured> {
  if (pace === 'all') {
    return runWrk(wrkScript(workload, pets, apiKey, folder), origin, connections, seconds, folder)
  }
  const load = { key: apiKey, workload, pets, rate, seconds, connections: OPEN_LOOP_CONNECTIONS }
  const { perSecond, p50Ms, p99Ms, ...rest } = await runOpenLoop(origin, load)
  const requests = perSecond.reduce((total, { accepted }) => total + accepted, 0)
  const failed = perSecond.reduce((total, { rejected, cut, other }) => total + rejected + cut + other, 0)
  return {
    requests,
    perSecond: requests / seconds,
    p50Ms,
    p99Ms,
    failed: failed + rest.notSent + rest.unacknowledged,
  }
}

async function runCreates({ cluster: { apiKey }, writer }: Bench): Promise<Sample['creates']> {
  const load = {
    key: apiKey,
    workload: 'create' as const,
    pets,
    rate: createsPerSecond,
    seconds,
    connections,
  }
  const { perSecond, notSent, unacknowledged } = await runOpenLoop(writer.origin, load)
  const failed = perSecond.reduce((total, { rejected, cut, other }) => total + rejected + cut + other, 0)
  return {
    accepted: perSecond.reduce((total, { accepted }) => total + accepted, 0),
    failed: failed + notSent + unacknowledged,
  }
}

const WAYS = ['all', 'added', 'backends'] as const
type Way = (typeof WAYS)[number]

interface Result {
  case: string
  cpu: Record<Way, CpuPerRead>
  perSecond: Record<Side, number>
  p50Ms: Record<Side, number>
  p99Ms: Record<Side, number>
  failed: number
  /** The lowest one of all rounds. */
  standbyShare: number
  /** Median of all rounds, with standby reads. */
  positionsPer100Reads: number
}

interface CpuPerRead {
  /** CPU time of the primary per read, in µs: medians of all rounds. */
  micros: Record<Side, number>
  /** With standby reads divided by without: quartiles of the ratios of all rounds. */
  ratio: { low: number; median: number; high: number }
}

function summarize(samples: readonly Sample[]): Result[] {
  return CASES.filter(({ read }) => read !== undefined).map((one) => {
    const of = (side: Side) => samples.filter((sample) => sample.case === one.name && sample.side === side)
    const both = (value: (sample: Sample) => number): Record<Side, number> => ({
      without: median(of('without').map(value)),
      with: median(of('with').map(value)),
    })
    const cpuBy = (way: Way): CpuPerRead => {
      const micros = (sample: Sample) => microsPerRead(sample, way, samples)
      const withStandbys = of('with').map(micros)
      const ratios = of('without').map((sample, index) => (withStandbys[index] ?? 0) / micros(sample))
      const [low = 0, middle = 0, high = 0] = [0.25, 0.5, 0.75].map((share) => quantile(ratios, share))
      return { micros: both(micros), ratio: { low, median: middle, high } }
    }
    return {
      case: one.name,
      cpu: { all: cpuBy('all'), added: cpuBy('added'), backends: cpuBy('backends') },
      perSecond: both(({ reads }) => reads?.perSecond ?? 0),
      p50Ms: both(({ reads }) => reads?.p50Ms ?? 0),
      p99Ms: both(({ reads }) => reads?.p99Ms ?? 0),
      failed: [...of('without'), ...of('with')].reduce((total, sample) => total + failedIn(sample), 0),
      standbyShare: Math.min(...of('with').map(({ standbyShare }) => standbyShare)),
      positionsPer100Reads: median(
        of('with').map(({ positions, reads }) => (100 * positions) / Math.max(1, reads?.requests ?? 0)),
      ),
    }
  })
}

const failedIn = ({ reads, creates }: Sample) => (reads?.failed ?? 0) + (creates?.failed ?? 0)

function microsPerRead(sample: Sample, way: Way, samples: readonly Sample[]): number {
  const { reads, primaryCpuSeconds, backendCpuSeconds } = sample
  const cpuSeconds = {
    all: primaryCpuSeconds,
    added: primaryCpuSeconds - cpuWithoutReads(sample, 'primaryCpuSeconds', samples),
    backends: backendCpuSeconds - cpuWithoutReads(sample, 'backendCpuSeconds', samples),
  }[way]
  return (cpuSeconds * 1e6) / Math.max(1, reads?.requests ?? 0)
}

/** In the same round: of an idle primary, or of as many creates. */
function cpuWithoutReads(
  { creates, side, round }: Sample,
  measured: 'primaryCpuSeconds' | 'backendCpuSeconds',
  samples: readonly Sample[],
): number {
  const { name } = creates ? CREATES : IDLE
  const alone = samples.find((one) => one.case === name && one.side === side && one.round === round)
  const share = creates ? creates.accepted / Math.max(1, alone?.creates?.accepted ?? 0) : 1
  return (alone?.[measured] ?? 0) * share
}

function describe(results: readonly Result[]): string {
  const both = (values: Record<Side, number>, digits: number) =>
    SIDES.map((side) => values[side].toFixed(digits)).join(' / ')
  const cpu = results.flatMap((result) =>
    WAYS.map((way) => {
      const { micros, ratio } = result.cpu[way]
      const [low, middle, high] = [ratio.low, ratio.median, ratio.high].map((value) => value.toFixed(3))
      return [way === WAYS[0] ? result.case : '', way, both(micros, 1), `${middle} (${low} to ${high})`]
    }),
  )
  const latencies = results.map((result) => [
    result.case,
    both(result.perSecond, 0),
    both(result.p50Ms, 2),
    both(result.p99Ms, 2),
    `${(100 * result.standbyShare).toFixed(1)} %`,
    result.positionsPer100Reads.toFixed(1),
    String(result.failed),
  ])
  return `without / with DATABASE_READ_URL; ratios are with / without: median (quartiles) of ${rounds} rounds
${table([['case', 'CPU of the primary', 'µs per read', 'ratio'], ...cpu])}

${table([['case', 'reads per second', 'p50 ms', 'p99 ms', 'by standbys', 'positions per 100 reads', 'failed'], ...latencies])}`
}

await main()
