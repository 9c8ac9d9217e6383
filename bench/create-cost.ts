// `node bench/create-cost.ts`: measures the CPU time that each index, trigger and constraint of pets adds to a create.
// Each variant is a database of its own that lacks one part. All variants are measured in turn, in several rounds.
import { readFileSync, rmSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { Client } from 'pg'
import { embeddedBinaries, freePort, startCluster } from '../src/demo/cluster.ts'
import { print, say, table } from '../src/cli/terminal.ts'
import type { Statement } from '../src/db/database.ts'
import { migrate } from '../src/db/migrate.ts'
import { insertPets, type PetToInsert } from '../src/pets/queries.ts'
import { loadPets } from './pets.ts'
import { SETTINGS, withRoleSettings } from './setup.ts'
import { quantile } from './tools.ts'

const HELP = `node bench/create-cost.ts [options]

  --pets N            number of pets to load before the run (default 1000000)
  --batch N           number of pets in one statement (default 32, as with 64 connections)
  --rounds R          number of rounds; each one measures every variant (default 9)
  --variant NAME=SQL  also measure a database that this SQL has changed; can be repeated

Prints the CPU time of PostgreSQL per pet, and how much less it is than with the whole schema: median and quartiles.`

const { values: options } = parseArgs({
  options: {
    pets: { type: 'string', default: '1000000' },
    batch: { type: 'string', default: '32' },
    rounds: { type: 'string', default: '9' },
    variant: { type: 'string', multiple: true, default: [] },
    help: { type: 'boolean', default: false },
  },
})
const [pets, batch, rounds] = [Number(options.pets), Number(options.batch), Number(options.rounds)]
const BATCHES_PER_ROUND = 150

/** What each variant changes in the schema. */
const VARIANTS: Record<string, string> = {
  whole: '',
  'without pets_by_status': 'drop index pets_by_status',
  'without pets_by_category': 'drop index pets_by_category',
  'without pets_by_category_and_status': 'drop index pets_by_category_and_status',
  'without pets_by_name': 'drop index pets_by_name',
  'without pets_by_status_and_name': 'drop index pets_by_status_and_name',
  'without counts and events': 'drop trigger record_created on pets',
  'without check constraints':
    'alter table pets drop constraint pets_category_id_check, drop constraint pets_name_check',
  'without all of these': `drop index pets_by_status, pets_by_category, pets_by_category_and_status, pets_by_name,
      pets_by_status_and_name;
    drop trigger record_created on pets;
    alter table pets drop constraint pets_category_id_check, drop constraint pets_name_check`,
  ...Object.fromEntries(options.variant.map((text) => text.split(/=(.*)/s).slice(0, 2))),
}

interface Sample {
  cpuMicros: number
  millis: number
}

function randomPet(): PetToInsert {
  return {
    name: `Pet ${Math.floor(Math.random() * 1_000_000)}`,
    categoryId: BigInt(1 + Math.floor(Math.random() * 1000)),
    status: 'available',
    createdBy: 1n,
    requestId: crypto.randomUUID(),
  }
}

/** The statement that insertPets sends. */
async function insertStatement(): Promise<Statement> {
  let sent: Statement | undefined
  const capture = {
    write: async <Row>(statement: Statement): Promise<Row[]> => {
      sent = statement
      return []
    },
  }
  await insertPets(capture, Array.from({ length: batch }, randomPet))
  return sent as Statement
}

/** CPU time of a process in µs, from Linux. */
function cpuMicros(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1_000
}

async function measure(client: Client, pid: number): Promise<Sample> {
  const statements = []
  for (let count = 0; count < BATCHES_PER_ROUND; count += 1) statements.push(await insertStatement())
  const [cpuBefore, startedAt] = [cpuMicros(pid), performance.now()]
  for (const statement of statements) await client.query(statement)
  return {
    cpuMicros: (cpuMicros(pid) - cpuBefore) / (BATCHES_PER_ROUND * batch),
    millis: (performance.now() - startedAt) / BATCHES_PER_ROUND,
  }
}

async function main(): Promise<void> {
  const dataFolder = `/var/tmp/petstore-create-cost-${process.pid}`
  const cluster = await startCluster({
    binaries: embeddedBinaries(),
    dataFolder,
    port: await freePort(),
    settings: { ...SETTINGS, shared_buffers: '4GB', autovacuum: 'off' },
  })
  const clients: Client[] = []
  try {
    await migrate(cluster.url('postgres'))
    await loadPets(cluster.url('postgres'), pets)
    const targets: { name: string; client: Client; pid: number; samples: Sample[] }[] = []
    const admin = new Client(cluster.url('template1'))
    await admin.connect()
    clients.push(admin)
    for (const [index, [name, change]] of Object.entries(VARIANTS).entries()) {
      await admin.query(`create database variant${index} template postgres strategy file_copy`)
      const client = new Client(withRoleSettings(cluster.url(`variant${index}`)))
      await client.connect()
      clients.push(client)
      await client.query(`set statement_timeout = 0; ${change}`)
      const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
      targets.push({ name, client, pid: rows[0]?.pid ?? 0, samples: [] })
    }
    for (let round = 0; round <= rounds; round += 1) {
      say(round === 0 ? 'warm-up' : `round ${round} of ${rounds}`)
      for (const { client, pid, samples } of round % 2 === 0 ? targets : targets.toReversed()) {
        const sample = await measure(client, pid)
        if (round > 0) samples.push(sample)
      }
    }
    print(describe(targets))
  } finally {
    for (const client of clients) await client.end()
    await cluster.stop()
    rmSync(dataFolder, { recursive: true, force: true })
  }
}

function describe(targets: { name: string; samples: Sample[] }[]): string {
  const whole = targets[0]?.samples ?? []
  const rows = targets.map(({ name, samples }) => {
    const cpu = samples.map((sample) => sample.cpuMicros)
    const less = samples.map((sample, round) => (whole[round] as Sample).cpuMicros - sample.cpuMicros)
    return [
      name,
      quantile(cpu, 0.5).toFixed(1),
      ...[0.5, 0.25, 0.75].map((share) => quantile(less, share).toFixed(1)),
      quantile(
        samples.map(({ millis }) => millis),
        0.5,
      ).toFixed(2),
    ]
  })
  return table([['variant', 'CPU µs per pet', 'less than whole', 'low', 'high', 'ms per batch'], ...rows])
}

if (options.help) print(HELP)
else await main()
