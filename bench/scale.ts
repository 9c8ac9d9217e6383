// `node bench/scale.ts --data FOLDER`: the service at 1, 10 and 100 million animals, side by side, in one run.
// Beside it pgbench with the same statements, which tells what the engine itself loses, and what was read from the disk.
// Loading 100 million takes a quarter of an hour and 35 GB the first time; the folder keeps them. With --warm, what
// a workload reads is brought into memory before it is measured, as far as it fits.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { Client } from 'pg'
import { print, say, table } from '../src/cli/terminal.ts'
import { buildStage, type Stage } from './stage.ts'
import { median, runPgbench, runWrk } from './tools.ts'
import { pgbenchScript, WORKLOADS, type Workload, wrkScript } from './workloads.ts'

const { values: options } = parseArgs({
  options: {
    data: { type: 'string' },
    animals: { type: 'string', default: '1000000,10000000,100000000' },
    seconds: { type: 'string', default: '3' },
    rounds: { type: 'string', default: '5' },
    workloads: { type: 'string', default: WORKLOADS.join(',') },
    warm: { type: 'boolean', default: false },
  },
})

const sizes = options.animals.split(',').map(Number)
const workloads = WORKLOADS.filter((workload) => options.workloads.split(',').includes(workload))
const [seconds, rounds] = [Number(options.seconds), Number(options.rounds)]

const CONNECTIONS = 64
const PGBENCH_CLIENTS = 16

interface Round {
  service: number
  pgbench: number
  /** Kilobytes from the disk for each request of the service. */
  read: number
}

async function measure(stage: Stage, workload: Workload, animals: number): Promise<Round> {
  const request = wrkScript(workload, animals, stage.apiKey, stage.folder)
  const before = kilobytesRead()
  const service = await runWrk(request, stage.on.origin, CONNECTIONS, seconds, stage.folder)
  const read = (kilobytesRead() - before) / (service.perSecond * seconds)
  const statement = pgbenchScript(workload, animals)
  const pgbench = await runPgbench(statement, stage.databaseUrl, PGBENCH_CLIENTS, seconds, stage.folder)
  return { service: service.perSecond, pgbench: pgbench.perSecond, read }
}

function kilobytesRead(): number {
  return Number(/^pgpgin (\d+)/m.exec(readFileSync('/proc/vmstat', 'utf8'))?.[1])
}

/** Reads by id need the table; creates need the end of each index, and any part of the one by name. */
const READ_BY: Record<Workload, string> = {
  'list hot': `relname = 'pets_by_status'`,
  'list random': `relname in ('pets_by_status', 'pets')`,
  get: `relname in ('pets_pkey', 'pets')`,
  create: `relname like 'pets_%' and relkind = 'i'`,
}

async function warm(stage: Stage, workload: Workload): Promise<void> {
  const client = new Client(stage.databaseUrl)
  await client.connect()
  await client.query('create extension if not exists pg_prewarm')
  await client.query(`select pg_prewarm(oid::regclass, 'read') from pg_class where ${READ_BY[workload]}`)
  await client.end()
}

const stages = new Map<number, Stage>()
try {
  for (const animals of sizes) {
    stages.set(animals, await buildStage(animals, options.data && join(options.data, String(animals))))
  }
  const measured = new Map<string, Round[]>()
  for (const workload of workloads) {
    if (options.warm) for (const stage of stages.values()) await warm(stage, workload)
    for (let round = 0; round <= rounds; round += 1) {
      say(`${workload}: ${round === 0 ? 'warm up' : `round ${round} of ${rounds}`}`)
      for (const [animals, stage] of stages) {
        const one = await measure(stage, workload, animals)
        const name = `${workload} ${animals}`
        if (round > 0) measured.set(name, [...(measured.get(name) ?? []), one])
      }
    }
  }
  const of = (workload: Workload, animals: number, what: keyof Round) =>
    median((measured.get(`${workload} ${animals}`) ?? []).map((round) => round[what]))
  const smallest = sizes[0] as number
  const rows = workloads.flatMap((workload) => {
    const cells = (what: 'service' | 'pgbench') =>
      sizes.map((animals) => {
        const ratio = of(workload, animals, what) / of(workload, smallest, what)
        return `${of(workload, animals, what).toFixed(0)}/s (${ratio.toFixed(2)})`
      })
    return [
      [workload, ...cells('service')],
      ['  pgbench', ...cells('pgbench')],
      ['  from disk', ...sizes.map((animals) => `${of(workload, animals, 'read').toFixed(1)} kB each`)],
    ]
  })
  print(table([['workload', ...sizes.map((animals) => `${animals.toLocaleString('en')} animals`)], ...rows]))
} finally {
  for (const stage of stages.values()) await stage.close()
}
