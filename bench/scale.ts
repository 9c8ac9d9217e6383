// `node bench/scale.ts --data FOLDER`: the service at 1, 10 and 100 million animals, side by side, in one run.
// Loading 100 million takes a quarter of an hour and 35 GB the first time; the folder keeps them. With --warm, what
// a workload reads is brought into memory before it is measured, as far as it fits.
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { Client } from 'pg'
import { print, say, table } from '../src/cli/terminal.ts'
import { buildStage, type Stage } from './stage.ts'
import { median, runWrk } from './tools.ts'
import { WORKLOADS, type Workload, wrkScript } from './workloads.ts'

const { values: options } = parseArgs({
  options: {
    data: { type: 'string' },
    animals: { type: 'string', default: '1000000,10000000,100000000' },
    seconds: { type: 'string', default: '3' },
    rounds: { type: 'string', default: '5' },
    warm: { type: 'boolean', default: false },
  },
})

const sizes = options.animals.split(',').map(Number)
const [seconds, rounds] = [Number(options.seconds), Number(options.rounds)]

async function measure(stage: Stage, workload: Workload, animals: number, length: number): Promise<number> {
  const script = wrkScript(workload, animals, stage.apiKey, stage.folder)
  return (await runWrk(script, stage.on.origin, 64, length, stage.folder)).perSecond
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
  const rates = new Map<string, number[]>()
  for (const workload of WORKLOADS) {
    if (options.warm) for (const stage of stages.values()) await warm(stage, workload)
    for (let round = 0; round <= rounds; round += 1) {
      say(`${workload}: ${round === 0 ? 'warm up' : `round ${round} of ${rounds}`}`)
      for (const [animals, stage] of stages) {
        const rate = await measure(stage, workload, animals, seconds)
        if (round > 0)
          rates.set(`${workload} ${animals}`, [...(rates.get(`${workload} ${animals}`) ?? []), rate])
      }
    }
  }
  const rateOf = (workload: Workload, animals: number) => median(rates.get(`${workload} ${animals}`) ?? [])
  const smallest = sizes[0] as number
  const rows = WORKLOADS.map((workload) => [
    workload,
    ...sizes.map((animals) => {
      const ratio = rateOf(workload, animals) / rateOf(workload, smallest)
      return `${rateOf(workload, animals).toFixed(0)}/s (${ratio.toFixed(2)})`
    }),
  ])
  print(table([['workload', ...sizes.map((animals) => `${animals.toLocaleString('en')} animals`)], ...rows]))
} finally {
  for (const stage of stages.values()) await stage.close()
}
