// Deliverers, services and PostgreSQL are killed while writers change pets. A healthy receiver, a slow one and one that
// fails and dies get every event at least once, in the order of each pet.
import { randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, expect, test } from 'vitest'
import { type ClusterOptions, embeddedBinaries, freePort, startCluster } from '../../src/data/demo/cluster.ts'
import { openTestClient } from '../support/client.ts'
import { checksumOf, openCountingReceiver } from '../support/counting-receiver.ts'
import { sql } from '../support/database.ts'
import { startEventLoad } from '../support/event-load.ts'
import { restartCluster } from '../support/restart-cluster.ts'
import { asDelivery, prepareDatabase } from '../support/roles.ts'
import { petstore, type Service, startService } from '../support/service.ts'
import { volume } from '../support/volume.ts'

const EVENTS = volume(1_500, 67_000)
const FAULTS = volume(4, 20)
const WRITERS = 4
/** These only end a test that hangs. */
const CAUGHT_UP_WITHIN_MS = volume(600_000, 1_800_000)
const TEST_TIMEOUT_MS = volume(1_200_000, 5_400_000)
const SCOPES = 'pets:read,pets:write,orders:read,orders:write,events:read,webhooks:read,webhooks:write'

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
const environment = { DATABASE_URL, LOG_LEVEL: 'silent', WEBHOOK_NETWORKS: '127.0.0.1' }
const deliveryEnvironment = {
  ...environment,
  DATABASE_URL: asDelivery(DATABASE_URL),
  WEBHOOK_RETRY_SECONDS: '1,1,1,2,2,5,5,5,5,5',
}
const startDelivery = () => startService(deliveryEnvironment, { args: ['deliver'] })

interface Event {
  position: string
  type: string
  entry?: object
  [field: string]: unknown
}

/** Webhooks leave out what is about people. */
function withoutPeople(entry: object | undefined): object | undefined {
  return entry && { ...entry, seller: undefined, actor: undefined, reason: undefined }
}

test(`every receiver gets every event in the order of each pet, with ${FAULTS} kills`, {
  timeout: TEST_TIMEOUT_MS,
}, async () => {
  const services = [await startService(environment), await startService(environment)]
  const deliverers = [await startDelivery(), await startDelivery()]
  const made = await petstore(['api-keys', 'create', '--name', 'load', '--scopes', SCOPES], environment)
  const apiKey = made.stdout.trim()
  const api = () => openTestClient({ origin: services[0]?.origin ?? '', apiKey })
  const receivers = {
    healthy: await openCountingReceiver({}),
    slow: await openCountingReceiver({ delayMs: 20 }),
    failing: await openCountingReceiver({ failureShare: 0.05 }),
  }
  const all = Object.values(receivers)
  afterAll(() => Promise.all(all.map((receiver) => receiver.close())))
  let start = ''
  for (const { url, setSecret } of all) {
    const { status, body, text } = await api().post('/webhooks', { url })
    expect(status, text).toBe(201)
    const { secret, position } = body as { secret: string; position: string }
    setSecret(secret)
    start = position
  }
  const newest = async () => {
    const [row] = await sql<{ head: string }>(
      DATABASE_URL,
      'select first_number + count - 1 as head from event_numbers order by first_number desc limit 1',
    )
    return Number(row?.head)
  }
  const startNumber = Number(start.split('-')[1])
  const load = startEventLoad({
    origin: (writer) => services[writer % 2]?.origin ?? '',
    apiKey,
    writers: WRITERS,
    lanes: 2,
  })

  async function replace(processes: Service[], index: number, open: () => Promise<Service>): Promise<void> {
    processes[index]?.kill('SIGKILL')
    await processes[index]?.ended
    processes[index] = await open()
  }
  const KILLS: Record<string, () => Promise<void>> = {
    'deliverer A': () => replace(deliverers, 0, startDelivery),
    PostgreSQL: async () => {
      process.kill(cluster.pid as number, 'SIGKILL')
      await sleep(200)
      cluster = await restartCluster(options)
    },
    'service A': () => replace(services, 0, () => startService(environment)),
    'deliverer B': () => replace(deliverers, 1, startDelivery),
    'service B': () => replace(services, 1, () => startService(environment)),
  }
  const startedAt = performance.now()
  const deaths: Promise<void>[] = []
  for (let fault = 0; fault < FAULTS; fault += 1) {
    const goal = startNumber + (EVENTS * (fault + 1)) / (FAULTS + 1)
    // Deliveries keep pace, so that each fault interrupts some of them.
    while ((await newest().catch(() => 0)) < goal) await sleep(50)
    if (fault === 0 || fault === Math.floor(FAULTS / 2)) deaths.push(receivers.failing.die(3_000))
    await Object.values(KILLS)[fault % 5]?.()
  }
  while ((await newest().catch(() => 0)) < startNumber + EVENTS) await sleep(50)
  await load.stop()
  await Promise.all(deaths)

  let head = await newest()
  const giveUpAt = Date.now() + CAUGHT_UP_WITHIN_MS
  while (all.some(({ accepted }) => accepted.size < head - startNumber) && Date.now() < giveUpAt) {
    await sleep(200)
    head = await newest()
  }
  const seconds = (performance.now() - startedAt) / 1_000

  const expected = new Map<number, number>()
  for (let after = start; expected.size < head - startNumber; ) {
    const events = (await api().get(`/events?limit=1000&after=${after}`)).body as Event[]
    if (events.length === 0) break
    for (const { type, position, petId, pet, changed, order, entry } of events) {
      // JSON.stringify leaves out the fields that an event does not have.
      expected.set(
        Number(position.split('-')[1]),
        checksumOf(type, { position, petId, pet, changed, order, entry: withoutPeople(entry) }),
      )
    }
    after = events.at(-1)?.position ?? after
  }
  console.table(
    Object.entries(receivers).map(([receiver, { counts, faults, accepted }]) => ({
      receiver,
      ...counts(),
      missing: [...expected.keys()].filter((number) => !accepted.has(number)).length,
      faults: faults.length,
    })),
  )
  const deliveries = all.reduce((sum, { counts }) => sum + counts().received, 0)
  console.table({
    events: expected.size,
    deliveries,
    'deliveries per second': Math.round(deliveries / seconds),
  })
  expect(expected.size).toBe(head - startNumber)
  for (const { accepted, faults } of all) {
    expect(faults.slice(0, 5)).toEqual([])
    const different = [...expected].filter(([number, checksum]) => accepted.get(number) !== checksum)
    expect(different.slice(0, 5)).toEqual([])
  }
  expect(load.unexpected).toEqual([])
  await Promise.all([...deliverers, ...services].map((running) => running.stop()))
})
