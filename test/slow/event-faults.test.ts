// Services, the sequencer and PostgreSQL are killed while writers and an import change pets and two readers follow the
// event feed. After each fault, the mirror of a reader equals the database.
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import { afterAll, expect, test } from 'vitest'
import { openGate } from '../../lab/parts/gate.ts'
import { Mirror } from '../../lab/parts/mirror.ts'
import { type ClusterOptions, embeddedBinaries, freePort, startCluster } from '../../src/data/demo/cluster.ts'
import { sql } from '../support/database.ts'
import { type EventLoad, startEventLoad } from '../support/event-load.ts'
import { auditFeed, comparePetsIn } from '../support/feed-audit.ts'
import { type FeedEvent, startFeedReader } from '../support/feed-reader.ts'
import { restartCluster } from '../support/restart-cluster.ts'
import { asSuperuser, prepareDatabase } from '../support/roles.ts'
import { petstore, type Service, startService } from '../support/service.ts'
import { auditStore } from '../support/store-audit.ts'
import { volume } from '../support/volume.ts'

const FAULTS = volume(4, 40)
const EVENTS = volume(2_000, 500_000)
const WRITERS = 8
const LANES = volume(2, 8)
const IMPORT_ROWS = volume(500, 2_000)
const IMPORT_PAUSE_MS = 500
const PAGE_SIZES = [1_000, 137] as const
const CAUGHT_UP_WITHIN_MS = 600_000
/** Only ends a test that hangs. */
const TEST_TIMEOUT_MS = volume(1_800_000, 5_400_000)
const SEQUENCING_WITHIN_MS = 60_000
/** How long to wait for an import, so that the fault interrupts it. */
const IMPORTING_WITHIN_MS = 5_000
const SCOPES = 'pets:read,pets:write,orders:read,orders:write,events:read'

// PostgreSQL's default durability: acknowledged changes and their events must survive SIGKILL.
const options: ClusterOptions = {
  binaries: process.env['TEST_POSTGRES'] ?? embeddedBinaries(),
  dataFolder: `/var/tmp/petstore-test-${randomUUID()}`,
  port: await freePort(),
}
let cluster = await startCluster(options)
const folder = mkdtempSync(join(tmpdir(), 'petstore-events-'))
afterAll(async () => {
  await cluster.stop()
  for (const path of [options.dataFolder, folder]) rmSync(path, { recursive: true, force: true })
})

const DATABASE_URL = await prepareDatabase(cluster.url('postgres'))
const environment = { DATABASE_URL, LOG_LEVEL: 'silent' }
const query = <Row>(text: string) => sql<Row>(DATABASE_URL, text)

/** Kills what the fault names, and starts it again. */
const KILLS: Record<string, (services: Service[]) => Promise<void>> = {
  'service A': (services) => replaceService(services, 0),
  PostgreSQL: async () => {
    await untilImporting()
    process.kill(cluster.pid as number, 'SIGKILL')
    await sleep(200)
    cluster = await restartCluster(options)
  },
  sequencer: killSequencer,
  'service B': (services) => replaceService(services, 1),
}

async function replaceService(services: Service[], index: number): Promise<void> {
  services[index]?.kill('SIGKILL')
  await services[index]?.ended
  services[index] = await startService(environment)
}

async function untilImporting(): Promise<void> {
  const giveUpAt = Date.now() + IMPORTING_WITHIN_MS
  while (Date.now() < giveUpAt) {
    const found = await query(`select from pg_stat_activity where application_name = 'petstore-import'`)
    if (found.length > 0) return
  }
}

/** Ends the connection that is numbering events, in the middle of its transaction. */
async function killSequencer(): Promise<void> {
  const client = new Client(asSuperuser(DATABASE_URL))
  await client.connect()
  const giveUpAt = Date.now() + SEQUENCING_WITHIN_MS
  for (let killed = 0; killed === 0; ) {
    if (Date.now() > giveUpAt) throw new Error('no process numbers events')
    const { rows } = await client.query(
      `select pg_terminate_backend(pid) from pg_locks
        where locktype = 'advisory' and granted
          and objid = (hashtext('petstore sequence events')::bigint & 4294967295)::oid`,
    )
    killed = rows.length
  }
  await client.end()
}

/** Imports one file after another. Runs a command that a fault has interrupted again. */
function startImports() {
  const stopping = new AbortController()
  let files = 0
  let interrupted = 0
  const gate = openGate()

  async function importFile(): Promise<void> {
    files += 1
    const path = join(folder, `pets-${files}.csv`)
    const rows = Array.from({ length: IMPORT_ROWS }, (_, row) => `Imported ${files} ${row},${1 + (row % 9)}`)
    writeFileSync(path, ['name,categoryId', ...rows, ''].join('\n'))
    for (;;) {
      const { code, stderr } = await petstore(['import', path], { DATABASE_URL })
      if (code === 0 || stderr.includes('was already imported')) return
      interrupted += 1
      await sleep(200)
    }
  }

  const working = (async () => {
    while (!stopping.signal.aborted) {
      await gate.pass(importFile)
      await sleep(IMPORT_PAUSE_MS)
    }
  })()
  return {
    counts: () => ({ files, interrupted }),
    pause: async () => expect(await gate.pause(CAUGHT_UP_WITHIN_MS)).toBe(true),
    resume: gate.resume,
    stop: async () => {
      stopping.abort()
      gate.resume()
      await working
    },
  }
}

