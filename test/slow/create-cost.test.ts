// What the inventory counts, the event feed and the indexes on names cost a create: compares the whole schema with one that has
// none of them.
import { randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import { afterAll, expect, test } from 'vitest'
import { embeddedBinaries, freePort, startCluster } from '../../src/data/demo/cluster.ts'
import { sql } from '../support/database.ts'
import { runClients, retryWhileBusy } from '../support/load.ts'
import { prepareDatabase } from '../support/roles.ts'
import { petstore, startService } from '../support/service.ts'
import { volume } from '../support/volume.ts'

// Many short rounds, so that other load on the host affects both schemas alike.
const ROUNDS = 15
const ROUND_MS = volume(500, 1_000)
const CLIENTS = 32

const dataFolder = `/var/tmp/petstore-test-${randomUUID()}`
const cluster = await startCluster({
  binaries: process.env['TEST_POSTGRES'] ?? embeddedBinaries(),
  dataFolder,
  port: await freePort(),
  settings: { shared_buffers: '512MB', max_wal_size: '4GB' },
})
afterAll(async () => {
  await cluster.stop()
  rmSync(dataFolder, { recursive: true, force: true })
})

async function open(name: string, prepare: string) {
  await sql(cluster.url('postgres'), `create database ${name}`)
  const DATABASE_URL = await prepareDatabase(cluster.url(name))
  await sql(
    DATABASE_URL,
    `${prepare}; insert into pets (name, category_id) select md5(n::text), n % 100 + 1 from generate_series(1, 200000) n`,
  )
  const { stdout } = await petstore(['api-keys', 'create', '--name', 'load'], { DATABASE_URL })
  const service = await startService({ DATABASE_URL, LOG_LEVEL: 'error' })
  return { origin: service.origin, apiKey: stdout.trim(), stop: service.stop }
}

test('the inventory counts, the event feed and the indexes on names reduce the throughput of creates by less than a third', async () => {
  const whole = await open('whole', 'select 1')
  const bare = await open(
    'bare',
    `drop trigger record_created on pets; drop trigger count_updated on pets; drop trigger count_deleted on pets;
      drop trigger count_numbered on event_numbers; drop index pets_by_status_and_name, pets_by_word`,
  )
  async function measure(target: typeof whole): Promise<number> {
    let created = 0
    await runClients(target, CLIENTS, AbortSignal.timeout(ROUND_MS), async ({ send }) => {
      const pet = { name: randomUUID(), categoryId: 1 + (created % 100) }
      const { status } = await retryWhileBusy(() => send('POST', '/v1/pets', pet))
      expect(status).toBe(201)
      created += 1
    })
    return (created / ROUND_MS) * 1000
  }
  await measure(whole)
  await measure(bare)
  const rounds: { whole: number; bare: number; ratio: number }[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    const [first, second] = round % 2 === 0 ? [whole, bare] : [bare, whole]
    const [a, b] = [await measure(first), await measure(second)]
    const [ofWhole, ofBare] = first === whole ? [a, b] : [b, a]
    rounds.push({ whole: ofWhole, bare: ofBare, ratio: ofWhole / ofBare })
  }
  const ratios = rounds.map(({ ratio }) => ratio).sort((a, b) => a - b)
  console.table(rounds)
  console.log(`median ratio ${ratios[Math.floor(ROUNDS / 2)]?.toFixed(3)}`)
  // Measured without the index on words: 0.84. The limit is lower, because rounds on a shared machine vary by a fifth.
  expect(ratios[Math.floor(ROUNDS / 2)]).toBeGreaterThan(0.66)
  await Promise.all([whole.stop(), bare.stop()])
})
