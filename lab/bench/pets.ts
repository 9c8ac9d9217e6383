// Loads the benchmark's pets with COPY. Builds the indexes afterwards, which reduces the time to a third.
import { pipeline } from 'node:stream/promises'
import { Client } from 'pg'
import { from as copyFrom, to as copyTo } from 'pg-copy-streams'
import { say } from '../../src/cli/terminal/terminal.ts'

const STEP = 5_000_000
const LOADED = 'the benchmark pets are loaded'

/** Loads the pets, unless an earlier run has loaded them. */
export async function loadPets(databaseUrl: string, pets: number): Promise<void> {
  const client = new Client(databaseUrl)
  await client.connect()
  const { rows } = await client.query<{ comment: string | null }>(
    `select obj_description('pets'::regclass) as comment`,
  )
  if (rows[0]?.comment === LOADED) {
    say('Using the pets that an earlier run loaded.')
  } else {
    say(`Adding ${pets.toLocaleString('en')} pets …`)
    await load(client, databaseUrl, pets)
    await client.query(`comment on table pets is '${LOADED}'`)
  }
  await client.query('checkpoint')
  await client.end()
}

async function load(client: Client, databaseUrl: string, pets: number): Promise<void> {
  const { rows: indexes } = await client.query<{ indexname: string; indexdef: string }>(
    `select indexname, indexdef from pg_indexes where tablename = 'pets' and indexname <> 'pets_pkey'`,
  )
  for (const { indexname } of indexes) await client.query(`drop index ${indexname}`)
  await client.query('alter table entries disable trigger entries_are_final')
  await client.query('truncate pets cascade')
  await client.query('alter table entries enable trigger entries_are_final')
  await client.query('alter table pets disable trigger user')
  const source = new Client(databaseUrl)
  await source.connect()
  for (let first = 1; first <= pets; first += STEP) {
    const last = Math.min(first + STEP - 1, pets)
    await copyPets(source, client, first, last)
    if (pets > STEP) say(`  ${last.toLocaleString('en')}`)
  }
  await source.end()
  await client.query(`select setval('pets_id_seq', ${pets})`)
  await client.query('alter table pets enable trigger user')
  await client.query(
    `insert into pet_count_deltas (category_id, status, delta)
      select category_id, status, count(*) from pets group by category_id, status`,
  )
  await client.query(`set maintenance_work_mem = '1GB'`)
  for (const { indexname, indexdef } of indexes) {
    if (pets > STEP) say(`  ${indexname}`)
    await client.query(indexdef)
  }
  await client.query('vacuum (freeze, analyze)')
}

/** `source` generates the rows and `target` stores them. */
async function copyPets(source: Client, target: Client, first: number, last: number): Promise<void> {
  const made = source.query(
    copyTo(`copy (
      select n, 1 + n % 1000, 1, (array['available', 'available', 'pending', 'sold'])[1 + n % 4],
        'Pet ' || n, gen_random_uuid()
      from generate_series(${first}, ${last}) as n
    ) to stdout`),
  )
  const taken = target.query(
    copyFrom('copy pets (id, category_id, created_by, status, name, request_id) from stdin'),
  )
  await pipeline(made, taken)
}