/** Changes that were acknowledged without their events, and events of requests that were rejected. */
function compareRequests(
  { requests }: EventLoad,
  typesOf: ReadonlyMap<string, string>,
): { missing: string[]; extra: string[] } {
  const missing: string[] = []
  const extra: string[] = []
  for (const [requestId, { outcome, events }] of requests) {
    const seen = typesOf.get(requestId) ?? ''
    const fault = `${requestId}, ${outcome}: ${seen} instead of ${events}`
    if (outcome === 'done' && seen.length < events.length) missing.push(fault)
    if (seen !== '' && (seen !== events || outcome === 'rejected')) extra.push(fault)
  }
  return { missing, extra }
}

test(`readers of the feed miss, repeat and reorder nothing, with ${FAULTS} kills under load`, {
  timeout: TEST_TIMEOUT_MS,
}, async () => {
  const services = [await startService(environment), await startService(environment)]
  const made = await petstore(['api-keys', 'create', '--name', 'load', '--scopes', SCOPES], environment)
  const apiKey = made.stdout.trim()
  const mirror = new Mirror()
  const misfits: string[] = []
  const typesOf = new Map<string, string>()
  const onEvent = (event: FeedEvent): void => {
    const fault = mirror.apply(event)
    if (fault !== undefined) misfits.push(fault)
    const { type, requestId } = event
    if (requestId === undefined) return
    const before = typesOf.get(requestId)
    typesOf.set(requestId, before === undefined ? type : `${before}, ${type}`)
  }
  const originOf = (index: number) => () => services[index % 2]?.origin ?? ''
  const readers = [
    startFeedReader({ origin: originOf(0), apiKey, pageSize: PAGE_SIZES[0], onEvent }),
    startFeedReader({ origin: originOf(1), apiKey, pageSize: PAGE_SIZES[1] }),
  ] as const
  const load = startEventLoad({
    origin: (writer) => originOf(writer)(),
    apiKey,
    writers: WRITERS,
    lanes: LANES,
  })
  const imports = startImports()

  /** Waits until both readers have read every event of the quiet store. */
  async function catchUp(): Promise<void> {
    const giveUpAt = Date.now() + CAUGHT_UP_WITHIN_MS
    for (;;) {
      const [state] = await query<{ head: string; unnumbered: string }>(
        `select (select max(first_number + count) - 1 from event_numbers) as head,
          (select count(*) from outbox where not exists (
            select from event_numbers where outbox_id = outbox.id)) as unnumbered`,
      )
      const isDone = readers.every((reader) => reader.number() === Number(state?.head))
      if (isDone && state?.unnumbered === '0') return
      if (Date.now() > giveUpAt) throw new Error(`not caught up: ${JSON.stringify(state)}`)
      await sleep(50)
    }
  }

  const kills: string[] = []
  let identical = 0
  const startedAt = performance.now()
  for (const [fault, kill] of Array.from({ length: FAULTS }, (_, n) => Object.entries(KILLS)[n % 4] ?? [])) {
    while (readers[0].number() < (EVENTS * (kills.length + 1)) / FAULTS) await sleep(50)
    await kill?.(services)
    kills.push(fault)
    await Promise.all([load.pause(), imports.pause()])
    await catchUp()
    const differences = await comparePetsIn(query, mirror)
    expect(differences.slice(0, 5), `after killing ${fault}, the ${kills.length}th fault`).toEqual([])
    identical += 1
    load.resume()
    imports.resume()
  }
  await Promise.all([load.stop(), imports.stop()])
  await catchUp()
  const seconds = (performance.now() - startedAt) / 1_000
  await Promise.all(readers.map((reader) => reader.stop()))
  await Promise.all(services.map((service) => service.stop()))

  const { missing, extra } = compareRequests(load, typesOf)
  const [one, other] = readers.map(({ seen }) => seen) as [readonly number[], readonly number[]]
  const differing = one.filter((checksum, number) => other[number] !== checksum)
  const gaps = readers.flatMap(({ faults }) => faults)
  console.table({
    'events read': mirror.pets.size === 0 ? 0 : Object.keys(one).length,
    'events per second': Math.round(Object.keys(one).length / seconds),
    requests: load.requests.size,
    'requests with an unknown outcome': [...load.requests.values()].filter(
      ({ outcome }) => outcome === 'unknown',
    ).length,
    'files imported': imports.counts().files,
    'imports interrupted': imports.counts().interrupted,
    faults: kills.length,
    'missing events': missing.length + gaps.length,
    'extra events': extra.length,
    'events out of order per pet': misfits.length,
    'positions that two readers saw differently': differing.length + Math.abs(one.length - other.length),
    'comparisons of the mirror with the database': identical,
  })
  expect(missing).toEqual([])
  expect(gaps).toEqual([])
  expect(extra).toEqual([])
  expect(misfits).toEqual([])
  expect(differing).toEqual([])
  expect(one.length).toBe(other.length)
  expect(load.unexpected).toEqual([])
  expect(await comparePetsIn(query, mirror)).toEqual([])
  expect(await auditStore(DATABASE_URL)).toEqual([])
  expect(await auditFeed(DATABASE_URL)).toEqual([])
})
