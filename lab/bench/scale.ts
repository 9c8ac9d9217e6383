// `node lab/bench/scale.ts --data FOLDER`: compares the service at 1, 10 and 100 million pets in one run. pgbench runs the
// same statements, which separates the cost of PostgreSQL from that of the service. Also measures reads from disk.
//
// Loading 100 million pets takes 15 minutes and 35 GB. FOLDER keeps the pets for the next run. With --warm, the data
// that a workload reads is loaded into memory before the measurement, as far as it fits.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { Client } from 'pg'
import { print, say, table } from '../../src/cli/terminal/terminal.ts'
import { median } from '../parts/quantile.ts'
import { buildSetup, type Setup, withRoleSettings } from './setup.ts'
import { runPgbench, runWrk } from './tools.ts'
import { pgbenchScript, WORKLOADS, type Workload, wrkScript } from './workloads.ts'

const { values: options } = parseArgs({
  options: {
    data: { type: 'string' },
    pets: { type: 'string', default: '1000000,10000000,100000000' },
    seconds: { type: 'string', default: '3' },
    rounds: { type: 'string', default: '5' },
    workloads: { type: 'string', default: WORKLOADS.join(',') },
    warm: { type: 'boolean', default: false },
  },
})

const sizes = options.pets.split(',').map(Number)
const workloads = WORKLOADS.filter((workload) => options.workloads.split(',').includes(workload))
const [seconds, rounds] = [Number(options.seconds), Number(options.rounds)]

const CONNECTIONS = 64
const PGBENCH_CLIENTS = 16

interface Round {
  service: number
  pgbench: number
  /** Kilobytes read from disk per request to the service. */
  read: number
}

async function measure(setup: Setup, workload: Workload, pets: number): Promise<Round> {
  const request = wrkScript(workload, pets, setup.apiKey, setup.folder)
  const before = kilobytesRead()
  const service = await runWrk(request, setup.on.origin, CONNECTIONS, seconds, setup.folder)
  const read = (kilobytesRead() - before) / (service.perSecond * seconds)
  const statement = pgbenchScript(workload, pets)
  const pgbench = await runPgbench(
    statement,
    withRoleSettings(setup.databaseUrl),
    PGBENCH_CLIENTS,
    seconds,
    setup.folder,
  )
  return { service: service.perSecond, pgbench: pgbench.perSecond, read }
}

function kilobytesRead(): number {
  return Number(/^pgpgin (\d+)/m.exec(readFileSync('/proc/vmstat', 'utf8'))?.[1])
}

/** Tables and indexes that --warm loads for each workload, as a condition on pg_class. */
const READ_BY: Record<Workload, string> = {
  'list hot': `relname = 'pets_by_status'`,
  'list random': `relname in ('pets_by_status', 'pets')`,
  get: `relname in ('pets_pkey', 'pets')`,
  create: `relname like 'pets_%' and relkind = 'i'`,
}

async function warm(setup: Setup, workload: Workload): Promise<void> {
  const client = new Client(setup.databaseUrl)
  await client.connect()
  await client.query('create extension if not exists pg_prewarm')
  await client.query(`select pg_prewarm(oid::regclass, 'read') from pg_class where ${READ_BY[workload]}`)
  await client.end()
}

const setups = new Map<number, Setup>()
try {
  for (const pets of sizes) {
    setups.set(pets, await buildSetup(pets, options.data && join(options.data, String(pets))))
  }
  const measured = new Map<string, Round[]>()
  for (const workload of workloads) {
    if (options.warm) for (const setup of setups.values()) await warm(setup, workload)
    for (let round = 0; round <= rounds; round += 1) {
      say(`${workload}: ${round === 0 ? 'warm-up' : `round ${round} of ${rounds}`}`)
      for (const [pets, setup] of setups) {
        const one = await measure(setup, workload, pets)
        const name = `${workload} ${pets}`
        if (round > 0) measured.set(name, [...(measured.get(name) ?? []), one])
      }
    }
  }
  const of = (workload: Workload, pets: number, what: keyof Round) =>
    median((measured.get(`${workload} ${pets}`) ?? []).map((round) => round[what]))
  const smallest = sizes[0] as number
  const rows = workloads.flatMap((workload) => {
    const cells = (what: 'service' | 'pgbench') =>
      sizes.map((pets) => {
        const ratio = of(workload, pets, what) / of(workload, smallest, what)
        return `${of(workload, pets, what).toFixed(0)}/s (${ratio.toFixed(2)})`
      })
    return [
      [workload, ...cells('service')],
      ['  pgbench', ...cells('pgbench')],
      ['  from disk', ...sizes.map((pets) => `${of(workload, pets, 'read').toFixed(1)} kB/request`)],
    ]
  })
  print(table([['workload', ...sizes.map((pets) => `${pets.toLocaleString('en')} pets`)], ...rows]))
} finally {
  for (const setup of setups.values()) await setup.close()
}
