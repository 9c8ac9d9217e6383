// Services and PostgreSQL are killed while ten sellers sell, correct, refund and void: the ledger has exactly the money that they
// were told, for each order and in the drawer.
import { randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, expect, test } from 'vitest'
import { SCOPES } from '../../src/contract/scopes.ts'
import { type ClusterOptions, embeddedBinaries, freePort, startCluster } from '../../src/data/demo/cluster.ts'
import { sql } from '../support/database.ts'
import { restartCluster } from '../support/restart-cluster.ts'
import { prepareDatabase } from '../support/roles.ts'
import { openSellers, type Sums } from '../support/sellers.ts'
import { petstore, startService } from '../support/service.ts'
import { auditStore } from '../support/store-audit.ts'
import { volume } from '../support/volume.ts'

const SELLERS = 10
const ENTRIES = volume(600, 100_000)
const KILLS = volume(4, 60)
const TEST_TIMEOUT_MS = volume(1_200_000, 7_200_000)

const options: ClusterOptions = {
  binaries: process.env['TEST_POSTGRES'] ?? embeddedBinaries(),
  dataFolder: `/var/tmp/petstore-test-${randomUUID()}`,
  port: await freePort(),
}
let cluster = await startCluster(options)
afterAll(async () => {
  await cluster.stop()
  rmSync(options.dataFolder, { recursive: true, force: true })
})
const DATABASE_URL = await prepareDatabase(cluster.url('postgres'))
const environment = { DATABASE_URL, LOG_LEVEL: 'silent' }

test(`the ledger has the money that ${SELLERS} sellers were told, with ${KILLS} kills`, {
  timeout: TEST_TIMEOUT_MS,
}, async () => {
  const made = await petstore(
    ['api-keys', 'create', '--name', 'till', '--scopes', SCOPES.join(',')],
    environment,
  )
  const services = [await startService(environment), await startService(environment)]
  const sellers = openSellers((seller) => services[seller % 2]?.origin ?? '', made.stdout.trim())
  const { told, byOrder, counts } = sellers
  const stopping = new AbortController()
  const { signal } = stopping
  async function runSeller(seller: number): Promise<void> {
    for (let turn = seller; !signal.aborted; turn += 1) await sellers.sellOne(seller, turn)
  }
  const selling = Promise.all(Array.from({ length: SELLERS }, (_, seller) => runSeller(seller))).finally(
    () => {
      // A seller that fails ends the test at once.
      stopping.abort()
    },
  )

  async function replaceService(side: number): Promise<void> {
    services[side]?.kill('SIGKILL')
    await services[side]?.ended
    services[side] = await startService(environment)
  }
  async function replaceCluster(): Promise<void> {
    process.kill(cluster.pid as number, 'SIGKILL')
    await sleep(200)
    cluster = await restartCluster(options)
  }
  async function causeFaults(): Promise<void> {
    for (let kill = 0; kill < KILLS && !signal.aborted; kill += 1) {
      while (!signal.aborted && counts.entries < (ENTRIES * (kill + 1)) / (KILLS + 1)) await sleep(20)
      await (kill % 2 === 0 ? replaceCluster() : replaceService((kill >> 1) % 2))
    }
    while (!signal.aborted && counts.entries < ENTRIES) await sleep(20)
    stopping.abort()
  }
  await Promise.all([causeFaults(), selling])
  await Promise.all(services.map((service) => service.stop()))
  sellers.close()
  console.log({ ...told, ...counts, orders: byOrder.size })
  expect(counts.retries).toBeGreaterThan(0)

  const sums = 'sum(paid) * 100 as paid, sum(sales) * 100 as sales, sum(pets) as pets'
  const [all] = await sql<Sums>(DATABASE_URL, `select count(*) as entries, ${sums} from entries`)
  expect(numbersOf(all)).toEqual({ ...told, entries: counts.entries })
  const rows = await sql<Sums & { id: string }>(
    DATABASE_URL,
    `select order_id as id, ${sums} from entries group by order_id order by order_id`,
  )
  const different = rows.filter(({ id, ...row }) => {
    const { paid, sales, pets } = byOrder.get(Number(id)) ?? {}
    const found = numbersOf(row)
    return found['paid'] !== paid || found['sales'] !== sales || found['pets'] !== pets
  })
  expect(different.slice(0, 5)).toEqual([])
  expect(rows.length).toBe(byOrder.size)
  expect(await auditStore(DATABASE_URL)).toEqual([])
})

function numbersOf(row: object | undefined): Record<string, number> {
  return Object.fromEntries(Object.entries(row ?? {}).map(([name, value]) => [name, Number(value)]))
}
